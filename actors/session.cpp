#include "actors/session.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>

#include "actors/master_connection.h"
#include "actors/storage.h"
#include "dataflow/state_ops.h"

namespace actorflow {
namespace {

std::string edge_name(const Output& output) {
  return output.name() + ":" + std::to_string(output.edge.output);
}

std::string probe_name(const Variable& variable) { return "_session/is_initialized/" + variable.name(); }

// Asks whether the variable has a value; not worth a node of the program's own.
Node probe_of(const Variable& variable) {
  Node probe;
  probe.name = probe_name(variable);
  probe.op = &is_initialized_op();
  probe.attrs = {{"variable", variable.name()}};
  probe.device = variable.device();
  infer_node(probe, {});
  return probe;
}

}  // namespace

// The session's graph on the master is the program's with probes in between.
struct Session::Impl {
  Impl(std::optional<Server> own_server, const std::string& target, std::int64_t connect_timeout_ms,
       const Graph& program)
      : server(std::move(own_server)), connection(target, connect_timeout_ms), graph(program) {}

  void create(SessionOptions options);
  MasterReply call(MasterRequest request, RunMetadata* metadata = nullptr) const;
  void check_open() const;
  void extend();
  void send_probes();
  void send(std::vector<Node> nodes);
  std::string name_of(const Output& output) const;
  std::vector<std::string> names_of(const std::vector<Output>& outputs) const;
  std::vector<std::string> targets_of(const std::vector<Output>& outputs) const;

  const std::optional<Server> server;  // for a session without a target
  const MasterConnection connection;
  const Graph& graph;
  std::string handle;  // constant once created
  std::atomic<bool> closed{false};
  std::atomic<std::int64_t> epoch{0};
  std::atomic<NodeId> sent{0};  // nodes of the graph that the master has

