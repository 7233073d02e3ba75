#include "kernels/fusions.h"

#include <array>

namespace actorflow {

std::span<const FusionRule> builtin_fusions() {
  static constexpr std::array<FusionRule, 3> rules{fuse_matmul, fuse_relu_bias_grad,
                                                   fuse_mean_cross_entropy};
  return rules;
}

}  // namespace actorflow
