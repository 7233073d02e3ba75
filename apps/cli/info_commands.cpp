#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/commands.h"
#include "apps/cli/program.h"

namespace actorflow {

void add_help_command(CLI::App& app, Command& chosen) {
  auto topics = std::make_shared<std::vector<std::string>>();
  CLI::App* help = app.add_subcommand("help", "Explain a command, for example: help train mnist");
  help->add_option("command", *topics, "The command to explain");
  help->callback([&app, topics, &chosen] {
    chosen = [&app, topics] {
      CLI::App* topic = &app;
      for (const auto& name : *topics) {
        const auto named = [&name](const CLI::App* command) { return command->check_name(name); };
        const auto found = topic->get_subcommands(named);
        if (found.empty())
          throw UsageError("there is no command '" + name + "'; see " + app.get_name() + " help");
        topic = found.front();
      }
      fmt::print("{}", topic->help());
      return int{success};
    };
  });
}

void add_version_command(CLI::App& app, Command& chosen) {
  app.add_subcommand("version", "Print the version")->callback([&chosen] {
    chosen = [] {
      fmt::print("actorflow {}\n", ACTORFLOW_VERSION);
      return int{success};
    };
  });
}

}  // namespace actorflow
