#include <fmt/format.h>

#include <memory>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/training/models/export_classifier.h"

namespace actorflow {
namespace {

struct ExportCommand {
  std::string checkpoint_folder;
  std::string output;
};

int run(const ExportCommand& command) {
  const auto exported = export_classifier(posix_storage(), command.checkpoint_folder, command.output);
  fmt::print("{}/model.onnx: {}, of step {}\n", command.output, describe(exported.model),
             exported.global_step);
  return success;
}

}  // namespace

void add_export_command(Command& program) {
  auto command = std::make_shared<ExportCommand>();
  Command sub = program.command("export", "Write a trained model as ONNX, for other runtimes");
  sub.option("--checkpoint,--checkpoint-dir,--checkpoint_dir", command->checkpoint_folder,
             "Folder whose newest checkpoint is exported")
      .required();
  sub.option("--output,--output-dir,--output_dir", command->output,
             "Folder for model.onnx and signatures.json")
      .required();
  sub.runs([command] { return run(*command); });
}

}  // namespace actorflow
