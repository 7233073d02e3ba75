#include "actors/client/session.h"

#include <span>
#include <utility>

#include "actors/client/session_impl.h"
#include "actors/runtime/expect_path.h"
#include "actors/runtime/storage.h"
#include "dataflow/transform/place.h"

namespace actorflow {

std::string Placement::table() const { return placement_table(graph); }
std::string Placement::dot() const { return to_dot(graph); }

Session::Session(const std::string& target, const Graph& graph, SessionOptions options,
                 std::int64_t connect_timeout_ms)
    : impl_(std::make_shared<Impl>(std::nullopt, target, connect_timeout_ms, options, graph)) {
  impl_->create(std::move(options));
}

Session::Session(const Graph& graph, SessionOptions options, const Extensions& extensions) {
  Server server = Server::local(extensions);
  const std::string target = server.target();
  impl_ = std::make_shared<Impl>(std::move(server), target, 0, options, graph);
  impl_->create(std::move(options));
}

Session::Session(Session&&) noexcept = default;
// `other` then closes the session that this object had.
Session& Session::operator=(Session&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

Session::~Session() {
  if (!impl_) return;
  try {
    close();
  } catch (...) {
    // The server is gone, and the session with it; or a simulation has ended this client.
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
  for (const auto& [output, value] : feeds) {
    const std::string what = "feed " + std::to_string(step.feeds.size()) + " of the session";
    step.feeds.emplace_back(impl_->name_of(output, what), value);
  }
  step.fetches = impl_->names_of(fetches, "fetch");
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

void Session::set_fencing_epoch(std::int64_t epoch) { impl_->epoch = epoch; }
std::int64_t Session::fencing_epoch() const { return impl_->epoch; }

void Session::close() {
  if (impl_->closed.exchange(true)) return;
  const auto status = impl_->connection.call(CloseSession{impl_->handle}).status;
  // aborted: the master does not know the session any more, which is what closing wants.
  if (status.code != Code::aborted) throw_if_error(status);
}

void Session::reset(const std::string& target, const std::vector<std::string>& containers,
                    const std::vector<std::string>& device_filters, std::int64_t connect_timeout_ms,
                    const std::string& credentials) {
  const MasterConnection connection(target, connect_timeout_ms, credentials);
  throw_if_error(connection.call(Reset{containers, device_filters}).status);
}

void write_chrome_trace(const StepTrace& trace, const std::string& path) {
  const std::string text = to_chrome_trace(trace);
  posix_storage().write_atomically(expect_path("write_chrome_trace", path),
                                   std::as_bytes(std::span(text)));
}

}  // namespace actorflow
