// The results that parts hand to the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "actors/jobs/engine/parts/part.h"
#include "schema/records/heap_bytes.h"
#include "schema/records/record_codec.h"

namespace actorflow {

// Encodes a part's result. Throws invalid_argument if it is larger than what a part may hold.
template <class Result>
void set_part_result(Part& part, const Result& result) {
  part.expect_room_for(encoded_size(result), "a result");
  std::vector<std::byte> bytes(encoded_size(result));
  encode(result, bytes.data());
  part.set_result(std::move(bytes));
}

// Looks now and then whether a state that a part folds records into still fits into the part. Throws
// invalid_argument if it does not.
class StateGuard {
 public:
  explicit StateGuard(Part& part) : part_(part) {}

  template <class State>
  void look_at(const State& state) {
    if constexpr (has_heap<State>)
      if (++folds_ % folds_per_look == 0) part_.expect_room_for(heap_bytes(state), "a state");
  }

 private:
  static constexpr std::uint64_t folds_per_look = 64;

  Part& part_;
  std::uint64_t folds_ = 0;
};

// The results by part.
template <class Result>
std::vector<Result> results_of(const std::vector<PartOutcome>& outcomes) {
  std::vector<Result> all;
  all.reserve(outcomes.size());
  for (const auto& outcome : outcomes) {
    RecordReader reader(outcome.result);
    all.push_back(decode<Result>(reader));
  }
  return all;
}

}  // namespace actorflow
