// The plans of a master: kinds of steps, cut into parts that are registered with workers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/master/incarnations.h"
#include "actors/master/running_step.h"
#include "actors/master/session_settings.h"
#include "actors/master/step_plan.h"
#include "actors/master/task_devices.h"

namespace actorflow {

struct Plan {
  std::shared_ptr<Parts> parts = std::make_shared<Parts>();
  StepKind kind;
  std::vector<TensorType> feeds;
  bool changes_variables = true;
  bool ready = false;
  bool dropped = false;  // no step will start on it any more,
  Status failure;        // for this reason

  // Called with ok when the plan is ready. It must not hold the plan, which holds it.
  using Then = std::function<void(const Status&, const Plan&)>;
  struct Waiting {
    std::uint64_t ticket = 0;
    Then then;
  };
  std::vector<Waiting> waiting;                // until it is ready or dropped
  std::shared_ptr<Incarnations> incarnations;  // that the session has seen
};
using PlanRef = std::shared_ptr<Plan>;
// Throws invalid_argument unless the feeds have the planned types: other tensors would be misread.
void check_feeds(const Plan& plan, const std::vector<Tensor>& feeds);

// Makes plans. It asks tasks for their devices if nodes want more than a CPU, places and cuts the graph,
// and registers the parts with their workers; then the plan is ready. Part of the master, which forwards
// the messages about plans.
class Planner {
 public:
  explicit Planner(TaskRef task) : task_(task), devices_(std::move(task)) {}

  // Throws Error if the names of `kind` are wrong.
  PlanRef make(const SettingsRef& session, const GraphDef& graph, const StepKind& kind);
  // Calls `then` when the plan is ready, or with the reason for which it was dropped. Returns a ticket.
  std::uint64_t wait(Plan& plan, Plan::Then then);
  // Fails that waiter with deadline_exceeded if it still waits.
  void stop_waiting(Plan& plan, std::uint64_t ticket, std::int64_t timeout_ms);
  // Fails the waiters of the plan and tells the workers to forget its parts.
  void drop(Plan& plan, const Status& reason);

  // Calls `then` with the devices that the session may use, when all of its tasks have answered.
  using DevicesThen = std::function<void(const Status&, std::vector<DeviceInfo>)>;
  void list_devices(const SettingsRef& session, DevicesThen then);
  // Calls `then` with the whole graph, placed.
  using PlacedThen = std::function<void(const Status&, const GraphDef&)>;
  void place(const SettingsRef& session, GraphDef graph, PlacedThen then);

  std::vector<TaskId> allowed_tasks(const SessionSettings& session) const;

  // Drops the plan as aborted if the session knows the task as another incarnation.
  void on_registered(const Sender& from, GraphRegistered& message);
  void on_task_status(TaskId from, TaskStatus& message) { devices_.on_status(from, message); }
  // The caller drops the plans that have a part on that task.
  void on_peer_lost(const PeerLost& message);

 private:
  struct Registration {
    PlanRef plan;
    std::size_t part = 0;
  };

  std::vector<TaskId> tasks_to_ask(const SessionSettings& session, const GraphDef& graph) const;
  static void set_ready(Plan& plan);
  void register_parts(const PlanRef& plan, std::vector<PlannedPart> parts,
                      const SessionOptions& options);

  TaskRef task_;
  TaskDevices devices_;
  std::map<std::uint64_t, Registration> registrations_;  // in progress, by request
  std::uint64_t next_request_ = 1;
  std::uint64_t next_ticket_ = 1;
};

}  // namespace actorflow
