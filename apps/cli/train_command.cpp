#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/cli/train_flags.h"
#include "apps/training/train_locally.h"

namespace actorflow {
namespace {

struct TrainCommand {
  int ps = 2;
  int workers = 2;
  TrainFlags flags{};
};

int run(const TrainCommand& command) {
  Interrupts interrupts(std::chrono::milliseconds(3000));
  TrainOptions options = command.flags.options();
  check_outputs(options, command.flags);
  const ImageData data = command.flags.load(options, command.workers);
  Progress progress(command.flags.report == "-" ? stderr : stdout);
  const auto report = train_locally(command.ps, command.workers, data, options, interrupts.requested(),
                                    &progress, [&](auto end) { interrupts.on_overdue(std::move(end)); });
  if (!report) return interrupted_run;
  publish(*report, command.flags);
  return success;
}

// A subcommand with these defaults.
void add_images(CLI::App& train, Command& chosen, const std::string& name, const std::string& what,
                const TrainFlags& defaults) {
  auto command = std::make_shared<TrainCommand>(TrainCommand{.flags = defaults});
  CLI::App* sub = train.add_subcommand(name, what + "; synchronously without --async");
  add_count(*sub, "ps", command->ps, "Parameter servers", 256);
  add_count(*sub, "workers", command->workers, "Workers", 256);
  command->flags.add_to(*sub);
  sub->callback([command, &chosen] { chosen = [command] { return run(*command); }; });
}

}  // namespace

void add_train_command(CLI::App& app, Command& chosen) {
  CLI::App* train =
      app.add_subcommand("train", "Train a model on a parameter-server cluster in this process");
  // Runs after the callback of what is named.
  train->callback([&chosen] {
    if (!chosen) throw UsageError("expected what to train; see actorflow help train");
  });
  add_images(*train, chosen, "mnist", "A classifier of handwritten digits", {.sync_by_default = true});
  add_images(*train, chosen, "cifar10", "A classifier of CIFAR-10's images, whose folder --data names",
             {.model = "resnet20", .data = "cifar10", .sync_by_default = true});
}

}  // namespace actorflow