  std::mutex mutex;               // guards the rest
  std::vector<NodeId> positions;  // of the graph's nodes on the master
  NodeId size = 0;                // of the graph there
  std::size_t probes = 0;         // variables that have one
  std::int64_t version = 0;
};

void Session::Impl::create(SessionOptions options) {
  const MasterReply reply = call(CreateSession{graph.def(), std::move(options)});
  handle = reply.session;
  version = reply.graph_version;
  size = graph.def().size();
  for (NodeId id = 0; id < size; ++id) positions.push_back(id);
  sent = size;
}

MasterReply Session::Impl::call(MasterRequest request, RunMetadata* metadata) const {
  MasterReply reply = connection.call(std::move(request));
  if (metadata) metadata->trace = std::move(reply.trace);
  throw_if_error(reply.status);
  return reply;
}

void Session::Impl::check_open() const {
  if (closed) throw Error(Code::cancelled, "Session::Close: this session has been closed");
}

void Session::Impl::extend() {
  check_open();
  if (graph.def().size() == sent) return;
  const std::lock_guard lock(mutex);
  std::vector<Node> nodes;
  std::vector<NodeId> extended = positions;
  for (NodeId id = sent; id < graph.def().size(); ++id) {
    Node node = graph.def().node(id);
    for (auto& input : node.inputs) input.node = extended[static_cast<std::size_t>(input.node)];
    for (auto& control : node.controls) control = extended[static_cast<std::size_t>(control)];
    extended.push_back(size + static_cast<NodeId>(nodes.size()));
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) return;  // another thread has sent them
  send(std::move(nodes));
  positions = std::move(extended);
  sent = static_cast<NodeId>(positions.size());
}

void Session::Impl::send_probes() {
  const std::lock_guard lock(mutex);
  std::vector<Node> nodes;
  for (auto i = probes; i < graph.variables().size(); ++i) nodes.push_back(probe_of(graph.variables()[i]));
  if (nodes.empty()) return;
  const auto count = nodes.size();
  send(std::move(nodes));
  probes += count;
}

void Session::Impl::send(std::vector<Node> nodes) {
  const auto count = static_cast<NodeId>(nodes.size());
  version = call(ExtendSession{handle, std::move(nodes), version}).graph_version;
  size += count;
}

std::string Session::Impl::name_of(const Output& output) const {
  if (output.graph != &graph) throw invalid_argument("a tensor is not part of this session's graph");
  return edge_name(output);
}

std::vector<std::string> Session::Impl::names_of(const std::vector<Output>& outputs) const {
  std::vector<std::string> names;
  for (const auto& output : outputs) names.push_back(name_of(output));
  return names;
}

std::vector<std::string> Session::Impl::targets_of(const std::vector<Output>& outputs) const {
  std::vector<std::string> names;
  for (const auto& output : outputs) {
    name_of(output);  // throws
    names.push_back(output.name());
  }
  return names;
}

Session::Session(const std::string& target, const Graph& graph, SessionOptions options,
                 std::int64_t connect_timeout_ms)
    : impl_(std::make_shared<Impl>(std::nullopt, target, connect_timeout_ms, graph)) {
  impl_->create(std::move(options));
}

Session::Session(const Graph& graph, SessionOptions options) {
  Server server = Server::local();
  const std::string target = server.target();
  impl_ = std::make_shared<Impl>(std::move(server), target, 0, graph);
  impl_->create(std::move(options));
}

Session::Session(Session&&) noexcept = default;
// The other one closes what was ours.
Session& Session::operator=(Session&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

Session::~Session() {
  if (!impl_) return;
  try {
    close();
  } catch (const Error&) {
    // The server has gone, and the session with it.
  }
}

Tensor Session::run(Output fetch, const Feeds& feeds, RunOptions options, RunMetadata* metadata) {
  return run(std::vector{fetch}, feeds, {}, options, metadata)[0];
}

std::vector<Tensor> Session::run(const std::vector<Output>& fetches, const Feeds& feeds,
                                 const std::vector<Output>& targets, RunOptions options,
                                 RunMetadata* metadata) {
  impl_->extend();
  RunStep step;
  step.session = impl_->handle;
  for (const auto& [output, value] : feeds) step.feeds.emplace_back(impl_->name_of(output), value);
  step.fetches = impl_->names_of(fetches);
  step.targets = impl_->targets_of(targets);
  step.timeout_ms = options.timeout_ms;
  step.epoch = impl_->epoch;
  step.trace = options.trace;
  return impl_->call(std::move(step), metadata).fetches;
}

void Session::extend() { impl_->extend(); }

void Session::initialize_variables() {
  std::vector<Output> initializers;
  for (const auto& variable : impl_->graph.variables()) initializers.push_back(variable.initializer());
  run(std::vector<Output>{}, {}, initializers);
}

std::vector<std::string> Session::uninitialized_variables() {
  impl_->extend();
  impl_->send_probes();
  const auto& variables = impl_->graph.variables();
  RunStep step;
  step.session = impl_->handle;
  step.epoch = impl_->epoch;
  for (const auto& variable : variables) step.fetches.push_back(probe_name(variable));
  const auto initialized = impl_->call(std::move(step)).fetches;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (!initialized[i].scalar<bool>()) missing.push_back(variables[i].name());
  return missing;
}

std::vector<DeviceInfo> Session::devices() {
  impl_->check_open();
  return impl_->call(ListDevices{impl_->handle}).devices;
}

Placement Session::placement() {
  impl_->extend();
  const auto devices = impl_->call(DescribePlacement{impl_->handle}).placement;
  Placement placement{impl_->graph.def()};
  const std::lock_guard lock(impl_->mutex);
  for (NodeId id = 0; id < placement.graph.size(); ++id)
    placement.graph.node(id).device =
        devices.at(static_cast<std::size_t>(impl_->positions[static_cast<std::size_t>(id)]));
  return placement;
}

void Session::set_epoch(std::int64_t epoch) { impl_->epoch = epoch; }
std::int64_t Session::epoch() const { return impl_->epoch; }

void Session::close() {
  if (impl_->closed.exchange(true)) return;
  const auto status = impl_->connection.call(CloseSession{impl_->handle}).status;
  // That the master does not know it any more is what was wanted.
  if (status.code != Code::aborted) throw_if_error(status);
}

void Session::reset(const std::string& target, const std::vector<std::string>& containers,
                    const std::vector<std::string>& device_filters, std::int64_t connect_timeout_ms) {
  const MasterConnection connection(target, connect_timeout_ms);
  throw_if_error(connection.call(Reset{containers, device_filters}).status);
}

struct Callable::Impl {
  std::shared_ptr<Session::Impl> session;
  std::uint64_t handle = 0;
};

Callable::Callable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Callable::Callable(Callable&&) noexcept = default;
Callable& Callable::operator=(Callable&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

Callable::~Callable() {
  if (!impl_ || impl_->session->closed) return;
  impl_->session->connection.call(ReleaseCallable{impl_->session->handle, impl_->handle});
}

Callable Session::make_callable(const std::vector<Output>& fetches, const std::vector<Output>& feeds,
                                const std::vector<Output>& targets) {
  impl_->extend();
  MakeCallable request{impl_->handle, impl_->names_of(feeds), impl_->names_of(fetches),
                       impl_->targets_of(targets)};
  const auto handle = impl_->call(std::move(request)).callable;
  return Callable(std::make_unique<Callable::Impl>(impl_, handle));
}

std::vector<Tensor> Callable::run(std::vector<Tensor> feeds, RunOptions options,
                                  RunMetadata* metadata) const {
  impl_->session->check_open();
  return impl_->session
      ->call(RunCallable{impl_->session->handle, impl_->handle, std::move(feeds), options.timeout_ms,
                         impl_->session->epoch, options.trace},
             metadata)
      .fetches;
}

void write_chrome_trace(const StepTrace& trace, const std::string& path) {
  const std::string text = to_chrome_trace(trace);
  posix_storage().write_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace actorflow
