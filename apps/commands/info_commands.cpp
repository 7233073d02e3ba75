#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"

namespace actorflow {

void add_help_command(Command& program) {
  const auto names = std::make_shared<std::vector<std::string>>();
  Command help = program.command("help", "Explain a command, for example: help train mnist");
  help.rest(*names);  // What follows names a command, but does not run it.
  help.runs([&program, names] {
    Command topic = program;
    std::string path = program.name();
    for (const auto& name : *names) {
      const auto found = topic.find(name);
      if (!found)
        throw UsageError("there is no command '" + name + "'; see " + program.name() + " help");
      topic = *found;
      path += " " + name;
    }
    fmt::print("{}", topic.help(path));
    return int{success};
  });
}

void add_version_command(Command& program) {
  program.command("version", "Print the version").runs([] {
    fmt::print("actorflow {}\n", ACTORFLOW_VERSION);
    return int{success};
  });
}

}  // namespace actorflow
