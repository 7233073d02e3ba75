#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"

namespace actorflow {
namespace {

// Programs of jobs lie beside this one. Returns only if there is none of that name.
int run_program_of_jobs(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with("-"))
    throw UsageError("say which program of jobs: actorflow job word_count --help");
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string path = (folder / std::filesystem::path(arguments[0]).filename()).string();
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  throw UsageError(fmt::format(
      "'{}' cannot be run: {}; expected the name of a program of jobs that lies there (cmake "
      "--build build --target programs builds the project's)",
      path, std::strerror(errno)));
}

}  // namespace

void add_job_command(CLI::App& app, Command& command) {
  CLI::App* job = app.add_subcommand(
      "job", "Run a program of map/reduce jobs: job word_count --input books --output counts");
  job->prefix_command();
  job->set_help_flag();  // --help is the program's
  job->footer("The programs explain themselves: actorflow job word_count --help");
  job->callback([job, &command] {
    command = [arguments = job->remaining()] { return run_program_of_jobs(arguments); };
  });
}

void add_ensemble_command(CLI::App& app, Command& command) {
  CLI::App* ensemble =
      app.add_subcommand("ensemble", "Train an ensemble: ensemble digits --members 8 --report FILE");
  ensemble->prefix_command();
  ensemble->set_help_flag();
  ensemble->footer(
      "actorflow ensemble --help explains it all, actorflow ensemble digits --help each parameter.");
  ensemble->callback([ensemble, &command] {
    command = [arguments = ensemble->remaining()] {
      std::vector<std::string> program{"ensemble"};
      program.insert(program.end(), arguments.begin(), arguments.end());
      return run_program_of_jobs(program);
    };
  });
}

}  // namespace actorflow
