#include "bench/frameworks/frameworks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include "bench/harness.h"
#include "dataflow/values/error.h"

namespace actorflow::bench {
namespace {

std::string python() {
  const char* chosen = std::getenv("ACTORFLOW_PYTHON");
  return chosen && *chosen ? chosen : "python3";
}

// As one word of a shell command.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// Importing takes seconds, so each package is looked for once.
bool has(const std::string& package) {
  static std::map<std::string, bool> known;
  const auto [found, is_new] = known.try_emplace(package);
  if (is_new)
    found->second =
        std::system((quoted(python()) + " -c 'import " + package + "' >/dev/null 2>&1").c_str()) == 0;
  return found->second;
}

struct Close {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

void expect_installed(const Framework& framework) {
  if (!has(framework.package))
    throw Skipped(
        fmt::format("{} has no {} (ACTORFLOW_PYTHON names another)", python(), framework.name));
}

// What a script of this folder prints; `launcher` is what Python runs it by.
std::string output_of(const Framework& framework, const std::string& script,
                      const std::string& arguments, const std::string& launcher = "") {
  expect_installed(framework);
  const std::string path = std::string(ACTORFLOW_BENCH_SCRIPTS) + "/frameworks/" + script;
  const std::string command =
      fmt::format("{} {}{} {}", quoted(python()), launcher, quoted(path), arguments);
  const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"));
  if (!pipe) throw Error(Code::internal, "could not start: " + command);
  std::string text;
  std::array<char, 4096> part;
  while (const auto count = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), count);
  return text;
}

// The figure that a script prints; the greatest, if it measures in several ways. `of_what` is for
// people.
double figure_of(const Framework& framework, const std::string& script, const std::string& arguments,
                 const std::string& of_what) {
  std::istringstream figures(output_of(framework, script, arguments));
  std::optional<double> greatest;
  for (double figure = 0; figures >> figure;) greatest = std::max(greatest.value_or(figure), figure);
  if (!greatest)
    throw Error(Code::internal, fmt::format("no figure came from {} for {}", framework.name, of_what));
  return *greatest;
}

// How long a script trains.
double seconds_of_training(bool quick) { return quick ? 0.05 : 1.5; }

}  // namespace

const Framework pytorch{"PyTorch", "pytorch", "torch", "pytorch_step.py"};
const Framework tensorflow{"TensorFlow", "tensorflow", "tensorflow", "tensorflow_step.py"};
const Framework jax{"JAX", "jax", "jax", "jax_step.py"};

double steps_per_second(const Framework& framework, const std::string& model, bool quick) {
  double best = 0;
  for (const int threads : {1, 2}) {
    const std::string arguments =
        fmt::format("{} {} {}", quoted(model), seconds_of_training(quick), threads);
    best = std::max(best, figure_of(framework, framework.script, arguments, model));
  }
  return best;
}

double ddp_steps_per_second(const std::string& model, bool quick) {
  return figure_of(pytorch, "pytorch_ddp.py",
                   fmt::format("{} {}", quoted(model), seconds_of_training(quick)),
                   model + " in two processes");
}

double tensorflow_ps_steps_per_second(const std::string& model, bool synchronous, bool quick) {
  return figure_of(
      tensorflow, "tensorflow_ps.py",
      fmt::format("{} {} {}", quoted(model), seconds_of_training(quick), synchronous ? "sync" : "async"),
      model + " by parameter servers");
}

double tensorflow_null_ops(int nodes, int threads, int steps_in_flight, bool quick) {
  return figure_of(
      tensorflow, "tensorflow_null_ops.py",
      fmt::format("{} {} {} {}", nodes, seconds_of_training(quick), threads, steps_in_flight),
      "null ops");
}

double pytorch_eager_ns(int ops, int chains) {
  return figure_of(pytorch, "pytorch_eager.py", fmt::format("{} {}", ops, chains), "small ops");
}

double gloo_milliseconds(int ranks, std::int64_t bytes, int rounds) {
  return figure_of(pytorch, "pytorch_all_reduce.py", fmt::format("{} {} {}", ranks, bytes, rounds),
                   "an all-reduce by gloo");
}

double torchrun_seconds(int tasks) {
  expect_installed(pytorch);  // before the clock starts: it imports the package
  std::string printed;
  const double seconds = seconds_of([&] {
    printed =
        output_of(pytorch, "pytorch_first_step.py", "",
                  fmt::format("-m torch.distributed.run --standalone --nproc-per-node {} ", tasks));
  });
  if (printed.find("step 1: loss") == printed.npos)
    throw Error(Code::internal, "torchrun made no step: " + printed);
  return seconds;
}

std::map<std::string, double> pytorch_gpu_figures(bool quick) {
  std::istringstream lines(output_of(pytorch, "pytorch_gpu.py", quick ? "--quick" : ""));
  std::map<std::string, double> figures;
  std::string name;
  double figure = 0;
  while (lines >> name >> figure) figures[name] = figure;
  return figures;
}

}  // namespace actorflow::bench
