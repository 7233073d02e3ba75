// The names of a group's operations on this rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "actors/collectives/engine/named_operation.h"

namespace actorflow {

// A program may make new names for ever. Of a name that was not used for long, and of which nothing is
// under way, only its count and the version of its agreement are kept: if it is used again, all agree on
// it anew. The count cannot be forgotten: it tells other ranks' messages for a use from those for
// another, and no rank knows which use the others have reached.
class OperationNames {
 public:
  // As long as there are no more names than this, nothing is forgotten.
  static constexpr std::size_t few = 4096;

  // Null if there is none, or only its count is kept.
  NamedOperation* find(std::string_view name) const;
  // REQUIRES: find() has not found it.
  NamedOperation& add(const std::string& name);
  // All but those of which only the count is kept.
  auto all() const {
    return by_name_ | std::views::values |
           std::views::transform([](const Held& held) -> NamedOperation& { return *held.operation; });
  }
  // Of every name that was used: its newest use.
  std::vector<rank_messages::UseOf> used() const;
  std::size_t held() const { return by_name_.size(); }

  // Whether it is time to forget names.
  bool are_many() const { return by_name_.size() >= many_; }
  // Those of which only the count need be kept, as they were not used since the last call.
  std::vector<NamedOperation*> unused();
  // REQUIRES: one of unused().
  void forget(const NamedOperation& operation);
  void clear();

 private:
  struct Held {
    std::unique_ptr<NamedOperation> operation;
    std::uint64_t used_before = 0;  // its uses at the last call of unused()
  };
  struct Count {
    std::uint64_t used = 0;
    std::uint32_t version = 0;
  };

  std::map<std::string_view, Held> by_name_;          // the names are those of the operations
  std::map<std::string, Count, std::less<>> counts_;  // of other names
  std::size_t many_ = few;
};

}  // namespace actorflow
