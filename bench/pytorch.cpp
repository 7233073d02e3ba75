#include "bench/pytorch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/harness.h"
#include "dataflow/error.h"

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

}  // namespace

double pytorch_steps_per_second(const std::string& model, bool quick) {
  if (!has_pytorch()) throw Skipped(python() + " has no PyTorch (ACTORFLOW_PYTHON names another)");
  const std::string command =
      fmt::format("{} {} {} {}", quoted(python()), quoted(ACTORFLOW_PYTORCH_STEP), quoted(model),
                  quick ? 0.05 : 1.5);
  const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"));
  double best = 0, steps = 0;
  int threads = 0;
  while (pipe && std::fscanf(pipe.get(), "%d %lf", &threads, &steps) == 2) best = std::max(best, steps);
  if (best == 0) throw Error(Code::internal, "no figures came from: " + command);
  return best;
}

}  // namespace actorflow::bench
