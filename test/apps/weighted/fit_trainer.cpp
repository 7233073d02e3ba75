// A task that learns three kinds of iris by fit(), with weights of classes and a layer that is frozen.
// TF_CONFIG says which task it is; without it the program trains alone. The chief prints a hash of the
// weights.
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "actors/actorflow.h"
#include "apps/cli/data_folder.h"
#include "test/apps/support/flags_program.h"

namespace actorflow {
namespace {

struct Flags {
  std::map<std::int64_t, double> class_weight;
  std::string freeze, checkpoint_folder, weights_folder;
  int epochs = 60;
  bool average = false;
  bool insecure = false;
  std::int64_t heartbeat_timeout_ms = ServerOptions{}.heartbeat_timeout_ms;
  std::int64_t connect_timeout_ms = ReplicaOptions{}.connect_timeout_ms;

  void add_to(Command& command) {
    command.option("--class_weight", class_weight, "A class and its weight, for each class");
    command.option("--freeze", freeze, "The name of a layer that does not learn");
    command.option("--epochs", epochs, "Passes over the data");
    command.option("--checkpoint_dir", checkpoint_folder, "From which training goes on after a loss");
    command.option("--weights_dir", weights_folder, "For the weights after each epoch");
    command.flag("--average", average,
                 "Lower the rate on a plateau, and take the mean of the weights after each epoch");
    command.flag("--insecure", insecure, "Other machines may reach this task without credentials");
    command.option("--heartbeat_timeout_ms", heartbeat_timeout_ms, "Of silence, until a task is lost");
    command.option("--connect_timeout_ms", connect_timeout_ms, "Of waiting for a task out of reach");
  }
};

void freeze(Model& model, const Flags& flags) {
  if (!flags.freeze.empty()) model.get_layer(flags.freeze).set_trainable(false);
}

int learn(const Flags& flags) {
  const std::string file =
      (std::filesystem::path(default_data_folder()).parent_path() / "iris.csv").string();
  const Dataset flowers =
      Dataset::csv({file}, {.components = {{DType::float32, 0, 4}, {DType::int64, 4}}});
  Model model = sequential(input({4}), {dense(10, tanh), dense(3)});
  freeze(model, flags);
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.01}});
  Callbacks callbacks;
  if (!flags.weights_folder.empty())
    callbacks.push_back(model_checkpoint(flags.weights_folder, {.save_weights_only = true}));
  if (flags.average) {
    const ReduceOnPlateauOptions on_plateau{.monitor = "made_up", .factor = 0.9, .patience = 15};
    callbacks.insert(callbacks.end(),
                     {callback({.on_epoch_end = [](FitContext&, int epoch,
                                                   Logs& logs) { logs.set("made_up", -(epoch / 20)); }}),
                      reduce_on_plateau(on_plateau), averaged_weights()});
  }
  ServerOptions server;
  server.insecure = flags.insecure;
  server.heartbeat_timeout_ms = flags.heartbeat_timeout_ms;
  const Distribution strategy =
      distribution_from_environment({.strategy = Synchronous{},
                                     .checkpoint_folder = flags.checkpoint_folder,
                                     .save_checkpoint = {.steps = 50},
                                     .mark_end = true,
                                     .connect_timeout_ms = flags.connect_timeout_ms},
                                    server);
  model.fit(flowers.shuffle({.seed = 1}), {.epochs = flags.epochs,
                                           .batch_size = 12,
                                           .class_weight = flags.class_weight,
                                           .callbacks = callbacks,
                                           .strategy = strategy});
  if (is_chief(strategy)) fmt::print("weights {:016x}\n", hash_of(model.weights()));
  return success;
}

}  // namespace
}  // namespace actorflow

int main(int argc, char** argv) {
  return actorflow::test::run_with_flags("Learns three kinds of iris, some of which weigh more",
                                         "fit_trainer", argc, argv, actorflow::learn);
}
