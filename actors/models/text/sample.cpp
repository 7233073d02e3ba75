#include "actors/models/text/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "actors/input/draw.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void check(std::string_view prompt, const SampleOptions& options) {
  if (prompt.empty()) throw invalid_argument("a sample needs a prompt of one character or more");
  if (options.length < 0 || options.top_k < 0 || options.context < 1)
    throw invalid_argument(fmt::format(
        "expected a length and top_k of 0 or more and a context of 1 or more, got {}, {} and {}",
        options.length, options.top_k, options.context));
  if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
    throw invalid_argument(
        fmt::format("expected a temperature of 0 or more, got {}", options.temperature));
}

// The end of the text as the model takes it: what a short text lacks comes behind it, where no position
// of the text looks.
Tensor window_of(std::span<const std::int64_t> text, std::int64_t context) {
  Tensor window = Tensor::zeros(DType::int64, {1, context});
  std::ranges::copy(text, window.mutable_values<std::int64_t>().begin());
  return window;
}

class Sampler {
 public:
  explicit Sampler(const SampleOptions& options)
      : options_(options), random_(engine_of(options.seed, 0)) {}

  std::int64_t draw(std::span<const float> logits) {
    if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }))
      throw Error(Code::failed_precondition,
                  "the model's logits are not finite; load a checkpoint from before its loss diverged");
    if (options_.temperature == 0) return std::ranges::max_element(logits) - logits.begin();
    const float least = least_of(logits);
    const double most = std::ranges::max(logits);
    std::vector<double> sums;
    double sum = 0;
    for (const float logit : logits) {
      if (logit >= least) sum += std::exp((logit - most) / options_.temperature);
      sums.push_back(sum);
    }
    const double share = static_cast<double>(random_() >> 11) * 0x1p-53;
    const double drawn = std::min(share * sum, std::nextafter(sum, 0.0));
    return std::ranges::upper_bound(sums, drawn) - sums.begin();
  }

 private:
  // The smallest logit that takes part; several may equal it.
  float least_of(std::span<const float> logits) const {
    if (options_.top_k == 0 || options_.top_k >= std::ssize(logits)) return std::ranges::min(logits);
    std::vector<float> sorted(logits.begin(), logits.end());
    std::ranges::nth_element(sorted, sorted.begin() + (options_.top_k - 1), std::greater{});
    return sorted[static_cast<std::size_t>(options_.top_k - 1)];
  }

  const SampleOptions& options_;
  std::mt19937_64 random_;
};

}  // namespace

std::string sample(Model& model, const Vocabulary& vocabulary, std::string_view prompt,
                   const SampleOptions& options) {
  check(prompt, options);
  std::vector<std::int64_t> text = vocabulary.encode(prompt);
  std::string added;
  Sampler sampler(options);
  for (std::int64_t i = 0; i < options.length; ++i) {
    const auto seen = std::min<std::size_t>(text.size(), static_cast<std::size_t>(options.context));
    const Tensor logits = model.predict(window_of(std::span(text).last(seen), options.context));
    const auto width = static_cast<std::size_t>(vocabulary.size());
    if (logits.shape() != Shape{1, options.context, vocabulary.size()})
      throw invalid_argument(
          fmt::format("the model gives {}, but a vocabulary of {} characters needs float32[1,{},{}]; "
                      "load the vocabulary "
                      "that was saved with the model",
                      logits.describe(), width, options.context, width));
    text.push_back(sampler.draw(logits.values<float>().subspan((seen - 1) * width, width)));
    const std::string character = vocabulary.decode(std::span(text).last(1));
    if (options.on_character) options.on_character(character);
    added += character;
  }
  return added;
}

}  // namespace actorflow
