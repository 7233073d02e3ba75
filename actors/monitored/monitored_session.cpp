#include "actors/monitored/monitored_session.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <new>
#include <optional>
#include <utility>

#include "actors/monitored/hooked_steps.h"
#include "actors/monitored/hooks.h"
#include "actors/monitored/session_maker.h"
#include "actors/monitored/step_losses.h"
#include "actors/probes/point.h"
#include "actors/runtime/runtime.h"
#include "dataflow/train/replicate.h"
#include "dataflow/transform/optimise.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Point lost_step("a step lost and made again");

// The pause before another session where none has made a step since the last loss: what it is takes
// time.
constexpr std::int64_t retry_ms = 100;

void check_numbers(const MonitoredOptions& options) {
  const std::array<std::pair<const char*, double>, 12> numbers{
      {{"save_checkpoint.steps", static_cast<double>(options.save_checkpoint.steps)},
       {"save_checkpoint.seconds", options.save_checkpoint.seconds},
       {"save_summaries.steps", static_cast<double>(options.save_summaries.steps)},
       {"save_summaries.seconds", options.save_summaries.seconds},
       {"log_step_count_steps", static_cast<double>(options.log_step_count_steps)},
       {"max_wait_secs", options.max_wait_secs},
       {"max_rollbacks", options.max_rollbacks},
       {"last_step", static_cast<double>(options.last_step)},
       {"max_to_keep", options.max_to_keep},
       {"longest_hold_ms", static_cast<double>(options.longest_hold_ms)},
       {"connect_timeout_ms", static_cast<double>(options.connect_timeout_ms)},
       {"session.step_timeout_ms", static_cast<double>(options.session.step_timeout_ms)}}};
  for (const auto& [name, value] : numbers)
    if (!(value >= 0))
      throw invalid_argument(fmt::format("MonitoredOptions::{} must be 0 or more, got {}", name, value));
}

// Throws invalid_argument for what cannot be.
void check(const Graph& graph, const MonitoredOptions& options) {
  check_numbers(options);
  for (const Hooks* hooks : {&options.hooks, &options.chief_only_hooks})
    for (std::size_t i = 0; i < hooks->size(); ++i)
      if (!(*hooks)[i])
        throw invalid_argument(
            fmt::format("hook {} of {} in MonitoredOptions is empty; leave it out", i, hooks->size()));
  for (const auto& output : options.local_init)
    expect_in_graph(graph, output, "a node of MonitoredOptions::local_init");
  if (options.init_op) expect_in_graph(graph, options.init_op, "MonitoredOptions::init_op");
  if (options.ready_op) expect_in_graph(graph, options.ready_op, "MonitoredOptions::ready_op");
  if (options.is_chief && options.max_rollbacks > 0 && options.checkpoint_dir.empty())
    throw invalid_argument("max_rollbacks needs a checkpoint_dir to go back to");
  if (options.is_chief && options.summaries && options.summary_dir.empty())
    throw invalid_argument("summaries need a summary_dir to be written to");
}

}  // namespace

struct MonitoredSession::Impl {
  Impl(std::optional<Server> own_server, Server* other_server, Graph& graph, MonitoredOptions given);

  void add_hooks();
  void add_reporting_hooks();
  void add_saving_hook();
  Storage& storage() const { return options.storage ? *options.storage : server.runtime()->storage(); }
  std::string name() const { return server.name().to_string(); }
  bool over() const { return stop || server.stopping(); }
  Session* ready();
  void make_session();
  void survive(const Error& error);
  bool roll_back(const Error& error);
  bool await_resources(const Error& error);
  template <class Body>
  bool survives(Body&& body);
  void fail() { state = state == State::closed ? State::closed : State::failed; }

  // trains -> failed: a step, or the job, has failed. Any -> closed: by the program.
  enum class State : std::uint8_t { trains, failed, closed };

  std::optional<Server> owned;
  Server& server;
  MonitoredOptions options;
  Scaffold scaffold;
  HookedSteps steps;
  std::unique_ptr<SessionMaker> maker;
  std::shared_ptr<Session> session;  // none before the first and after a loss
  StepLosses losses;
  State state = State::trains;
  std::atomic<bool> stop = false;  // no step is to follow
};

MonitoredSession::Impl::Impl(std::optional<Server> own_server, Server* other_server, Graph& graph,
                             MonitoredOptions given)
    : owned(std::move(own_server)),
      server(other_server ? *other_server : *owned),
      options(std::move(given)),
      scaffold{graph, global_step(graph), options.local_init},
      steps(scaffold, *server.runtime()),
      losses(options.max_rollbacks) {
  check(graph, options);
  add_hooks();
  maker = std::make_unique<SessionMaker>(server, scaffold, options);
  if (options.is_chief && !options.checkpoint_dir.empty()) add_saving_hook();
}

void MonitoredSession::Impl::add_hooks() {
  if (options.is_chief)
    for (const auto& hook : options.chief_only_hooks) steps.add(hook);
  for (const auto& hook : options.hooks) steps.add(hook);
  if (options.last_step > 0) steps.add(stop_at_step(options.last_step, options.first_step));
  if (options.is_chief) add_reporting_hooks();
}

// What people are told of the training.
void MonitoredSession::Impl::add_reporting_hooks() {
  if (options.log_step_count_steps > 0) steps.add(step_counter({.steps = options.log_step_count_steps}));
  if (options.summary_dir.empty()) return;
  const auto writer = std::make_shared<EventWriter>(storage(), options.summary_dir);
  steps.add(step_counter(options.save_summaries, writer));
  if (options.summaries) steps.add(summary_saver(*options.summaries, writer, options.save_summaries));
}

