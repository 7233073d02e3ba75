#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/program.h"
#include "apps/training/export_mnist.h"

namespace actorflow {
namespace {

struct ExportCommand {
  std::string checkpoint_folder;
  std::string model = "mnist";
  std::string output;
};

int run(const ExportCommand& command) {
  const auto exported = export_mnist(posix_storage(), command.checkpoint_folder, command.output);
  fmt::print("{}/model.onnx: {} of step {}, hidden layers [{}]\n", command.output, command.model,
             exported.global_step, fmt::join(exported.hidden, ","));
  return success;
}

}  // namespace

void add_export_command(CLI::App& app, Command& chosen) {
  auto command = std::make_shared<ExportCommand>();
  CLI::App* sub = app.add_subcommand("export", "Write a trained model as ONNX, for other runtimes");
  sub->add_option("--checkpoint,--checkpoint-dir,--checkpoint_dir", command->checkpoint_folder,
                  "Folder whose newest checkpoint is exported")
      ->required();
  sub->add_option("--model", command->model, "What the checkpoint is of: mnist")
      ->check(CLI::IsMember({"mnist"}))
      ->capture_default_str();
  sub->add_option("--output,--output-dir,--output_dir", command->output,
                  "Folder for model.onnx and signatures.json")
      ->required();
  sub->callback([command, &chosen] { chosen = [command] { return run(*command); }; });
}

}  // namespace actorflow
