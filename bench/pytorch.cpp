#include "bench/pytorch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
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

bool has_pytorch() {
  static const bool found =
      std::system((quoted(python()) + " -c 'import torch' >/dev/null 2>&1").c_str()) == 0;
  return found;
}

struct Close {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

// What the script prints.
std::string output_of(const std::string& script, const std::string& arguments) {
  if (!has_pytorch()) throw Skipped(python() + " has no PyTorch (ACTORFLOW_PYTHON names another)");
  const std::string command = fmt::format("{} {} {}", quoted(python()), quoted(script), arguments);
  const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"));
  if (!pipe) throw Error(Code::internal, "could not start: " + command);
  std::string text;
  std::array<char, 4096> part;
  while (const auto count = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), count);
  return text;
}

}  // namespace

double pytorch_steps_per_second(const std::string& model, bool quick) {
  std::istringstream lines(
      output_of(ACTORFLOW_PYTORCH_STEP, fmt::format("{} {}", quoted(model), quick ? 0.05 : 1.5)));
  double best = 0, steps = 0;
  int threads = 0;
  while (lines >> threads >> steps) best = std::max(best, steps);
  if (best == 0) throw Error(Code::internal, "no figures came from PyTorch for " + model);
  return best;
}

std::map<std::string, double> pytorch_gpu_figures(bool quick) {
  std::istringstream lines(output_of(ACTORFLOW_PYTORCH_GPU, quick ? "--quick" : ""));
  std::map<std::string, double> figures;
  std::string name;
  double figure = 0;
  while (lines >> name >> figure) figures[name] = figure;
  return figures;
}

}  // namespace actorflow::bench
