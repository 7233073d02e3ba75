// The results that parts hand to the program.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "actors/jobs/engine/part.h"
#include "schema/records/record_codec.h"

namespace actorflow {

// Encodes a part's result. Throws resource_exhausted if it is larger than what a part may hold.
template <class Result>
void set_part_result(Part& part, const Result& result) {
  part.expect_room_for(encoded_size(result));
  std::vector<std::byte> bytes(encoded_size(result));
  encode(result, bytes.data());
  part.set_result(std::move(bytes));
}

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
