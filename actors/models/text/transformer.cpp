#include "actors/models/text/transformer.h"

#include <fmt/format.h>

#include <cmath>

#include "actors/layers/layers.h"
#include "dataflow/values/error.h"
#include "kernels/ops/learning_rate.h"

namespace actorflow {
namespace {

constexpr double epsilon = 1e-5;  // of layer_norm, as PyTorch's

// A branch adds to what flows past it. Its last weights begin the smaller the more branches there are,
// so that the sum keeps its variance (Radford et al. 2019, section 2.3).
Layer block(const TransformerOptions& options) {
  const Initializer weights = normal(0.02);
  const Initializer last = normal(0.02 / std::sqrt(2 * static_cast<double>(options.layers)));
  return {"block", [=](LayerScope& scope, Output x) {
            const auto dropped = [&](Output y) { return scope.apply(dropout(options.dropout), y); };
            const Output seen = scope.apply(attention(options.heads, options.width / options.heads,
                                                      {.causal = true,
                                                       .dropout = options.dropout,
                                                       .bias = options.bias,
                                                       .weights = weights,
                                                       .output_weights = last}),
                                            scope.apply(layer_norm(epsilon), x));
            const Output y = x + dropped(seen);
            const Output wide =
                scope.apply(dense(4 * options.width, gelu, {.bias = options.bias, .weights = weights}),
                            scope.apply(layer_norm(epsilon), y));
            return y + dropped(scope.apply(
                           dense(options.width, {}, {.bias = options.bias, .weights = last}), wide));
          }};
}

}  // namespace

Architecture character_transformer(std::int64_t characters, const TransformerOptions& options) {
  if (options.heads < 1 || options.width % options.heads != 0)
    throw invalid_argument(
        fmt::format("expected heads that divide the width {}, got {}; choose another "
                    "number of heads",
                    options.width, options.heads));
  const Initializer weights = normal(0.02);
  const SymbolicTensor text = input({options.context}, DType::int64, "text");
  const Layer table = options.tied ? tied_embedding(characters, options.width, weights)
                                   : embedding(characters, options.width, weights);
  SymbolicTensor x = dropout(options.dropout)(position_embedding(weights)(table(text)));
  for (std::int64_t i = 0; i < options.layers; ++i) x = block(options)(x);
  const SymbolicTensor y = layer_norm(epsilon)(x);
  const Layer head =
      options.tied ? table : dense(characters, {}, {.bias = options.bias, .weights = weights});
  return {{text}, {head(y)}};
}

CompileOptions compile_options(const TransformerRecipe& recipe) {
  if (recipe.warmup < 0 || recipe.warmup >= recipe.steps)
    throw invalid_argument(fmt::format("expected a warm-up shorter than the {} steps, got {}",
                                       recipe.steps, recipe.warmup));
  const AdamW adam{.learning_rate = recipe.learning_rate,
                   .beta1 = recipe.beta1,
                   .beta2 = recipe.beta2,
                   .weight_decay = recipe.weight_decay};
  const auto optimizer = [adam](const Variable& variable) -> Optimizer {
    AdamW chosen = adam;
    if (variable.type().shape.rank() < 2) chosen.weight_decay = 0;
    return chosen;
  };
  const auto schedule = [recipe](Output step) {
    const Output cosine =
        cosine_decay(recipe.learning_rate, maximum(step - recipe.warmup, scalar_like(step, 0)),
                     recipe.steps - recipe.warmup, recipe.last_learning_rate / recipe.learning_rate);
    return linear_warmup(cosine, step + 1, recipe.warmup + 1);
  };
  return {.loss = softmax_cross_entropy(),
          .optimizer = optimizer,
          .learning_rate = schedule,
          .clip_global_norm = recipe.clip_global_norm};
}

}  // namespace actorflow
