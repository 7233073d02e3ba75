// LSTMs that foretell the next character of a text, after char-rnn (Karpathy 2015).
#pragma once

#include <cstdint>

#include "actors/layers/functional.h"
#include "actors/models/network/compile_options.h"

namespace actorflow {

struct CharacterLstmOptions {
  std::int64_t context = 64;  // characters that it sees; their states begin as zeros
  std::int64_t layers = 2, width = 128;
  double dropout = 0;  // of what comes into each layer
};
// Numbers of characters, int64 [batch, context] -> logits [batch, context, characters]: at each position
// of the character that follows it.
Architecture character_lstm(std::int64_t characters, const CharacterLstmOptions& options = {});

// Adam, whose rate falls as a cosine to a tenth, and clipped gradients.
struct CharacterLstmRecipe {
  std::int64_t steps = 2000, batch_size = 32;
  double learning_rate = 5e-3;
  double clip_global_norm = 1;
};
// Loss, optimizer, schedule and clipping; metrics, precision and seed are free.
CompileOptions compile_options(const CharacterLstmRecipe& recipe);

}  // namespace actorflow
