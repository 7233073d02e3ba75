#include "actors/session.h"

#include <atomic>
#include <optional>

#include "actors/local_servers.h"
#include "dataflow/state_ops.h"
#include "kernels/kernel.h"
#include "schema/master_client.h"

namespace actorflow {
namespace {

constexpr std::string_view scheme = "actorflow://";

constexpr std::string_view probe_suffix = "/is_initialized";

// The graph with a probe for each variable, which is not worth a node of the program's own.
GraphDef with_probes(const Graph& graph) {
  GraphDef def = graph.def();
  for (const auto& variable : graph.variables()) {
    Node probe;
    probe.name = variable.name() + std::string(probe_suffix);
    probe.op = &is_initialized_op();
    probe.attrs = {{"variable", variable.name()}};
    probe.device = variable.device();
    infer_node(probe, {});
    def.nodes.push_back(std::move(probe));
  }
  return def;
}

std::string edge_name(const Output& output) {
  return output.name() + ":" + std::to_string(output.edge.output);
}

}  // namespace

struct Session::Impl {
  MasterReply call(MasterRequest request) const {
    MasterReply reply = remote ? remote->call(request) : master->call(std::move(request));
    throw_if_error(reply.status);
    return reply;
  }

  const Graph* graph = nullptr;
  NodeId nodes = 0;                   // of the graph when the session was made
  std::optional<Server> owned;        // for a session without a target
  std::optional<LocalMaster> master;  // in this process, or
  std::unique_ptr<MasterClient> remote;
  std::string handle;
  std::atomic<std::int64_t> epoch{0};
};

Session::Session(const std::string& target, const Graph& graph, std::int64_t connect_timeout_ms)
    : impl_(std::make_unique<Impl>()) {
  impl_->graph = &graph;
  impl_->nodes = graph.def().size();
  impl_->master = local_servers().find(target);
  if (!impl_->master) {
    if (!target.starts_with(scheme))
      throw invalid_argument("unknown session target '" + target +
                             "'; expected actorflow://host:port, or the target() "
                             "of a server of this process");
    impl_->remote = std::make_unique<MasterClient>(target.substr(scheme.size()),
                                                   cpu_device().allocator(), connect_timeout_ms);
  }
  impl_->handle = impl_->call(CreateSession{with_probes(graph)}).session;
}

Session::Session(const Graph& graph) : impl_(std::make_unique<Impl>()) {
  impl_->owned = Server::local();
  impl_->graph = &graph;
  impl_->nodes = graph.def().size();
  impl_->master = local_servers().find(impl_->owned->target());
  impl_->handle = impl_->call(CreateSession{with_probes(graph)}).session;
}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Session::~Session() {
  if (!impl_) return;
  try {
    close();
  } catch (const Error&) {
    // The server has gone, and the session with it.
  }
}

Tensor Session::run(Output fetch, const Feeds& feeds, RunOptions options) {
  return run(std::vector{fetch}, feeds, {}, options)[0];
}

std::vector<Tensor> Session::run(const std::vector<Output>& fetches, const Feeds& feeds,
                                 const std::vector<Output>& targets, RunOptions options) {
  const auto check = [this](const Output& output) {
    if (output.graph != impl_->graph || output.edge.node >= impl_->nodes)
      throw invalid_argument(
          "a tensor is not part of this session's graph as it was when the session was made");
  };
  RunStep step;
  step.session = impl_->handle;
  step.timeout_ms = options.timeout_ms;
  step.epoch = impl_->epoch;
  for (const auto& [output, value] : feeds) {
    check(output);
    step.feeds.emplace_back(edge_name(output), value);
  }
  for (const auto& output : fetches) {
    check(output);
    step.fetches.push_back(edge_name(output));
  }
  for (const auto& output : targets) {
    check(output);
    step.targets.push_back(output.name());
  }
  return impl_->call(std::move(step)).fetches;
}

void Session::initialize_variables() {
  std::vector<Output> initializers;
  for (const auto& variable : impl_->graph->variables()) initializers.push_back(variable.initializer());
  run(std::vector<Output>{}, {}, initializers);
}

std::vector<std::string> Session::uninitialized_variables() {
  const auto& variables = impl_->graph->variables();
  RunStep step;
  step.session = impl_->handle;
  for (const auto& variable : variables)
    step.fetches.push_back(variable.name() + std::string(probe_suffix));
  const auto initialized = impl_->call(std::move(step)).fetches;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (!initialized[i].scalar<bool>()) missing.push_back(variables[i].name());
  return missing;
}

std::vector<std::string> Session::devices() { return impl_->call(ListDevices{}).devices; }

void Session::set_epoch(std::int64_t epoch) { impl_->epoch = epoch; }
std::int64_t Session::epoch() const { return impl_->epoch; }

void Session::close() {
  if (!impl_->handle.empty()) impl_->call(CloseSession{std::exchange(impl_->handle, {})});
}

}  // namespace actorflow
