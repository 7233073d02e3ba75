#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "apps/cli/data_folder.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/training/data/image_records.h"

namespace actorflow {
namespace {

struct RecordsCommand {
  std::string data;
  std::string output;
  int shards = 4;
};

int run(const RecordsCommand& command) {
  const std::string folder = data_folder(command.data);
  if (std::filesystem::is_regular_file(folder))
    throw UsageError(fmt::format("--data: expected a folder of images, but '{}' is a file", folder));
  if (!std::filesystem::exists(folder))
    throw UsageError(fmt::format("--data: expected a folder of images, but '{}' is not there", folder));
  const Interrupts interrupts(std::chrono::seconds(3));
  spdlog::info("reading the images in {}", folder);
  const ImageData images = load_images(folder);
  spdlog::info("writing {} images as PNG into {}", images.train.count() + images.test.count(),
               command.output);
  if (!write_image_records(images, command.output, command.shards, interrupts.requested())) {
    spdlog::warn("stopped: {} has no record files", command.output);
    return interrupted_run;
  }
  fmt::print("{}: {} images to train on and {} to test on, {}, in {} record files each\n",
             command.output, images.train.count(), images.test.count(), images.train.image().to_string(),
             command.shards);
  return success;
}

}  // namespace

void add_records_command(Command& program) {
  auto command = std::make_shared<RecordsCommand>();
  Command sub = program.command("records",
                                "Write images as record files, which train, TensorFlow and others read");
  sub.option("--data", command->data,
             "Folder of images as MNIST or CIFAR-10 (its binary version) come, or mnist, digits")
      .required();
  sub.option("--output", command->output, "Folder for the files train.tfrecord-00000-of-00004, ...")
      .required();
  sub.option("--shards", command->shards, "Files for training, and as many to test on")
      .check(in_range(1, 99999))
      .show_default();
  sub.runs([command] { return run(*command); });
}

}  // namespace actorflow
