#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "actors/layers/checks.h"
#include "actors/layers/layers.h"
#include "dataflow/values/error.h"
#include "kernels/attention/causal_mask.h"

namespace actorflow {
namespace {

// What one attention layer computes in one graph.
class Attention {
 public:
  Attention(LayerScope& scope, std::int64_t heads, std::int64_t head_width,
            const AttentionOptions& options)
      : scope_(scope), heads_(heads), head_width_(head_width), options_(options) {}

  Output operator()(Output query, Output value, Output key) {
    const Output q = split_heads(projected("query", query));
    const Output k = split_heads(projected("key", key));
    const Output v = split_heads(projected("value", value));
    const bool drops = options_.dropout > 0 && scope_.training();
    see_no_masked(query, value, key);
    // Dropout and masks need the weights. Which device computes is not known yet, so a GPU's limit holds
    // for CPUs.
    const Output attended = drops || visible_ || head_width_ > widest_attention_on_gpu
                                ? attention_with_weights(q, k, v, drops)
                                : dot_product_attention(q, k, v, options_.causal);
    const Output joined = reshape(attended, {-1, query.shape()[1], heads_ * head_width_});
    const Initializer& last = options_.output_weights ? options_.output_weights : options_.weights;
    return project("output", joined, last_dimension(query), last);
  }

 private:
  Output projected(const char* name, Output x) {
    return project(name, x, heads_ * head_width_, options_.weights);
  }
  Output project(const char* name, Output x, std::int64_t units, const Initializer& weights) {
    const DenseOptions options{.bias = options_.bias, .weights = weights};
    return scope_.apply(dense(units, {}, options).named(name), x);
  }

  // Masked steps neither look nor are looked at.
  void see_no_masked(Output query, Output value, Output key) {
    const auto hide = [this](Output mask, const Shape& shape) {
      if (!mask) return;
      const Output seen = reshape(mask, shape);
      visible_ = visible_ ? logical_and(visible_, seen) : seen;
    };
    const std::int64_t queries = query.shape()[1], keys = key.shape()[1];
    hide(scope_.mask(query), {-1, 1, queries, 1});
    hide(scope_.mask(value), {-1, 1, 1, keys});
    if (key.edge != value.edge) hide(scope_.mask(key), {-1, 1, 1, keys});
  }

  // [batch, length, heads * width] -> [batch, length, heads, width].
  Output split_heads(Output x) { return reshape(x, {-1, x.shape()[1], heads_, head_width_}); }

  // The same as dot_product_attention(), with the weights in a tensor of their own.
  Output attention_with_weights(Output q, Output k, Output v, bool drops) {
    const auto heads_first = [](Output x) { return transpose(x, {0, 2, 1, 3}); };
    Output scores = batch_matmul(heads_first(q) * (1 / std::sqrt(static_cast<double>(head_width_))),
                                 heads_first(k), false, true);
    if (options_.causal) {
      const std::int64_t queries = scores.shape()[2], keys = scores.shape()[3];
      scores = scores + scope_.graph().constant(causal_mask(queries, keys), "mask");
    }
    if (visible_) scores = select(visible_, scores, scalar_like(scores, -1e30));
    Output weights = softmax(scores);
    if (visible_) weights = select(visible_, weights, scalar_like(weights, 0));
    if (drops) weights = dropout(weights, options_.dropout, scope_.seed(), scope_.step());
    return heads_first(batch_matmul(weights, heads_first(v)));
  }

  LayerScope& scope_;
  std::int64_t heads_, head_width_;
  const AttentionOptions& options_;
  Output visible_;  // bool, of the shape of the scores or one that broadcasts to it; or empty
};

}  // namespace

Layer attention(std::int64_t heads, std::int64_t head_width, const AttentionOptions& options) {
  expect_positive("attention", "heads", heads);
  expect_positive("attention", "head width", head_width);
  return {"attention", [=](LayerScope& scope, const std::vector<Output>& inputs) {
            if (inputs.empty() || inputs.size() > 3)
              throw invalid_argument(fmt::format("expected one to three inputs, got {}", inputs.size()));
            for (const Output& x : inputs) {
              expect_floating(x);
              expect_rank(x, 3, "[batch, length, width]");
              batch_of(x.shape());
            }
            Attention attend(scope, heads, head_width, options);
            const Output value = inputs.size() > 1 ? inputs[1] : inputs[0];
            const Output y = attend(inputs[0], value, inputs.size() > 2 ? inputs[2] : value);
            scope.set_mask(y, scope.mask(inputs[0]));
            return y;
          }};
}

}  // namespace actorflow
