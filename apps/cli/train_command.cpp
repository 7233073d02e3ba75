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
  TrainFlags flags{.sync_by_default = true};
};

int run(const TrainCommand& command) {
  Interrupts interrupts(std::chrono::milliseconds(3000));
  TrainOptions options = command.flags.options();
  check_checkpoint_folder(options);
  const Mnist data = command.flags.load(options, command.workers);
  Progress progress(command.flags.report == "-" ? stderr : stdout);
  const auto report = train_locally(command.ps, command.workers, data, options, interrupts.requested(),
                                    &progress, [&](auto end) { interrupts.on_overdue(std::move(end)); });
  if (!report) return interrupted_run;
  publish(*report, command.flags);
  return success;
}

}  // namespace

void add_train_command(CLI::App& app, Command& chosen) {
  auto command = std::make_shared<TrainCommand>();
  CLI::App* train =
      app.add_subcommand("train", "Train a model on a parameter-server cluster in this process");
  // Runs after the callback of what is named.
  train->callback([&chosen] {
    if (!chosen) throw UsageError("expected what to train; see actorflow help train");
  });
  CLI::App* mnist = train->add_subcommand(
      "mnist", "A multi-layer perceptron on handwritten digits; synchronously without --async");
  mnist->add_option("--ps", command->ps, "Parameter servers")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  mnist->add_option("--workers", command->workers, "Workers")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->flags.add_to(*mnist);
  mnist->callback([command, &chosen] { chosen = [command] { return run(*command); }; });
}

}  // namespace actorflow
