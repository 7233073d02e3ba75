// A task of a cluster in this process: an actor system with a master, a worker, a parameter shard and
// a coordinator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/held_state.h"
#include "actors/named/options.h"
#include "dataflow/cluster/cluster_spec.h"
#include "dataflow/cluster/device_name.h"
#include "dataflow/values/error.h"
#include "kernels/library/library.h"
#include "schema/link_limits.h"

namespace actorflow {

class ActorRef;
class Dataset;
class NamedActor;
class Runtime;
struct TaskContext;

struct ServerOptions {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  // The time for which messages to an unreachable task are kept and connecting is retried.
  std::int64_t connect_timeout_ms = 60'000;
  // The time of silence after which a connected task is lost: its steps fail as unavailable. Tasks send
  // a sign of life five times as often. 0 = tasks are never lost by silence, and send none.
  std::int64_t heartbeat_timeout_ms = 5'000;
  // A folder of `actorflow keygen`: the task proves its identity with it, and accepts only tasks and
  // clients that do so, too. Empty: no authentication, and a listening address that other machines can
  // reach is refused unless `insecure` is set: anyone who reaches it can then read and change
  // everything.
  std::string credentials = {};
  bool insecure = false;
  // Threads that compute; 0 = one per core. Use fewer where several tasks share a machine, so that each
  // has cores of its own for the parts of large kernels.
  int num_threads = 0;
  // How long the network's thread polls after a message before it sleeps: answers come sooner, for up to
  // a core. Useful where a core is idle; then about 50.
  std::int64_t spin_us = 0;
  // The limit of large tensors from one task or client that are alive here. A tensor above it fails its
  // step with resource_exhausted, and so does one that waits for this memory while none of it is
  // released for full_window_timeout_ms.
  std::size_t max_incoming_bytes = default_max_incoming_bytes;
  // The limit of large tensors of all tasks together that lie in this task's own memory. A task that has
  // none alive here may send one message all the same; what is over the limit waits in the same way. 0:
  // half of the machine's memory, but no less than max_incoming_bytes.
  std::size_t incoming_budget_bytes = 0;
  std::int64_t full_window_timeout_ms = default_full_window_timeout_ms;
  // The tasks and clients that may be connected to this task; others are turned away.
  int max_connections = default_max_connections;
  // The number of this process among those of the task, from 1 on (checkpoint/start_number.h): a greater
  // number is newer, also for a task that meets them in another order. 0 = unknown: the process that is
  // met later is newer.
  std::uint32_t start_number = 0;
  // The program's own ops and optimizers, the same for every task of the cluster.
  Extensions extensions = {};
  // The runtime, whose threads, settings and extensions tasks may share; none: a runtime of its own.
  std::shared_ptr<Runtime> runtime;
};

// A task. Thread-safe. Tasks may be started in any order: messages to a task that is not there yet wait
// for it.
class Server {
 public:
  // Starts the task, listening on its address in the cluster. Throws invalid_argument if the task is not
  // in the cluster, already_exists if the port is taken, permission_denied for an address that other
  // machines can reach without credentials, not_found or failed_precondition for unusable credentials.
  explicit Server(ServerOptions options);
  // A cluster of one task, "/job:local/task:0", without a port.
  static Server local(const Extensions& extensions = {});
  // The same in a runtime that tasks share.
  static Server local(std::shared_ptr<Runtime> runtime);
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  // Ends the task: its steps fail as cancelled. Messages that it sent before are still delivered.
  ~Server();

  // The target with which a Session reaches this server: "actorflow://127.0.0.1:2222", or "local://1"
  // without a port.
  const std::string& target() const;
  const TaskName& name() const;
  const ClusterSpec& cluster() const;
  // ServerOptions::connect_timeout_ms.
  std::int64_t connect_timeout_ms() const;
  const std::shared_ptr<Runtime>& runtime() const;

  // Runs a dataset on this task, for the IteratorGetNext nodes that name it (dataflow/ops/queue_ops.h).
  // The functions of its stages may be called until the server ends. Throws already_exists if the name
  // is taken.
  void serve_input(const std::string& name, const Dataset& dataset);
  // Makes the next step get element number `position`, from 0. Throws not_found if there is no such
  // input, and what reading throws.
  void skip_input_to(const std::string& name, std::int64_t position);

  // Puts an actor on this task, where others reach it by its name (named/named_actor.h). `make` is
  // called now, and by the actor each time that it begins anew after a failure. The actor ends with the
  // server. Throws already_exists if the name is taken, and what `make` throws.
  void spawn(const std::string& name, std::function<std::unique_ptr<NamedActor>()> make,
             const SpawnOptions& options = {});
  // The actor of that name on a task of the cluster, "/job:worker/task:1" (named/actor_ref.h). Whether
  // it is there, the first message says. Throws invalid_argument if there is no such task.
  ActorRef find(const std::string& task, const std::string& name, const ActorRefOptions& options = {});

  // Blocks until the job is over: the chief has called shutdown_cluster(), or stop() was called.
  // Returns the reason.
  std::string join();
  // Blocks at most for `timeout_ms`; returns whether the job is over.
  bool join_for(std::int64_t timeout_ms);
  // Ends join(), and fails the running steps of this task's sessions as cancelled; later steps run, so
  // that a job can be saved. Safe to call from a thread that watches signals.
  void stop(const std::string& reason);
  bool stopping() const;
  // The error of the job, as another task has reported it by fail_cluster(); ok if the job goes on or
  // has ended well.
  Status failure() const;
  // The reason why this process must end if another one has taken its task's place while it was stopped
  // or cut off; otherwise "". The job is over for a replaced process, and the other tasks ignore it.
  std::string replaced() const;

  // The end of a training job, in the order of calls. Tells the chief that the part of this replica is
  // done.
  void announce_done(const TaskName& chief);
  // For the chief: waits until every other replica is done, has gone or cannot be reached, at most for
  // `timeout_ms`; returns those that are missing then. A replica that was restarted meanwhile must be
  // done again.
  std::vector<TaskName> wait_until_done(const std::vector<TaskName>& replicas, std::int64_t timeout_ms);
  // Tells every other task that the job is over; steps that they still run fail as cancelled.
  void shutdown_cluster(const std::string& reason);
  // Tells every other task that the job has failed; each ends with this error. REQUIRES: `why` is not
  // ok.
  void fail_cluster(const Status& why);

  // The task's actors, for the folders that build on this one, and for tests (core/task_context.h).
  // Whoever holds it when the server is destroyed keeps that waiting: let go of it first.
  std::shared_ptr<const TaskContext> context() const;

  // Counts of what the task's actors hold now.
  HeldState held() const;

 private:
  friend class LocalCluster;
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Throws failed_precondition if the server's process has been replaced.
void check_not_replaced(const Server& server);
// Throws the error of fail_cluster() if another task has called it.
void throw_if_failed(const Server& server);

// Several tasks in this process, on one pool of threads, that pass tensors by handle.
// `num_threads` 0 = one per core.
class LocalCluster {
 public:
  struct Job {
    std::string name;
    int tasks = 1;
  };
  explicit LocalCluster(const std::vector<Job>& jobs, int num_threads = 0,
                        const Extensions& extensions = {});
  LocalCluster(const std::vector<Job>& jobs, const std::shared_ptr<Runtime>& runtime);
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;
  ~LocalCluster();

  // Throws invalid_argument if there is no such task.
  Server& server(const std::string& job, int task);
  const ClusterSpec& cluster() const { return spec_; }

 private:
  ClusterSpec spec_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace actorflow
