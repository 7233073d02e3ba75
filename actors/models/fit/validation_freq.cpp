#include "actors/models/fit/validation_freq.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {

ValidationFreq::ValidationFreq(int every) : every_(every) {
  if (every < 1)
    throw invalid_argument(fmt::format(
        "fit: expected a validation_freq of 1 epoch or more, got {}; leave out the validation data to "
        "validate never",
        every));
}

ValidationFreq::ValidationFreq(std::vector<int> epochs) : epochs_(std::move(epochs)) {
  if (epochs_.empty())
    throw invalid_argument("fit: a validation_freq that is a list needs the number of an epoch");
  if (const int first = std::ranges::min(epochs_); first < 1)
    throw invalid_argument(
        fmt::format("fit: validation_freq lists epochs, which are counted from 1, got {}", first));
}

bool ValidationFreq::includes(int epoch) const {
  return every_ > 0 ? epoch % every_ == 0 : std::ranges::find(epochs_, epoch) != epochs_.end();
}

}  // namespace actorflow
