// What a replica does in addition in an elastic job. For running_replica.h only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/monitored/monitored_session.h"
#include "actors/strategies/elastic_task.h"
#include "actors/task/server.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// Not thread-safe. REQUIRES: all outlive this.
class ElasticReplica {
 public:
  // Adds its nodes to a graph with all variables. `tasks`: those of the replicas, in order. Throws
  // invalid_argument for options that an elastic job cannot have.
  ElasticReplica(ElasticTask& task, const ReplicaOptions& options, Server& server, Graph& graph,
                 const std::vector<std::string>& tasks, int replica);
  ~ElasticReplica();

  // Before there is a session: the first replica gets the values that this task has kept, if any;
  // returns whether it did. From here on the server stops if the world is over.
  bool give_state();
  // Call when there is a session, or there will be none. False if the world is over. From here on the
  // server goes on if the world ends, so that no step is cancelled in the middle of its updates.
  bool begin_steps();
  // After the last step the server stops again if the world is over.
  void end_steps();
  // Runs a step. False if it was lost with a member of the world, and has changed nothing.
  bool survives(const std::function<void()>& step);
  // After a step: whether all leave this world here, as they have voted. Every replica calls it after
  // the same steps.
  bool all_leave(Session& session, std::int64_t step, bool interrupted);
  // Keeps the values for the next world, unless there is no session: then those kept before are newer.
  void keep_state(MonitoredSession& session);

  bool is_over() const { return task_.link().is_over(); }

 private:
  std::int64_t steps_to_next_vote(std::int64_t step);

  ElasticTask& task_;
  Server& server_;
  Graph& graph_;
  const bool is_first_;
  Output bytes_, assigned_, read_;  // fed; a node; uint8 [n]
  Output own_vote_, vote_;  // int64 [2]: whether to leave, and after how many steps to vote again
  std::int64_t next_vote_ = 0, last_vote_ = -1;
  Clock::time_point voted_at_{};
};

}  // namespace actorflow
