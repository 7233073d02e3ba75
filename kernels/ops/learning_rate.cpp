#include "kernels/ops/learning_rate.h"

#include <algorithm>
#include <string>

#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

void check_decay_steps(std::int64_t decay_steps) {
  if (decay_steps < 1)
    throw invalid_argument("a learning rate needs 1 or more decay_steps, got " +
                           std::to_string(decay_steps));
}

// How many times decay_steps have passed.
Output periods(Output step, std::int64_t decay_steps, bool staircase) {
  check_decay_steps(decay_steps);
  return staircase ? cast(step / decay_steps, DType::float64)
                   : cast(step, DType::float64) / static_cast<double>(decay_steps);
}

}  // namespace

Output exponential_decay(double initial, Output step, std::int64_t decay_steps, double rate,
                         bool staircase) {
  const Output passed = periods(step, decay_steps, staircase);
  return initial * pow(scalar_like(passed, rate), passed);
}

Output inverse_time_decay(double initial, Output step, std::int64_t decay_steps, double rate,
                          bool staircase) {
  return initial / (1.0 + rate * periods(step, decay_steps, staircase));
}

Output polynomial_decay(double initial, Output step, std::int64_t decay_steps, double end,
                        double power) {
  const Output passed = periods(minimum(step, scalar_like(step, decay_steps)), decay_steps, false);
  const Output left = 1.0 - passed;
  return (initial - end) * pow(left, scalar_like(left, power)) + end;
}

Output cosine_decay(double initial, Output step, std::int64_t decay_steps, double alpha) {
  constexpr double pi = 3.14159265358979323846;
  const Output passed = periods(minimum(step, scalar_like(step, decay_steps)), decay_steps, false);
  return initial * (alpha + (1 - alpha) * 0.5 * (1.0 + cos(passed * pi)));
}

Output linear_warmup(Output rate, Output step, std::int64_t warmup_steps, double from) {
  if (warmup_steps < 1 || !(from >= 0 && from <= 1))
    throw invalid_argument("a warm-up needs 1 or more steps and a beginning from 0 to 1, got " +
                           std::to_string(warmup_steps) + " and " + std::to_string(from));
  const Output passed = periods(minimum(step, scalar_like(step, warmup_steps)), warmup_steps, false);
  return cast(rate, DType::float64) * (from + (1 - from) * passed);
}

Output linear_warmup(double rate, Output step, std::int64_t warmup_steps, double from) {
  expect_in_graph(*step.graph, step, "the step of linear_warmup()");
  return linear_warmup(step.graph->constant(rate), step, warmup_steps, from);
}

Output piecewise_constant(Output step, const std::vector<std::int64_t>& boundaries,
                          const std::vector<double>& values) {
  if (values.size() != boundaries.size() + 1)
    throw invalid_argument(
        "a piecewise constant learning rate has one more value than boundaries, got " +
        std::to_string(values.size()) + " and " + std::to_string(boundaries.size()));
  if (std::ranges::adjacent_find(boundaries, std::ranges::greater_equal()) != boundaries.end())
    throw invalid_argument("the boundaries of a piecewise constant learning rate must grow");
  Output rate = step.graph->constant(values.back());
  for (std::size_t i = boundaries.size(); i-- > 0;)
    rate = select(less_equal(step, scalar_like(step, boundaries[i])), step.graph->constant(values[i]),
                  rate);
  return rate;
}

}  // namespace actorflow
