#include "actors/task/server.h"

#include <caf/send.hpp>

#include "actors/core/ask.h"
#include "actors/runtime/threaded_runtime.h"
#include "actors/task/local_servers.h"
#include "actors/task/server_impl.h"
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {

namespace {

// Throws one invalid_argument for all numbers that make no sense.
void check(const ServerOptions& options) {
  std::string mistakes;
  const auto expect = [&mistakes](const char* name, std::int64_t value, std::int64_t least) {
    if (value < least)
      mistakes += "\nServerOptions::" + std::string(name) + " must be " + std::to_string(least) +
                  " or more, got " + std::to_string(value);
  };
  expect("connect_timeout_ms", options.connect_timeout_ms, 0);
  expect("heartbeat_timeout_ms", options.heartbeat_timeout_ms, 0);
  expect("num_threads", options.num_threads, 0);
  expect("spin_us", options.spin_us, 0);
  expect("full_window_timeout_ms", options.full_window_timeout_ms, 0);
  expect("max_connections", options.max_connections, 1);
  if (!mistakes.empty()) throw invalid_argument("a server cannot be made of these options:" + mistakes);
}

}  // namespace

Server::Server(ServerOptions options) {
  check(options);
  if (options.runtime && (!options.credentials.empty() || options.insecure))
    throw invalid_argument("a server in a shared runtime has the credentials of that runtime");
  if (options.runtime && !options.extensions.empty())
    throw invalid_argument("a server in a shared runtime has the extensions of that runtime");
  if (!options.runtime)
    options.runtime = std::make_shared<ThreadedRuntime>(
        RuntimeOptions{.num_threads = options.num_threads,
                       .credentials = options.credentials,
                       .insecure = options.insecure,
                       .spin_us = options.spin_us,
                       .max_incoming_bytes = options.max_incoming_bytes,
                       .incoming_budget_bytes = options.incoming_budget_bytes,
                       .full_window_timeout_ms = options.full_window_timeout_ms,
                       .max_connections = options.max_connections,
                       .extensions = options.extensions});
  impl_ = std::make_unique<Impl>(std::move(options), Impl::Peers::by_port);
  local_servers().add(impl_->target, {impl_->runtime, impl_->task->master});
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  local_servers().add(impl_->target, {impl_->runtime, impl_->task->master});
}

Server Server::local(const Extensions& extensions) {
  return local(std::make_shared<ThreadedRuntime>(RuntimeOptions{.extensions = extensions}));
}

Server Server::local(std::shared_ptr<Runtime> runtime) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"local", {"localhost:0"}}};
  options.job = "local";
  options.runtime = std::move(runtime);
  return Server(std::make_unique<Impl>(std::move(options), Impl::Peers::none));
}

Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

const std::string& Server::target() const { return impl_->target; }
const TaskName& Server::name() const { return impl_->task->self.name; }
const ClusterSpec& Server::cluster() const { return impl_->options.cluster; }

std::int64_t Server::connect_timeout_ms() const { return impl_->options.connect_timeout_ms; }

const std::shared_ptr<Runtime>& Server::runtime() const { return impl_->runtime; }

void Server::serve_input(const std::string& name, const Dataset& dataset) {
  impl_->inputs.serve(name, dataset, *impl_->runtime, impl_->task->self.name, impl_->task->queues);
}
void Server::skip_input_to(const std::string& name, std::int64_t position) {
  impl_->inputs.skip_to(name, position, *impl_->runtime);
}

void Server::spawn(const std::string& name, std::function<std::unique_ptr<NamedActor>()> make,
                   const SpawnOptions& options) {
  impl_->named.spawn(impl_->task, *impl_->runtime, name, std::move(make), options);
}
ActorRef Server::find(const std::string& task, const std::string& name, const ActorRefOptions& options) {
  return impl_->named.find(impl_->task, impl_->runtime, task, name, options);
}

std::string Server::join() { return impl_->job.wait_for_stop(); }
bool Server::join_for(std::int64_t timeout_ms) {
  return impl_->job.wait_for_stop(std::chrono::milliseconds(timeout_ms));
}
void Server::stop(const std::string& reason) {
  impl_->job.stop(reason);
  const std::string why = name().to_string() + " was stopped: " + reason;
  caf::anon_send(impl_->task->master, StopSteps{{Code::cancelled, why}});
  caf::anon_send(impl_->task->collectives, JobOver{{Code::aborted, why}});
}
bool Server::stopping() const { return impl_->job.stopped(); }
Status Server::failure() const { return impl_->job.failure(); }
std::string Server::replaced() const { return impl_->job.replaced(); }

void check_not_replaced(const Server& server) {
  if (const auto why = server.replaced(); !why.empty()) throw Error(Code::failed_precondition, why);
}

void throw_if_failed(const Server& server) { throw_if_error(server.failure()); }

void Server::announce_done(const TaskName& chief) {
  impl_->tell_task(impl_->task->id_of(chief), ReplicaDone{});
}

std::vector<TaskName> Server::wait_until_done(const std::vector<TaskName>& replicas,
                                              std::int64_t timeout_ms) {
  for (const auto& replica : replicas)
    if (const TaskId id = impl_->task->id_of(replica); id != impl_->task->own) impl_->attend(id);
  return impl_->job.wait_until_left(replicas, std::chrono::milliseconds(timeout_ms));
}

void Server::shutdown_cluster(const std::string& reason) { impl_->end_job({reason}); }
void Server::fail_cluster(const Status& why) {
  ACTORFLOW_CHECK(!why.ok(), "a job fails with the status", why.to_string());
  impl_->end_job({why.message, why.code});
}

std::shared_ptr<const TaskContext> Server::context() const { return impl_->task; }

HeldState Server::held() const {
  HeldState sum;
  for (const auto& actor : {impl_->task->master, impl_->task->worker, impl_->task->rendezvous}) {
    const auto held = ask<HeldState>(*impl_->runtime, [&](std::function<void(HeldState)> answer) {
      caf::anon_send(actor, Census{std::move(answer)});
    });
    if (held) sum += *held;
  }
  return sum;
}

}  // namespace actorflow
