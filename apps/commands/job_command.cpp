#include <fmt/format.h>
#include <fmt/ranges.h>
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

// The project's programs of jobs; a program of one's own that lies beside them is run, too.
constexpr const char* programs[] = {"ensemble",
                                    "gensort",
                                    "histogram",
                                    "inverted_index",
                                    "join",
                                    "k_means",
                                    "logistic_regression",
                                    "mean",
                                    "ranked",
                                    "sparse_regression",
                                    "sql",
                                    "terasort",
                                    "top_k",
                                    "word_count"};

// A job of a program of several may be named at once: "sql_q1" is "sql q1", unless there is a program of
// that name.
void divide_name(std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  const std::string name = arguments[0];
  const auto end = name.rfind('_');
  if (end == name.npos || end == 0 || std::filesystem::exists(folder / name) ||
      !std::filesystem::exists(folder / name.substr(0, end)))
    return;
  arguments[0] = name.substr(0, end);
  arguments.insert(arguments.begin() + 1, name.substr(end + 1));
}

// Programs of jobs lie beside this one. Returns only if there is none of that name.
int run_program_of_jobs(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0].starts_with("-"))
    throw UsageError(fmt::format("say which program of jobs first: {}; or see actorflow job --help",
                                 fmt::join(programs, ", ")));
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  divide_name(arguments, folder);
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

void add_job_command(Command& program) {
  const auto words = std::make_shared<std::vector<std::string>>();
  Command job = program.command(
      "job", "Run a program of map/reduce jobs: job word_count --input books --output counts");
  job.rest(*words);
  job.without_help();  // --help is the program's
  job.footer(
      fmt::format("A program's name and its arguments follow: {}.\nEach explains itself: actorflow job "
                  "word_count --help",
                  fmt::join(programs, ", ")));
  job.runs([words, &program] {
    if (*words != std::vector<std::string>{"--help"} && *words != std::vector<std::string>{"-h"})
      return run_program_of_jobs(*words);
    fmt::print("{}", program.find("job")->help("actorflow job"));
    return int{success};
  });
}

void add_ensemble_command(Command& program) {
  const auto words = std::make_shared<std::vector<std::string>>();
  Command ensemble =
      program.command("ensemble", "Train an ensemble: ensemble digits --members 8 --report FILE");
  ensemble.rest(*words);
  ensemble.without_help();
  ensemble.footer(
      "actorflow ensemble --help explains it all, actorflow ensemble digits --help each parameter.");
  ensemble.runs([words] {
    words->insert(words->begin(), "ensemble");
    return run_program_of_jobs(*words);
  });
}

}  // namespace actorflow
