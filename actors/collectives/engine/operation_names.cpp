#include "actors/collectives/engine/operation_names.h"

#include <algorithm>

namespace actorflow {

NamedOperation* OperationNames::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second.operation.get();
}

NamedOperation& OperationNames::add(const std::string& name) {
  const auto before = counts_.find(name);
  const Count count = before == counts_.end() ? Count() : before->second;
  auto operation = std::make_unique<NamedOperation>(name, count.used, count.version);
  NamedOperation& added = *operation;
  by_name_.emplace(added.name(), Held{std::move(operation), count.used});
  if (before != counts_.end()) counts_.erase(before);
  return added;
}

std::vector<rank_messages::UseOf> OperationNames::used() const {
  std::vector<rank_messages::UseOf> newest;
  for (const auto& [name, count] : counts_) newest.push_back({name, count.used});
  for (const NamedOperation& operation : all()) newest.push_back(operation.of());
  return newest;
}

std::vector<NamedOperation*> OperationNames::unused() {
  std::vector<NamedOperation*> unused;
  for (auto& [name, held] : by_name_) {
    NamedOperation& operation = *held.operation;
    if (held.used_before == operation.used() && operation.idle() && operation.nothing_waits())
      unused.push_back(&operation);
    held.used_before = operation.used();
  }
  many_ = std::max(few, 2 * (by_name_.size() - unused.size()));
  return unused;
}

void OperationNames::forget(const NamedOperation& operation) {
  counts_.emplace(operation.name(), Count{operation.used(), operation.version()});
  by_name_.erase(operation.name());
}

void OperationNames::clear() {
  by_name_.clear();
  counts_.clear();
}

}  // namespace actorflow
