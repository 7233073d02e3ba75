#include "actors/master/master_session.h"

#include <fmt/format.h>

#include <utility>

namespace actorflow {

MasterSession::MasterSession(std::string handle, GraphDef graph, SessionOptions options)
    : settings_(std::make_shared<SessionSettings>(std::move(handle), std::move(options))),
      graph_(std::move(graph)) {}

std::int64_t MasterSession::extend(std::vector<Node> nodes, std::int64_t version) {
  if (version != version_)
    throw Error(
        Code::aborted,
        fmt::format("the graph of session '{}' is at version {}, but the extension is for version "
                    "{}; another client has extended it",
                    settings_->handle, version_, version));
  extend_graph(graph_, std::move(nodes));
  return ++version_;
}

PlanRef MasterSession::find_plan(const std::string& signature) {
  const auto found = plans_.find(signature);
  if (found == plans_.end() || found->second.plan->dropped) return nullptr;
  found->second.last_use = ++uses_;
  return found->second.plan;
}

PlanRef MasterSession::keep_plan(const std::string& signature, PlanRef plan) {
  plans_[signature] = {std::move(plan), ++uses_};
  if (plans_.size() <= max_plans) return nullptr;
  auto oldest = plans_.end();
  for (auto entry = plans_.begin(); entry != plans_.end(); ++entry)
    if (entry->second.plan.use_count() == 1 &&
        (oldest == plans_.end() || entry->second.last_use < oldest->second.last_use))
      oldest = entry;
  if (oldest == plans_.end()) return nullptr;
  PlanRef dropped = std::move(oldest->second.plan);
  plans_.erase(oldest);
  return dropped;
}

std::uint64_t MasterSession::add_callable(Callable callable) {
  callables_.emplace(next_callable_, std::move(callable));
  return next_callable_++;
}

MasterSession::Callable& MasterSession::callable(std::uint64_t number) {
  if (const auto found = callables_.find(number); found != callables_.end()) return found->second;
  throw Error(Code::not_found,
              fmt::format("session '{}' has no callable {}; it was released, or never made",
                          settings_->handle, number));
}

void MasterSession::release_callable(std::uint64_t number) {
  callable(number);  // throws
  callables_.erase(number);
}

}  // namespace actorflow
