// The pairs of a partition key by key, the values of each sorted.
#pragma once

#include <cstddef>
#include <utility>

#include "actors/jobs/partitions/groups.h"
#include "actors/jobs/sorting/record_order.h"

namespace actorflow {

// One sort, by key and value, in memory as far as they fit: no key's values are held together.
template <class K, class V, class KeyOf>
struct SortedValuesPipe : PartitionsSource {
  using Record = std::pair<K, V>;
  using Order = ValueOrder<K, V, KeyOf>;
  static constexpr bool is_cheap = false;

  Order order;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    for (auto sorted = groups(part, index); sorted.pair(); sorted.advance())
      part.feed([&] { next(Record(*sorted.pair())); });
  }
  auto groups(Part& part, std::size_t index) const {
    return KeyGroups<K, V, Order>(part, stage, index, part.memory_bytes() / 4 * 3, order);
  }
};

}  // namespace actorflow
