// A task of a cluster in this process: an actor system with a master, a worker, a parameter shard and
// a coordinator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/held_state.h"
#include "dataflow/cluster/cluster_spec.h"
#include "dataflow/cluster/device_name.h"
#include "dataflow/values/error.h"
#include "schema/link_limits.h"

namespace actorflow {

class Dataset;
class Runtime;

struct ServerOptions {
  ClusterSpec cluster;
  std::string job;
  int task = 0;
  // How long a message to a task that cannot be reached is kept, and the connection tried again.
  std::int64_t connect_timeout_ms = 60'000;
  // A task of which nothing is heard for so long, while there is a connection to it, is lost: its steps
  // fail as unavailable. Tasks say that they are alive five times as often. 0 = never, and they do not.
  std::int64_t heartbeat_timeout_ms = 5'000;
  // A folder of `actorflow keygen`: the task proves by it who it is, and takes only connections with tasks
  // and clients that do so too. Empty: no proof, and a listening address that other machines can reach is
  // refused, unless `insecure` accepts that whoever reaches it can read and change everything.
  std::string credentials = {};
  bool insecure = false;
  // Threads that compute; 0 = one per core. Fewer where several tasks share a machine: each then has
  // cores of its own to divide large kernels among.
  int num_threads = 0;
  // For so long after a message the network's thread looks for the next one before it sleeps: answers
  // come sooner, for up to a core meanwhile. Worth it where a core is left over; about 50 then.
  std::int64_t spin_us = 0;
  // What another task, or a client, may have sent here in large tensors that are still alive. A tensor
  // above it fails its step with resource_exhausted, and so does one that waits for such memory while
  // nothing of it is given back for full_window_timeout_ms.
  std::size_t max_incoming_bytes = default_max_incoming_bytes;
  std::int64_t full_window_timeout_ms = default_full_window_timeout_ms;
  // Which of the task's processes this is, from 1 on (checkpoint/start_number.h): one with a greater number is
  // newer, also to a task that meets them in another order. 0 = unknown: who is met later is newer.
  std::uint32_t start_number = 0;
  // Actors of tasks with the same runtime share its threads and settings; none: a runtime of its own.
  std::shared_ptr<Runtime> runtime;
};

// Thread-safe. Tasks may be started in any order: messages to one that is not there yet wait for it.
class Server {
 public:
  // Starts the task, listening on its address in the cluster. Throws invalid_argument if the task is
  // not in the cluster, unavailable if the port is taken, permission_denied for an address that others
  // reach without credentials, not_found or failed_precondition for credentials that are of no use.
  explicit Server(ServerOptions options);
  // A cluster of one task, "/job:local/task:0", without a port.
  static Server local();
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  // Ends the task: its steps fail as cancelled. What it sent before still goes out.
  ~Server();

  // What a Session takes to reach this server: "actorflow://127.0.0.1:2222", or "local://1" without a
  // port.
  const std::string& target() const;
  const TaskName& name() const;
  const ClusterSpec& cluster() const;
  const std::shared_ptr<Runtime>& runtime() const;

  // Runs a dataset on this task, for the IteratorGetNext nodes that name it (dataflow/ops/queue_ops.h).
  // The stages' functions may be called as long as the server lives. Throws already_exists if the name
  // is taken.
  void serve_input(const std::string& name, const Dataset& dataset);
  // The next step gets element number `position`, from 0. Throws not_found if there is no such input, and
  // what reading throws.
  void skip_input_to(const std::string& name, std::int64_t position);

  // Blocks until the job is over: the chief has called shutdown_cluster(), or stop() was called.
  // Returns the reason.
  std::string join();
  // The same, at most for so long. Whether the job is over.
  bool join_for(std::int64_t timeout_ms);
  // Ends join(), and fails the steps of this task's sessions that are running as cancelled; what they begin
  // later runs, so that a job can be saved. Safe to call from a signal-watching thread.
  void stop(const std::string& reason);
  bool stopping() const;
  // Why the job has failed, as fail_cluster() of another task has said; ok if it goes on or has ended well.
  Status failure() const;
  // Another process has taken this task's place while this one was stopped or cut off: why it must end,
  // and leave the job alone; "" as long as that is not so. The job is over for it, and the others hear
  // nothing of it any more.
  std::string replaced() const;

  // The end of a training job, in the order of calls. A replica says that its part is done:
  void announce_done(const TaskName& chief);
  // The chief waits until every other replica has said so, is gone or cannot be reached; at most
  // `timeout_ms`, after which it returns those that are still missing. A replica that has been started
  // again meanwhile counts anew.
  std::vector<TaskName> wait_until_done(const std::vector<TaskName>& replicas, std::int64_t timeout_ms);
  // Tells every other task that the job is over.
  void shutdown_cluster(const std::string& reason);
  // The same for a job that has failed: every task ends with this error. REQUIRES: `why` is not ok.
  void fail_cluster(const Status& why);

  // What the task's actors hold now.
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
  explicit LocalCluster(const std::vector<Job>& jobs, int num_threads = 0);
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
