// A client's view of a running graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/server.h"
#include "dataflow/graph.h"

namespace actorflow {

using Feeds = std::vector<std::pair<Output, Tensor>>;

struct RunOptions {
  std::int64_t timeout_ms = 0;  // 0 = none; afterwards the step fails as deadline_exceeded
};

// Runs parts of a graph on the cluster of the server at `target`. The graph is taken as it is when the
// session is made. Calls block; they throw Error with the root cause if the step fails, and
// unavailable if the server is not reached within the connect timeout. Thread-safe: several threads
// may run steps at once.
class Session {
 public:
  // `target` is "actorflow://host:port", or what a server of this process returns.
  Session(const std::string& target, const Graph& graph, std::int64_t connect_timeout_ms = 60'000);
  // In a local server of its own.
  explicit Session(const Graph& graph);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  Tensor run(Output fetch, const Feeds& feeds = {}, RunOptions options = {});
  // Values of `fetches`, in their order; `targets` run too, without a result.
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds = {},
                          const std::vector<Output>& targets = {}, RunOptions options = {});
  // Runs every variable's initializer.
  void initialize_variables();
  // Names of the variables that have no value yet.
  std::vector<std::string> uninitialized_variables();
  // Full names of the devices that the session can use.
  std::vector<std::string> devices();
  // The fencing epoch of the steps to come, 0 until set: those of an older epoch than a task's change
  // nothing there and fail as aborted. See epoch_fence.h.
  void set_epoch(std::int64_t epoch);
  std::int64_t epoch() const;
  // Cancels what is running. Implied by the destructor.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
