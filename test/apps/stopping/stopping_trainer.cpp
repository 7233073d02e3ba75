// A task that learns digits by fit(), with callbacks that stop it. TF_CONFIG says which task it is;
// without it the program trains alone. The chief prints a hash of the weights, and the model's step.
#include <fmt/format.h>

#include <cstdlib>

#include "actors/actorflow.h"
#include "apps/cli/data_folder.h"
#include "apps/training/data/images.h"
#include "test/apps/support/flags_program.h"

namespace actorflow {
namespace {

constexpr int best_epoch = 40;
constexpr std::int64_t count = 240, batch_size = 48;  // 5 steps in each epoch

struct Flags {
  std::string checkpoint_folder, events_folder;
  int epochs = 300, patience = 0, stop_after = 0;

  void add_to(Command& command) {
    command.option("--checkpoint_dir", checkpoint_folder, "From which training goes on after a loss");
    command.option("--events_dir", events_folder, "For what TensorBoard shows of each epoch");
    command.option("--epochs", epochs, "Passes over the data, unless a callback stops");
    command.option("--patience", patience,
                   "Epochs after the fortieth, the best, with whose weights training ends then");
    command.option("--stop_after", stop_after, "The epoch after which a callback without state stops");
  }
};

Callbacks callbacks_of(const Flags& flags) {
  Callbacks callbacks;
  if (flags.patience > 0)
    callbacks = {callback({.on_epoch_end =
                               [](FitContext&, int epoch, Logs& logs) {
                                 logs.set("distance", std::abs(epoch - best_epoch));
                               }}),
                 early_stopping(
                     {.monitor = "distance", .patience = flags.patience, .restore_best_weights = true})};
  if (flags.stop_after > 0)
    callbacks.push_back(
        callback({.on_epoch_end = [last = flags.stop_after](FitContext& training, int epoch, Logs&) {
          if (epoch == last) training.stop();
        }}));
  if (!flags.events_folder.empty()) callbacks.push_back(tensorboard(flags.events_folder));
  return callbacks;
}

int learn(const Flags& flags) {
  const Batch digits = consecutive_examples(load_images(data_folder("digits")).train, 0, count);
  Model model = sequential({flatten(), dense(16, relu), dense(10)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.003}});
  const Distribution strategy =
      distribution_from_environment({.strategy = Synchronous{},
                                     .checkpoint_folder = flags.checkpoint_folder,
                                     .save_checkpoint = {.steps = 50},
                                     .mark_end = true});
  model.fit({digits.x, digits.labels}, {.epochs = flags.epochs,
                                        .batch_size = batch_size,
                                        .callbacks = callbacks_of(flags),
                                        .strategy = strategy});
  if (is_chief(strategy))
    fmt::print("weights {:016x}\nended at step {}\n", hash_of(model.weights()), model.step());
  return success;
}

}  // namespace
}  // namespace actorflow

int main(int argc, char** argv) {
  return actorflow::test::run_with_flags("Learns digits until a callback stops it", "stopping_trainer",
                                         argc, argv, actorflow::learn);
}
