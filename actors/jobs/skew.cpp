#include "actors/jobs/skew.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/jobs/held_values.h"
#include "dataflow/values/error.h"

namespace actorflow {

void HeaviestKey::log(const PlanOperator& op, const Part& part, std::uint64_t all_pairs) const {
  if (pairs_ >= many && pairs_ > all_pairs / 2)
    spdlog::info("{}: the key {} has {} of the {} pairs of part {}", op.to_string(), key_, pairs_,
                 all_pairs, part.index());
}

void log_divided_key(const PlanOperator& op, const DividedKey& divided) {
  spdlog::info(
      "{}: the key {} has about {:.0f} % of the {} side: it is divided over {} of {} partitions",
      op.to_string(), divided.key, 100 * divided.share, divided.side, divided.ways, divided.partitions);
}

void expect_to_fit(const PlanOperator& op, std::size_t bytes, std::size_t most_bytes) {
  if (bytes > most_bytes)
    throw Error(Code::resource_exhausted,
                fmt::format("{}: the value of one key has grown to {} bytes, and a part may hold {}: "
                            "bring the values together by group_by_key(f), or give more --memory",
                            op.to_string(), bytes, most_bytes));
}

}  // namespace actorflow
