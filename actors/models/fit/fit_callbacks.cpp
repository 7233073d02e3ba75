#include "actors/models/fit/fit_callbacks.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <string_view>
#include <vector>

namespace actorflow {

void FitCallbacks::warn_of_missing(int epoch) const {
  std::vector<std::string_view> names;
  for (const auto& callback : callbacks_)
    if (const auto name = callback->misses_before(epoch); !name.empty()) names.push_back(name);
  if (names.empty()) return;
  spdlog::warn(
      "fit: training goes on in epoch {}, but {} begin{} anew: checkpoints and backups do not have what "
      "callbacks have seen in earlier epochs",
      epoch, fmt::join(names, ", "), names.size() == 1 ? "s" : "");
}

}  // namespace actorflow
