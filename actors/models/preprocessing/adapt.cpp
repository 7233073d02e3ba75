#include "actors/models/preprocessing/adapt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/models/preprocessing/each_batch.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Calls the function with the values, as doubles. False for a dtype that is no number.
template <class... T, class Function>
bool for_each_value(const Tensor& tensor, const Function& function) {
  const auto read = [&]<class Type>(Type) {
    if (tensor.dtype() != dtype_of<Type>) return false;
    for (const Type value : tensor.values<Type>()) function(static_cast<double>(value));
    return true;
  };
  return (read(T{}) || ...);
}

// Calls the function with each number of a component and the number of its feature, its place along the
// last axis. Throws for one that is not finite.
template <class Function>
void read_numbers(const Dataset& examples, std::size_t component, const Function& function) {
  std::int64_t first = 0;
  for_each_batch(examples, component, [&](const Tensor& batch) {
    const int rank = batch.shape().rank();
    const std::int64_t rows = batch.shape()[0], features = rank == 1 ? 1 : batch.shape()[rank - 1];
    std::int64_t place = 0;
    const auto take = [&](double value) {
      if (!std::isfinite(value))
        throw invalid_argument(fmt::format(
            "adapt: component {} of example {}, counted from 0, has {}; leave out such examples by "
            "Dataset::filter(), or give CsvComponent a default_value that is finite",
            component, first + place / (batch.elements() / rows), value));
      function(value, static_cast<std::size_t>(place++ % features));
    };
    if (!for_each_value<float, double, std::int32_t, std::int64_t, std::uint8_t>(batch, take))
      throw invalid_argument(
          fmt::format("adapt: expected float32, float64, int32, int64 or uint8, but component {} is "
                      "{}; StringLookup::adapt() is for texts",
                      component, batch.describe()));
    first += rows;
  });
}

// Sums of one feature, of distances from its first value, so that a large mean costs no digits.
struct Sums {
  double first = 0, distances = 0, squares = 0, count = 0;

  void add(double value) {
    if (count == 0) first = value;
    const double distance = value - first;
    distances += distance;
    squares += distance * distance;
    ++count;
  }
  double mean() const { return first + distances / count; }
  double variance() const {
    const double mean_distance = distances / count;
    return std::max(squares / count - mean_distance * mean_distance, 0.0);
  }
};

}  // namespace

Moments moments_of(const Dataset& examples, std::size_t component) {
  std::vector<Sums> sums;
  read_numbers(examples, component, [&](double value, std::size_t feature) {
    if (feature >= sums.size()) sums.resize(feature + 1);
    sums[feature].add(value);
  });
  const auto features = static_cast<std::int64_t>(sums.size());
  std::vector<float> mean, variance;
  for (const Sums& of_feature : sums) {
    mean.push_back(static_cast<float>(of_feature.mean()));
    variance.push_back(static_cast<float>(of_feature.variance()));
  }
  return {Tensor::of<float>({features}, mean), Tensor::of<float>({features}, variance)};
}

Moments moments_of(const Tensor& rows) { return moments_of(Dataset::tensors({rows})); }

std::vector<float> boundaries_of(const Dataset& examples, std::int64_t bins, std::size_t component) {
  if (bins < 2) throw invalid_argument(fmt::format("adapt: expected two bins or more, got {}", bins));
  std::vector<float> values;
  read_numbers(examples, component,
               [&](double value, std::size_t) { values.push_back(static_cast<float>(value)); });
  std::ranges::sort(values);
  std::vector<float> boundaries;
  const double step = static_cast<double>(values.size()) / static_cast<double>(bins);
  for (std::int64_t bin = 1; bin < bins; ++bin) {
    const auto place = static_cast<std::size_t>(step * static_cast<double>(bin));
    const float boundary = values[std::min(place, values.size() - 1)];
    const float before = boundaries.empty() ? values.front() : boundaries.back();
    if (boundary > before) boundaries.push_back(boundary);
  }
  if (boundaries.empty())
    throw invalid_argument(fmt::format(
        "adapt: component {} has no numbers that could be divided into {} bins: almost all are {}",
        component, bins, values.at(0)));
  return boundaries;
}

}  // namespace actorflow
