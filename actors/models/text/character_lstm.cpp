#include "actors/models/text/character_lstm.h"

#include "actors/layers/layers.h"
#include "kernels/ops/learning_rate.h"

namespace actorflow {

Architecture character_lstm(std::int64_t characters, const CharacterLstmOptions& options) {
  const SymbolicTensor text = input({options.context}, DType::int64, "text");
  SymbolicTensor x = embedding(characters, options.width)(text);
  for (std::int64_t i = 0; i < options.layers; ++i)
    x = lstm(options.width, {.return_sequences = true, .dropout = options.dropout})(x);
  return {{text}, {dense(characters)(x)}};
}

CompileOptions compile_options(const CharacterLstmRecipe& recipe) {
  return {
      .loss = softmax_cross_entropy(),
      .optimizer = Adam{recipe.learning_rate},
      .learning_rate =
          [recipe](Output step) { return cosine_decay(recipe.learning_rate, step, recipe.steps, 0.1); },
      .clip_global_norm = recipe.clip_global_norm};
}

}  // namespace actorflow
