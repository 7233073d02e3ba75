#include "apps/training/data/text.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "actors/models/text/text_data.h"

namespace actorflow {
namespace {

constexpr std::int64_t text_test_batch = 64;

std::string alphabet_of(const Vocabulary& vocabulary) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(vocabulary.size()));
  std::iota(numbers.begin(), numbers.end(), 0);
  return vocabulary.decode(numbers);
}

// The characters as people can see them.
std::vector<std::string> names_of(const Vocabulary& vocabulary) {
  std::vector<std::string> names;
  for (std::int64_t number = 0; number < vocabulary.size(); ++number) {
    const std::string character = vocabulary.decode({&number, 1});
    names.push_back(character == " " ? "␣" : character == "\n" ? "↵" : character);
  }
  return names;
}

}  // namespace

LabelledData load_text_blocks(const std::string& path, std::int64_t block) {
  const TextData text = load_text(posix_storage(), path);
  LabelledData data;
  data.noun = "blocks";
  data.types = {{DType::int64, {block}}, {block}, text.vocabulary.size(), alphabet_of(text.vocabulary)};
  data.class_names = names_of(text.vocabulary);
  data.train_count = std::max<std::int64_t>(1, text.train.elements() / block);
  data.training_batches = [train = text.train, block](const BatchesOfTraining& how) {
    return random_blocks(train, block, how.seed).batch(how.size);
  };
  data.test_batches = [validation = text.validation, block] {
    return consecutive_blocks(validation, block).batch(text_test_batch);
  };
  return data;
}

}  // namespace actorflow
