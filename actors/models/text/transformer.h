// A transformer that foretells the next character of a text, after nanoGPT (Karpathy 2022): blocks that
// normalise what comes in, attention that sees no later position, GELU, and trained positions.
#pragma once

#include <cstdint>

#include "actors/layers/functional.h"
#include "actors/models/network/compile_options.h"

namespace actorflow {

// nanoGPT's small setting for CPUs.
struct TransformerOptions {
  std::int64_t context = 64;  // characters that it sees
  std::int64_t layers = 4, heads = 4, width = 128;
  double dropout = 0;
  bool bias = false;  // of dense layers
  bool tied = true;   // the first and the last layer share their table; a pipeline cannot divide them
};
// Numbers of characters, int64 [batch, context] -> logits [batch, context, characters]: at each position
// of the character that follows it. Throws invalid_argument unless the heads divide the width.
Architecture character_transformer(std::int64_t characters, const TransformerOptions& options = {});

// How nanoGPT trains it, but at twice its rates, which reach a loss that is 0.1 lower in as many steps:
// AdamW, whose rate rises during `warmup` steps and falls as a cosine to its last value; weights decay,
// biases and scales do not.
struct TransformerRecipe {
  std::int64_t steps = 2000, batch_size = 12;
  std::int64_t warmup = 100;
  double learning_rate = 2e-3, last_learning_rate = 2e-4;
  double beta1 = 0.9, beta2 = 0.99, weight_decay = 0.1;
  double clip_global_norm = 1;
};
// Loss, optimizer, schedule and clipping; metrics, precision and seed are free. Throws invalid_argument
// unless the warm-up is shorter than the training.
CompileOptions compile_options(const TransformerRecipe& recipe);

}  // namespace actorflow