void MonitoredSession::Impl::add_saving_hook() {
  const Every& every = options.save_checkpoint;
  if (every.steps == 0 && every.seconds == 0) return;
  steps.add(checkpoint_saver(*maker->saver(), maker->storage(), options.checkpoint_dir, every, {},
                             options.max_wait_secs, options.save_extra));
}

// Whether the body has ended well. An error of it is survived, or thrown.
template <class Body>
bool MonitoredSession::Impl::survives(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    survive(error);
  } catch (const std::bad_alloc&) {
    survive({Code::resource_exhausted, "out of memory"});
  }
  return false;
}

// The session of the next step; null if training is over.
Session* MonitoredSession::Impl::ready() {
  while (!session && !stop) survives([this] { make_session(); });
  return over() ? nullptr : session.get();
}

// That a server stops while there is no session is for the maker to find, whose reason why_over() gives.
void MonitoredSession::Impl::make_session() {
  session = maker->make();
  if (!session) {
    spdlog::info("{}: {}", name(), maker->over());
    stop = true;
  } else if (steps.begin(*session)) {
    stop = true;
  }
}

// What a failed step means. Throws the error again unless training ends or goes on.
void MonitoredSession::Impl::survive(const Error& error) {
  if (!server.replaced().empty() || !server.failure().ok()) fail();
  check_not_replaced(server);
  throw_if_failed(server);
  if (server.stopping()) return;  // the step was cancelled, or others have left before us
  if (error.code() == Code::out_of_range) {
    spdlog::info("{}: the input has ended: {}", name(), error.what());
    stop = true;
    return;
  }
  if (!is_preemption(error.code()) && !roll_back(error) && !await_resources(error)) {
    fail();
    throw error;
  }
  lost_step.hit();
  spdlog::warn("{}: a step was lost, making a new session: {}", name(), error.what());
  session.reset();
  if (!losses.step_lost()) server.join_for(retry_ms);
}

// False if that is not what the error is for. Else the step is lost, to all replicas.
bool MonitoredSession::Impl::roll_back(const Error& error) {
  if (error.code() != Code::not_finite || !session || !losses.roll_back()) return false;
  spdlog::warn("{}: back to the newest checkpoint, {} of {} times", name(), losses.rollbacks(),
               options.max_rollbacks);
  try {
    maker->demand_restore(*session);
  } catch (const Error& lost) {  // a task that is lost, or another replica's demand, leads to the same
    if (!is_preemption(lost.code())) throw;
  }
  return true;
}

// False if the step is not worth another try. What it lacked may be there again, and it has changed
// nothing; but a chief would go back to the newest checkpoint for it.
bool MonitoredSession::Impl::await_resources(const Error& error) {
  if (options.is_chief || error.code() != Code::resource_exhausted) return false;
  const auto pause_ms = losses.pause_for_resources();
  if (pause_ms <= 0) return false;
  spdlog::warn("{}: trying again in {} ms what lacked memory or room: {}", name(), pause_ms,
               error.what());
  server.join_for(pause_ms);
  return true;
}

MonitoredSession::MonitoredSession(Server& server, Graph& graph, MonitoredOptions options)
    : impl_(std::make_unique<Impl>(std::nullopt, &server, graph, std::move(options))) {
  impl_->ready();
}

MonitoredSession::MonitoredSession(Graph& graph, MonitoredOptions options)
    : impl_(std::make_unique<Impl>(Server::local(), nullptr, graph, std::move(options))) {
  impl_->ready();
}

MonitoredSession::~MonitoredSession() = default;

bool MonitoredSession::should_stop() const { return impl_->over(); }
void MonitoredSession::request_stop() { impl_->stop = true; }

std::vector<Tensor> MonitoredSession::run(const std::vector<Output>& fetches, const Feeds& feeds,
                                          const std::vector<Output>& targets) {
  std::vector<Tensor> results;
  run_step([&](StepContext& step) { results = step.run(fetches, feeds, targets); });
  return results;
}

bool MonitoredSession::run_step(const std::function<void(StepContext&)>& body) {
  while (Session* session = impl_->ready()) try {
      const bool made = impl_->survives([&] {
        StepContext step(*this, *session);
        body(step);
      });
      if (!made) continue;
      impl_->losses.step_made();
      return true;
    } catch (...) {
      impl_->fail();
      throw;
    }
  return false;
}

void MonitoredSession::variables_changed() {
  for (const auto& hook : impl_->steps.hooks()) hook->variables_changed();
}

void MonitoredSession::close() {
  const auto before = std::exchange(impl_->state, Impl::State::closed);
  if (before == Impl::State::closed) return;
  if (before == Impl::State::trains && impl_->session && !impl_->server.stopping())
    for (const auto& hook : impl_->steps.hooks()) hook->end(*impl_->session);
  impl_->stop = true;
  throw_if_failed(impl_->server);
}

bool MonitoredSession::revive() {
  try {
    if (impl_->session && impl_->maker->is_current(*impl_->session)) return false;
    impl_->session.reset();
  } catch (const Error& error) {
    impl_->survive(error);
  }
  if (!impl_->session) impl_->stop = false;
  return impl_->ready() != nullptr;
}

std::string MonitoredSession::why_over() const { return impl_->maker->over(); }

Session& MonitoredSession::session() {
  if (!impl_->session)
    throw Error(Code::failed_precondition, "the monitored session has no session: training is over");
  return *impl_->session;
}

std::vector<Tensor> StepContext::run(const std::vector<Output>& fetches, const Feeds& feeds,
                                     const std::vector<Output>& targets) {
  auto result = monitored_.impl_->steps.run(session_, fetches, feeds, targets);
  if (result.stop) request_stop();
  return std::move(result.values);
}

void StepContext::request_stop() const { monitored_.request_stop(); }

}  // namespace actorflow
