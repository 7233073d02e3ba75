#include "apps/training/data/labelled_data.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "actors/checkpoint/checkpoint.h"
#include "actors/input/rows.h"

namespace actorflow {
namespace {

// A net that looks at six views of each image holds 1,200 at once, whose activations stay in the memory
// pool.
constexpr std::int64_t test_batch = 200;

Dataset converted(const Dataset& batches, const Dataset::Map& convert) {
  return convert ? batches.map(convert) : batches;
}

std::string hash_of_ends(const Tuple& rows) {
  if (rows_of(rows) == 0) return "";
  std::map<std::string, Tensor> ends;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ends[fmt::format("first {}", i)] = row_of(rows, 0)[i];
    ends[fmt::format("last {}", i)] = row_of(rows, rows_of(rows) - 1)[i];
  }
  return fmt::format("#{:016x}", hash_of(ends));
}

}  // namespace

LabelledData labelled(LabelledRows rows) {
  const Dataset::Map convert = std::move(rows.convert);
  LabelledData data{.noun = std::move(rows.noun), .types = std::move(rows.types)};
  data.train_count = rows_of(rows.train);
  data.sample = rows.train[0];
  data.ends = hash_of_ends(rows.train);
  const auto all_of = [&convert](const Tuple& part) {
    return [part, convert] { return convert ? convert(part) : part; };
  };
  data.all_to_train_on = all_of(rows.train);
  data.all_to_test_on = all_of(rows.test);
  data.training_batches = [train = std::move(rows.train), convert](const BatchesOfTraining& how) {
    if (!how.augmentation.changes_images())
      return converted(Dataset::tensors(train).shuffle({.seed = how.seed}).repeat().batch(how.size),
                       convert);
    ImageAugmentation augmentation = how.augmentation;
    augmentation.seed = how.seed;
    return augmented_images(train[0], train[1], augmentation).repeat().batch(how.size);
  };
  data.test_batches = [test = std::move(rows.test), convert] {
    return converted(Dataset::tensors(test).batch(test_batch), convert);
  };
  return data;
}

}  // namespace actorflow
