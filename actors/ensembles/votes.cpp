#include "actors/ensembles/votes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::vector<double> as_doubles(const Tensor& tensor) {
  const auto converted = [](const auto values) {
    return std::vector<double>(values.begin(), values.end());
  };
  if (tensor.dtype() == DType::float32) return converted(tensor.values<float>());
  if (tensor.dtype() == DType::float64) return converted(tensor.values<double>());
  if (tensor.dtype() == DType::int32) return converted(tensor.values<std::int32_t>());
  if (tensor.dtype() == DType::int64) return converted(tensor.values<std::int64_t>());
  throw invalid_argument("an ensemble: expected numbers, got " + tensor.describe());
}

std::int64_t columns_of(const Tensor& table) { return table.shape().rank() < 2 ? 1 : table.shape()[1]; }

void softmax_row(std::span<const double> logits, std::span<double> probabilities) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) sum += probabilities[i] = std::exp(logits[i] - most);
  for (double& probability : probabilities) probability /= sum;
}

double sum_of(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

}  // namespace

Tensor probabilities_of(const Tensor& logits) {
  if (logits.shape().rank() < 1 || logits.shape().rank() > 2)
    throw invalid_argument("members that vote give logits [n, classes], got " + logits.describe());
  const auto rows = static_cast<std::size_t>(logits.shape()[0]);
  const auto columns = static_cast<std::size_t>(columns_of(logits));
  const std::size_t classes = std::max<std::size_t>(columns, 2);
  const std::vector<double> values = as_doubles(logits);
  std::vector<double> probabilities(rows * classes), of_row(classes);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < classes; ++i)
      of_row[i] = columns > 1 ? values[row * columns + i] : static_cast<double>(i) * values[row];
    softmax_row(of_row, std::span(probabilities).subspan(row * classes, classes));
  }
  return Tensor::of<double>({logits.shape()[0], static_cast<std::int64_t>(classes)}, probabilities);
}

Tensor largest(const Tensor& rows) {
  const auto columns = static_cast<std::size_t>(rows.shape()[1]);
  const auto values = rows.values<double>();
  std::vector<std::int64_t> classes;
  for (std::size_t begin = 0; begin < values.size(); begin += columns) {
    const auto row = values.subspan(begin, columns);
    classes.push_back(std::ranges::max_element(row) - row.begin());
  }
  return Tensor::of<std::int64_t>({rows.shape()[0]}, classes);
}

Tensor mean_of(const Predictions& predictions) {
  std::vector<double> sums(static_cast<std::size_t>(predictions.outputs.at(0).elements()));
  for (std::size_t member = 0; member < predictions.outputs.size(); ++member) {
    const std::vector<double> values = as_doubles(predictions.outputs[member]);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += predictions.weights[member] * values[i];
  }
  const double weight = sum_of(predictions.weights);
  for (double& sum : sums) sum /= weight;
  return Tensor::of<double>(predictions.outputs[0].shape(), sums);
}

Tensor soft_vote(const Predictions& logits) {
  Predictions probabilities{{}, logits.weights};
  for (const Tensor& output : logits.outputs) probabilities.outputs.push_back(probabilities_of(output));
  return mean_of(probabilities);
}

Tensor hard_vote(const Predictions& logits) {
  Tensor votes;
  for (std::size_t member = 0; member < logits.outputs.size(); ++member) {
    const Tensor probabilities = probabilities_of(logits.outputs[member]);
    if (!votes.valid()) votes = Tensor::zeros(DType::float64, probabilities.shape());
    const Tensor classes = largest(probabilities);
    const auto sums = votes.mutable_values<double>();
    for (std::int64_t row = 0; row < classes.elements(); ++row)
      sums[static_cast<std::size_t>(row * votes.shape()[1] + classes.values<std::int64_t>()[row])] +=
          logits.weights[member];
  }
  return largest(votes);
}

Tensor side_by_side(const std::vector<Tensor>& tables) {
  const std::int64_t rows = tables.at(0).shape()[0];
  std::int64_t columns = 0;
  for (const Tensor& table : tables) columns += columns_of(table);
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  std::int64_t begin = 0;
  for (const Tensor& table : tables) {
    const std::int64_t own = columns_of(table);
    const std::vector<double> part = as_doubles(table);
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(part.begin() + row * own, own, values.begin() + row * columns + begin);
    begin += own;
  }
  return Tensor::of<double>({rows, columns}, values);
}

double accuracy_of(const Tensor& classes, const std::vector<std::int64_t>& labels) {
  const auto predicted = classes.values<std::int64_t>();
  std::int64_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += predicted[i] == labels[i];
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

double mean_squared_error_of(const Tensor& predicted, const Tensor& expected) {
  const std::vector<double> a = as_doubles(predicted), b = as_doubles(expected);
  if (a.size() != b.size())
    throw invalid_argument(fmt::format("expected labels like predictions: {}, got {}",
                                       predicted.describe(), expected.describe()));
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

}  // namespace actorflow
