// This process as a task of an elastic job: training that goes on while tasks come and go, as Horovod's
// and torchrun's elastic training.
//
// A job is a sequence of worlds, each a fixed cluster as any other, with servers and graphs of its own;
// the launcher says who is a member (schema/environment/elastic_link.h). Between two worlds a task keeps
// the variables, slots and global step in memory. The first rank of a world, one with the greatest step,
// gives them to the others; no checkpoint is read while a member lives.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "actors/strategies/replica_run.h"
#include "actors/task/server.h"
#include "dataflow/values/tensor.h"
#include "schema/environment/elastic_link.h"

namespace actorflow {

// The state that a task keeps from one world to the next.
struct ElasticState {
  std::int64_t step = -1;  // -1: nothing
  Tensor bytes{};          // as read_state() has them, dataflow/train/replicated_state.h
};

// Throws invalid_argument for options that the tasks of an elastic job cannot have: they train by
// all-reduce, each with all that the others have.
void check_elastic(const ReplicaOptions& options);

// One thread alone calls run(); the rest is thread-safe.
class ElasticTask {
 public:
  // `server` gives what the launcher does not: credentials, threads, timeouts. Throws what
  // ElasticLink::of_process() throws.
  explicit ElasticTask(ServerOptions server = {});
  ElasticTask(std::shared_ptr<ElasticLink> link, ServerOptions server);

  // Calls `train` in one world after the other, until it returns something else than world_over. left:
  // the job is over, whether it has ended well the launcher knows; interrupted: this task has said that
  // it leaves. Throws what `train`, Server and ElasticLink::next_world() throw.
  ReplicaEnd run(const std::function<ReplicaEnd(Server&)>& train, const std::atomic<bool>& interrupted);
  // Stops the present server, if there is one: for a thread that watches signals, after whose patience
  // the task shall leave without its step.
  void stop(const std::string& reason);

  // In the present world, or the last one; -1 before the first.
  int rank() const { return rank_; }

  ElasticLink& link() const { return *link_; }
  // REQUIRES: called by `train`.
  ElasticState& state() { return state_; }

 private:
  ReplicaEnd train_with(Server& server, const std::function<ReplicaEnd(Server&)>& train);
  ServerOptions options_in(const ElasticWorld& world) const;

  const std::shared_ptr<ElasticLink> link_;
  const ServerOptions options_;
  ElasticState state_;
  std::atomic<int> rank_ = -1;
  std::mutex mutex_;
  Server* server_ = nullptr;
};

}  // namespace actorflow
