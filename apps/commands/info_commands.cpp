#include <fmt/format.h>

#include <string>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"

namespace actorflow {

void add_help_command(CLI::App& app, Command& chosen) {
  CLI::App* help = app.add_subcommand("help", "Explain a command, for example: help train mnist");
  help->prefix_command();  // What follows names a command, but does not run it.
  help->callback([&app, help, &chosen] {
    chosen = [&app, help] {
      const CLI::App* topic = &app;
      std::string path = app.get_name();
      for (const auto& name : help->remaining()) {
        const auto named = [&name](const CLI::App* command) { return command->check_name(name); };
        const auto found = topic->get_subcommands(named);
        if (found.empty())
          throw UsageError("there is no command '" + name + "'; see " + app.get_name() + " help");
        topic = found.front();
        path += " " + name;
      }
      // App::help() would show the command that was given: this one.
      fmt::print("{}", topic->get_formatter()->make_help(topic, path, CLI::AppFormatMode::Normal));
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
