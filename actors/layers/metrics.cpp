#include "actors/layers/metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "actors/layers/prediction_pairs.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

constexpr std::size_t num_thresholds = 200;

Output share_of(Output condition) { return mean(cast(condition, DType::float32)); }

// float32 [2 * thresholds]: for each threshold how many of the predictions above it have the label 1,
// and how many 0; then [2]: how many labels are 1 and 0.
Output counts_above(Output prediction, Output labels, const std::vector<float>& thresholds) {
  const auto [p, label] = as_numbers(prediction, labels);
  Graph& graph = *p.graph;
  const auto size = static_cast<std::int64_t>(thresholds.size());
  const Output limits = graph.constant(Tensor::of<float>({1, size}, thresholds));
  const Output above = cast(greater(reshape(p, {-1, 1}), limits), DType::float32);
  const Output is_one = reshape(label, {-1, 1});
  const Output is_zero = 1.0 - is_one;
  return concat(
      {sum(above * is_one, {0}), sum(above * is_zero, {0}), sum(is_one, {0}), sum(is_zero, {0})}, 0);
}

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// The thresholds of Keras: even from 0 to 1, the outer ones a little outside.
std::vector<float> even_thresholds() {
  std::vector<float> limits(num_thresholds);
  for (std::size_t i = 0; i < num_thresholds; ++i)
    limits[i] = static_cast<float>(static_cast<double>(i) / (num_thresholds - 1));
  limits.front() = -1e-7F;
  limits.back() = 1 + 1e-7F;
  return limits;
}

double area(std::span<const double> counts) {
  const double ones = counts[2 * num_thresholds], zeros = counts[2 * num_thresholds + 1];
  double total = 0;
  for (std::size_t i = 0; i + 1 < num_thresholds; ++i) {
    const double height = ratio(counts[i], ones) + ratio(counts[i + 1], ones);
    const double width =
        ratio(counts[num_thresholds + i], zeros) - ratio(counts[num_thresholds + i + 1], zeros);
    total += width * height / 2;
  }
  return total;
}

// Between two thresholds the true positives are linear in all positives (Davis and Goadrich 2006, The
// Relationship Between Precision-Recall and ROC Curves), so that the area has a logarithm.
double area_of_precision(std::span<const double> counts) {
  double total = 0;
  for (std::size_t i = 0; i + 1 < num_thresholds; ++i) {
    const double more_true = counts[i], fewer_true = counts[i + 1];
    const double more = more_true + counts[num_thresholds + i];
    const double fewer = fewer_true + counts[num_thresholds + i + 1];
    const double slope = ratio(more_true - fewer_true, more - fewer);
    const double logarithm = more > 0 && fewer > 0 ? std::log(more / fewer) : 0;
    total += slope * (more_true - fewer_true + (fewer_true - slope * fewer) * logarithm);
  }
  return ratio(total, counts[2 * num_thresholds]);
}

}  // namespace

Metric Metric::of_output(int number) const {
  Metric other = *this;
  other.output = number;
  return other;
}

Metric accuracy() {
  return {"accuracy", [](Output prediction, Output labels) {
            const auto [logits, classes] = as_classes(prediction, labels);
            return share_of(equal(argmax(logits, 1), cast(classes, DType::int64)));
          }};
}

Metric categorical_accuracy() {
  return {"categorical_accuracy", [](Output prediction, Output labels) {
            const auto [p, label] = as_numbers(prediction, labels);
            const int last = p.shape().rank() - 1;
            return share_of(equal(argmax(p, last), argmax(label, last)));
          }};
}

Metric top_k_accuracy(std::int64_t k) {
  if (k < 1) throw invalid_argument(fmt::format("top_k_accuracy: expected k of 1 or more, got {}", k));
  return {fmt::format("top_{}_accuracy", k), [k](Output prediction, Output labels) {
            const auto [logits, classes] = as_classes(prediction, labels);
            // The logit of the label is the negative loss plus the logarithm of the sum: compare losses.
            const Output own = -softmax_cross_entropy(logits, classes);
            const Output larger = greater(log_softmax(logits), expand_dims(own, {1}) + 1e-6);
            const Output place = sum(cast(larger, DType::float32), {1});
            return share_of(less(place, scalar_like(place, static_cast<double>(k))));
          }};
}

Metric binary_accuracy(double threshold) {
  return {"binary_accuracy", [threshold](Output prediction, Output labels) {
            const auto [p, label] = as_numbers(prediction, labels);
            return share_of(equal(cast(greater(p, scalar_like(p, threshold)), DType::float32), label));
          }};
}

Metric precision(double threshold) {
  return {"precision",
          [threshold](Output p, Output labels) {
            return counts_above(p, labels, {static_cast<float>(threshold)});
          },
          [](std::span<const double> counts) { return ratio(counts[0], counts[0] + counts[1]); }};
}

Metric recall(double threshold) {
  return {"recall",
          [threshold](Output p, Output labels) {
            return counts_above(p, labels, {static_cast<float>(threshold)});
          },
          [](std::span<const double> counts) { return ratio(counts[0], counts[2]); }};
}

Metric f1_score(double threshold) {
  return {"f1_score",
          [threshold](Output p, Output labels) {
            return counts_above(p, labels, {static_cast<float>(threshold)});
          },
          [](std::span<const double> counts) {
            return ratio(2 * counts[0], counts[0] + counts[1] + counts[2]);
          }};
}

Metric auc(bool from_logits) {
  return {"auc",
          [from_logits](Output p, Output labels) {
            return counts_above(from_logits ? sigmoid(p) : p, labels, even_thresholds());
          },
          area};
}

Metric pr_auc(bool from_logits) {
  return {"pr_auc",
          [from_logits](Output p, Output labels) {
            return counts_above(from_logits ? sigmoid(p) : p, labels, even_thresholds());
          },
          area_of_precision};
}

Metric metric_of(const Loss& loss) {
  return {loss.name, [of = loss.of](Output p, Output labels) { return mean(of(p, labels)); }};
}

}  // namespace actorflow
