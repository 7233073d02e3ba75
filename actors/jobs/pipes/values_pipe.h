// The pipe of values that the program has given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "schema/records/key.h"
#include "schema/records/record_codec.h"

namespace actorflow {

// The number of the values and a hash of their encodings.
template <class T>
std::string describe_values(const std::vector<T>& values) {
  constexpr std::size_t block_bytes = std::size_t{1} << 20;
  std::uint64_t hash = 0;
  std::vector<std::byte> block(sizeof hash);  // the hash of the blocks before, then values
  const auto close_block = [&] {
    std::memcpy(block.data(), &hash, sizeof hash);
    hash = hash_bytes(block);
    block.resize(sizeof hash);
  };
  for (const T& value : values) {
    const std::size_t begin = block.size();
    block.resize(begin + encoded_size(value));
    encode(value, block.data() + begin);
    if (block.size() >= block_bytes) close_block();
  }
  close_block();
  return std::to_string(values.size()) + " values (hash " + std::to_string(hash) + ")";
}

// Records that the program has given as values.
template <class T>
struct ValuesPipe {
  using Record = T;
  static constexpr bool is_cheap = true;

  std::shared_ptr<const std::vector<T>> values;
  std::size_t parts;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    const std::size_t first = values->size() * index / parts,
                      last = values->size() * (index + 1) / parts;
    part.feed(
        last - first, [&](std::uint64_t i) { return T((*values)[first + i]); }, next);
    part.has_read(0, last - first);
  }
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    run(part, index, next);
    return 1;
  }
  SourceFacts facts() const {
    return {[] {},
            [n = parts] { return n; },
            [v = values] { return v->size() * sizeof(T); },
            {},
            [v = values] { return describe_values(*v); }};
  }
  void describe(PlanStage& plan) const { plan.operators.push_back(*op); }
};

}  // namespace actorflow
