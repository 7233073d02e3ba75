// The master's state of a session: its graph, and the plans of the steps that it has run.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/master/planner.h"

namespace actorflow {

// Values only: no actors.
class MasterSession {
 public:
  // Throws invalid_argument as SessionSettings does.
  MasterSession(std::string handle, GraphDef graph, SessionOptions options);

  const std::shared_ptr<const SessionSettings>& settings() const { return settings_; }
  const GraphDef& graph() const { return graph_; }
  std::int64_t graph_version() const { return version_; }
  // Appends nodes and returns the new version. Throws aborted if `version` is not the present one,
  // invalid_argument for mistakes in the nodes.
  std::int64_t extend(std::vector<Node> nodes, std::int64_t version);

  const std::shared_ptr<Incarnations>& incarnations() const { return incarnations_; }

  // The tasks on which an isolated session may have variables.
  std::set<TaskId>& tasks() { return tasks_; }

  // The number of plans that are kept, besides those of callables.
  static constexpr std::size_t max_plans = 256;

  // The plan for a signature; null if there is none or it was dropped.
  PlanRef find_plan(const std::string& signature);
  // Keeps a plan, replacing an earlier one. If there are too many now, returns one for the caller to
  // drop: the least recently used one without another holder.
  PlanRef keep_plan(const std::string& signature, PlanRef plan);
  template <class Action>
  void for_each_plan(Action&& action) {
    for (auto& entry : plans_) action(*entry.second.plan);
  }

  struct Callable {
    StepKind kind;
    std::string signature;
    PlanRef plan;
  };
  std::uint64_t add_callable(Callable callable);
  // Throws not_found.
  Callable& callable(std::uint64_t number);
  void release_callable(std::uint64_t number);
  // The same, of one that its client may have released meanwhile.
  void forget_callable(std::uint64_t number) { callables_.erase(number); }

 private:
  std::shared_ptr<const SessionSettings> settings_;
  GraphDef graph_;
  std::int64_t version_ = 0;
  struct KeptPlan {
    PlanRef plan;
    std::uint64_t last_use = 0;
  };
  std::map<std::string, KeptPlan> plans_;  // by signature
  std::uint64_t uses_ = 0;
  std::set<TaskId> tasks_;
  std::shared_ptr<Incarnations> incarnations_ = std::make_shared<Incarnations>();
  std::map<std::uint64_t, Callable> callables_;
  std::uint64_t next_callable_ = 1;
};

}  // namespace actorflow
