// Text by a trained model of characters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "actors/models/model.h"
#include "actors/models/text/vocabulary.h"

namespace actorflow {

struct SampleOptions {
  std::int64_t length = 500;  // characters to add
  // Divides the logits: below 1 likely characters become likelier. 0: always takes the likeliest.
  double temperature = 1;
  std::int64_t top_k = 0;  // draws among that many likeliest ones; 0: among all
  std::uint64_t seed = 1;
  std::int64_t context = 64;  // of the model: TransformerOptions::context
  std::function<void(std::string_view character)> on_character{};  // as soon as it is drawn
};
// What the model adds to the prompt; the same options give the same text. Each character costs one
// prediction over the whole context, however long the text is. Throws invalid_argument for an empty
// prompt, for characters that the vocabulary lacks, for options out of their range, and if the model has
// another context or another number of characters; failed_precondition if its logits are not finite.
std::string sample(Model& model, const Vocabulary& vocabulary, std::string_view prompt,
                   const SampleOptions& options = {});

}  // namespace actorflow
