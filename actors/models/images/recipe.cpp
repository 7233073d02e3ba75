#include "actors/models/images/recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/layers/losses.h"
#include "dataflow/train/whole_steps.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

void check(const std::vector<RatePoint>& course, std::int64_t steps) {
  if (steps < 1)
    throw invalid_argument(fmt::format("expected a training of 1 step or more, got {}", steps));
  const bool ascends = course.size() >= 2 && course.front().after == 0 && course.back().after == 1 &&
                       std::ranges::is_sorted(course, {}, &RatePoint::after);
  if (!ascends)
    throw invalid_argument("expected a learning rate's course of points that ascend from 0 to 1");
}

// float64 scalar: 0 until a share of the training, 1 from another share on, and evenly between.
Output risen(Output done, double from, double to) {
  if (from == to) return cast(greater_equal(done, scalar_like(done, from)), DType::float64);
  const Output share = (done - from) / (to - from);
  return minimum(maximum(share, scalar_like(share, 0.0)), scalar_like(share, 1.0));
}

}  // namespace

std::int64_t ImageRecipe::steps(std::int64_t images) const {
  if (batch_size < 1)
    throw invalid_argument(fmt::format("expected a batch size of 1 or more, got {}", batch_size));
  const double all = epochs * static_cast<double>(images) / static_cast<double>(batch_size);
  return std::max<std::int64_t>(1, whole_steps(all));
}

ImageRecipe fast_net_recipe() {
  return {.epochs = 17,
          .batch_size = 512,
          .learning_rate = 0.75,
          .momentum = 0.85,
          .nesterov = true,
          .course = {{0, 0.2}, {0.23, 1}, {1, 0.07}},
          .label_smoothing = 0.2,
          .weight_decay = 1.33e-3,
          .precision = Precision::bf16,
          .augmentation = {.padding = 2, .border = Border::reflected, .mirroring = Mirroring::by_turns}};
}

ImageRecipe resnet20_recipe() {
  return {.epochs = 64000 * 128 / 50000.0,
          .batch_size = 128,
          .learning_rate = 0.1,
          .momentum = 0.9,
          .course = {{0, 1}, {0.5, 1}, {0.5, 0.1}, {0.75, 0.1}, {0.75, 0.01}, {1, 0.01}},
          .weight_decay = 1e-4,
          .precision = Precision::tf32,  // a GPU's; CPUs multiply float32
          .augmentation = {.padding = 4, .mirroring = Mirroring::random}};
}

CompileOptions compile_options(const ImageRecipe& recipe, std::int64_t steps) {
  check(recipe.course, steps);
  const auto schedule = [recipe, steps](Output step) {
    return rate_of_course(recipe.learning_rate, recipe.course, step, steps);
  };
  const Optimizer optimizer = recipe.nesterov
                                  ? Optimizer(Nesterov{recipe.learning_rate, recipe.momentum})
                                  : Optimizer(Momentum{recipe.learning_rate, recipe.momentum});
  return {.loss = softmax_cross_entropy(recipe.label_smoothing),
          .optimizer = optimizer,
          .learning_rate = schedule,
          .precision = recipe.precision};
}

Output rate_of_course(double rate, const std::vector<RatePoint>& course, Output step,
                      std::int64_t steps) {
  check(course, steps);
  const Output done = cast(step, DType::float64) / static_cast<double>(steps);
  Output factor = scalar_like(done, course.front().factor);
  for (std::size_t i = 1; i < course.size(); ++i)
    factor = factor + risen(done, course[i - 1].after, course[i].after) *
                          (course[i].factor - course[i - 1].factor);
  return factor * rate;
}

}  // namespace actorflow
