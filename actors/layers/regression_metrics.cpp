// Metrics of numbers, by sums over all batches.
#include <cmath>
#include <cstddef>

#include "actors/layers/checks.h"
#include "actors/layers/metrics.h"
#include "actors/layers/prediction_pairs.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

Output rows_in(Output x) { return sum(reshape(ones_like(x), {-1, 1}), {0}); }

// Four sums of each of k columns: squared errors, labels, their squares, and ones.
Output sums_of_columns(Output prediction, Output labels) {
  const auto [p, label] = as_numbers(prediction, labels);
  const std::int64_t columns = p.shape().rank() > 1 ? last_dimension(p) : 1;
  const auto sum_of = [columns](Output x) { return sum(reshape(x, {-1, columns}), {0}); };
  return concat(
      {sum_of(square(label - p)), sum_of(label), sum_of(square(label)), sum_of(ones_like(label))}, 0);
}

double r2_of(std::span<const double> sums) {
  const std::size_t columns = sums.size() / 4;
  double total = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    const double errors = sums[i], labels = sums[columns + i], rows = sums[3 * columns + i];
    const double distances = sums[2 * columns + i] - labels * labels / rows;
    if (distances > 0) total += 1 - errors / distances;
  }
  return total / static_cast<double>(columns);
}

}  // namespace

Metric root_mean_squared_error() {
  return {"root_mean_squared_error",
          [](Output prediction, Output labels) {
            const auto [p, label] = as_numbers(prediction, labels);
            return concat({sum(reshape(square(p - label), {-1, 1}), {0}), rows_in(p)}, 0);
          },
          [](std::span<const double> sums) { return std::sqrt(sums[0] / sums[1]); }};
}

Metric r2_score() { return {"r2_score", sums_of_columns, r2_of}; }

}  // namespace actorflow
