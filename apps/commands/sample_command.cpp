#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "actors/models/text/sample.h"
#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/training/models/trained_model.h"

namespace actorflow {
namespace {

struct SampleCommand {
  std::string checkpoint_folder;
  std::string prompt = "\n";
  SampleOptions options{};
};

int run(const SampleCommand& command) {
  LoadedModel loaded = load_trained_model(posix_storage(), command.checkpoint_folder);
  if (loaded.what.data.alphabet.empty())
    throw UsageError(
        fmt::format("the checkpoints in {} are of {}, which is no model of texts; train one "
                    "with actorflow train shakespeare --checkpoint_dir ...",
                    command.checkpoint_folder, describe(loaded.what.choice)));
  SampleOptions options = command.options;
  options.context = block_of(loaded.what.choice);
  bool prompted = false;  // sample() looks at the prompt before it gives a character
  options.on_character = [&](std::string_view character) {
    if (!std::exchange(prompted, true)) fmt::print("{}", command.prompt);
    std::fwrite(character.data(), 1, character.size(), stdout);
    std::fflush(stdout);
  };
  check_usage(
      [&] { sample(loaded.model, Vocabulary::of(loaded.what.data.alphabet), command.prompt, options); });
  fmt::print("\n");
  return success;
}

}  // namespace

void add_sample_command(Command& program) {
  auto command = std::make_shared<SampleCommand>();
  Command sub = program.command("sample", "Write a text by a trained model of characters");
  sub.option("--checkpoint,--checkpoint-dir,--checkpoint_dir", command->checkpoint_folder,
             "Folder of actorflow train shakespeare, whose newest checkpoint is taken")
      .required();
  sub.option("--prompt", command->prompt, "With what the text begins; without it a new line");
  sub.option("--length", command->options.length, "Characters to add")
      .check(in_range(std::int64_t{1}, std::int64_t{1} << 30))
      .show_default();
  sub.option("--temperature", command->options.temperature,
             "Below 1 likely characters become likelier; 0: always the likeliest")
      .check(nonnegative_number())
      .show_default();
  sub.option("--top-k,--top_k", command->options.top_k,
             "Draw among so many likeliest characters; 0: among all")
      .check(nonnegative_number())
      .show_default();
  sub.option("--seed", command->options.seed, "Another one gives another text").show_default();
  sub.runs([command] { return run(*command); });
}

}  // namespace actorflow
