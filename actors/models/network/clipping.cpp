#include "actors/models/network/clipping.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "dataflow/values/error.h"
#include "kernels/ops/clipping.h"

namespace actorflow {
namespace {

struct Clipping {
  const char* name;
  double bound;
  std::vector<GradientAndVariable> (*clip)(std::vector<GradientAndVariable> gradients, double bound);
};

std::vector<GradientAndVariable> clip_evenly(std::vector<GradientAndVariable> gradients, double bound) {
  return clip_by_value(std::move(gradients), -bound, bound);
}

std::optional<Clipping> chosen(const CompileOptions& options) {
  std::optional<Clipping> one;
  for (const Clipping& each :
       {Clipping{"clip_value", options.clip_value, clip_evenly},
        Clipping{"clip_norm", options.clip_norm, clip_by_norm},
        Clipping{"clip_global_norm", options.clip_global_norm, clip_by_global_norm}}) {
    if (each.bound == 0) continue;
    if (!(each.bound > 0))
      throw invalid_argument(
          fmt::format("compile: {} must be 0 or more, got {}", each.name, each.bound));
    if (one)
      throw invalid_argument(
          fmt::format("compile: gradients are clipped in one way, but both {} and {} are given",
                      one->name, each.name));
    one = each;
  }
  return one;
}

}  // namespace

GradientTransform clipping_of(const CompileOptions& options) {
  const auto clipping = chosen(options);
  if (!clipping) return {};
  return [clipping](std::vector<GradientAndVariable> gradients) {
    return clipping->clip(std::move(gradients), clipping->bound);
  };
}

std::string describe_clipping(const CompileOptions& options) {
  const auto clipping = chosen(options);
  return clipping ? fmt::format("{} {}", clipping->name, clipping->bound) : "none";
}

}  // namespace actorflow
