// Sessions: clients that run parts of a graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/task/server.h"
#include "dataflow/graph/graph.h"
#include "dataflow/graph/step_trace.h"
#include "schema/session_options.h"

namespace actorflow {

using Feeds = std::vector<std::pair<Output, Tensor>>;

struct RunOptions {
  // 0 = the session's; afterwards the step fails as deadline_exceeded. Not negative.
  std::int64_t timeout_ms = 0;
  bool trace = false;           // record every node, for RunMetadata
};

struct RunMetadata {
  StepTrace trace;  // also of a failed step, up to the failure
};

// A graph with the device of each node.
struct Placement {
  GraphDef graph;

  std::string table() const;  // a line per node: name, op, device
  std::string dot() const;    // for Graphviz
};

// Steps of one kind, planned once; made by Session::make_callable(). Thread-safe. Faster than
// Session::run(), which looks up names. Keeps the connection of its session alive, but can run only
// until the session is closed.
class Callable {
 public:
  Callable(Callable&&) noexcept;
  Callable& operator=(Callable&&) noexcept;
  ~Callable();

  // `feeds` and results are in the order of make_callable().
  std::vector<Tensor> run(std::vector<Tensor> feeds = {}, RunOptions options = {},
                          RunMetadata* metadata = nullptr) const;

 private:
  friend class Session;
  struct Impl;
  explicit Callable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Runs parts of a graph on the cluster of the server at `target`, from inside or outside of that
// cluster. The graph may grow: a call that finds new nodes sends them first. Existing nodes must not
// change, and the graph must outlive the session. Calls block; they throw Error with the root cause if
// the step fails, unavailable if the server is not reached within the connect timeout, permission_denied
// if it or this program refuses the other's credentials (SessionOptions::credentials), aborted if the
// server no longer knows the session, cancelled if it was closed here. Thread-safe: several threads may
// run steps at once, as long as none adds to the graph.
class Session {
 public:
  // `target` is "actorflow://host:port", or Server::target() of a server in this process.
  Session(const std::string& target, const Graph& graph, SessionOptions options = {},
          std::int64_t connect_timeout_ms = 60'000);
  // A session in a local server of its own, which knows the program's own ops and optimizers.
  explicit Session(const Graph& graph, SessionOptions options = {}, const Extensions& extensions = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  Tensor run(Output fetch, const Feeds& feeds = {}, RunOptions options = {},
             RunMetadata* metadata = nullptr);
  // Runs a step. Returns the values of `fetches` in their order; `targets` run too, without a result.
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds = {},
                          const std::vector<Output>& targets = {}, RunOptions options = {},
                          RunMetadata* metadata = nullptr);
  Callable make_callable(const std::vector<Output>& fetches, const std::vector<Output>& feeds = {},
                         const std::vector<Output>& targets = {});
  // Sends the new nodes of the graph; the calls above do so themselves.
  void extend();

  // Runs every variable's initializer.
  void initialize_variables();
  // The names of the variables without a value.
  std::vector<std::string> uninitialized_variables();
  // The devices that the session can use. Waits for tasks that have not answered yet.
  std::vector<DeviceInfo> devices();
  // The devices on which the nodes of the graph are placed.
  Placement placement();

  // Sets the fencing epoch of later steps, 0 at first: steps of an older epoch than a task's change
  // nothing there and fail as aborted. See epoch_fence.h.
  void set_fencing_epoch(std::int64_t epoch);
  std::int64_t fencing_epoch() const;

  // Cancels running steps. Implied by the destructor. Variables stay, except those of an isolated
  // session.
  void close();

  // Closes all sessions of the task at `target`, also those of other programs. Then clears the variables
  // of `containers` ("" is the default one) on every task of its cluster that `device_filters` allow;
  // with no containers, none.
  static void reset(const std::string& target, const std::vector<std::string>& containers = {},
                    const std::vector<std::string>& device_filters = {},
                    std::int64_t connect_timeout_ms = 60'000, const std::string& credentials = {});

 private:
  friend class Callable;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Writes to_chrome_trace() to a file. Throws Error if that fails.
void write_chrome_trace(const StepTrace& trace, const std::string& path);

}  // namespace actorflow
