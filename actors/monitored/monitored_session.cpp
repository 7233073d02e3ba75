#include "actors/monitored/monitored_session.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "actors/monitored/hooks.h"
#include "actors/monitored/session_maker.h"
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

// Throws invalid_argument for numbers below 0 and empty hooks.
void check(const MonitoredOptions& options) {
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
  for (const Hooks* hooks : {&options.hooks, &options.chief_only_hooks})
    for (std::size_t i = 0; i < hooks->size(); ++i)
      if (!(*hooks)[i])
        throw invalid_argument(
            fmt::format("hook {} of {} in MonitoredOptions is empty; leave it out", i, hooks->size()));
}

// The fetches of a program and of hooks as one list, in which every tensor is once.
class Fetches {
 public:
  explicit Fetches(std::vector<Output> own) : all_(std::move(own)) {}

  std::size_t add(Output output) {
    const auto found = std::ranges::find(all_, output.edge, &Output::edge);
    if (found != all_.end()) return static_cast<std::size_t>(found - all_.begin());
    all_.push_back(output);
    return all_.size() - 1;
  }
  const std::vector<Output>& all() const { return all_; }

 private:
  std::vector<Output> all_;
};

}  // namespace

struct MonitoredSession::Impl {
  Impl(std::optional<Server> own_server, Server* other_server, Graph& graph, MonitoredOptions given);

  void add_reporting_hooks();
  Storage& storage() const { return options.storage ? *options.storage : server.runtime()->storage(); }
  bool over() const { return stop || server.stopping(); }
  Session* ready();
  void survive(const Error& error);
  bool roll_back(const Error& error);
  bool await_resources(const Error& error);
  const std::vector<bool>& made_for(const std::vector<Output>& fetches,
                                    const std::vector<Output>& targets);
  std::vector<Tensor> run(Session& in, const std::vector<Output>& fetches, const Feeds& feeds,
                          const std::vector<Output>& targets);

  std::optional<Server> owned;
  Server& server;
  MonitoredOptions options;
  Scaffold scaffold;
  Hooks hooks;
  std::unique_ptr<SessionMaker> maker;
  std::shared_ptr<Session> session;                       // none before the first and after a loss
  std::map<std::vector<NodeId>, std::vector<bool>> made;  // by what a program has asked for
  std::atomic<bool> stop = false;
  int rollbacks = 0;
  int exhausted = 0;      // steps in a row that lacked memory or the like
  bool made_step = true;  // since the last loss
  bool failed = false;
  bool closed = false;
};

MonitoredSession::Impl::Impl(std::optional<Server> own_server, Server* other_server, Graph& graph,
                             MonitoredOptions given)
    : owned(std::move(own_server)),
      server(other_server ? *other_server : *owned),
      options(std::move(given)),
      scaffold{graph, global_step(graph), options.local_init} {
  check(options);
  for (const auto& output : options.local_init)
    expect_in_graph(graph, output, "a node of MonitoredOptions::local_init");
  if (options.init_op) expect_in_graph(graph, options.init_op, "MonitoredOptions::init_op");
  if (options.ready_op) expect_in_graph(graph, options.ready_op, "MonitoredOptions::ready_op");
  if (options.is_chief && options.max_rollbacks > 0 && options.checkpoint_dir.empty())
    throw invalid_argument("max_rollbacks needs a checkpoint_dir to go back to");
  if (options.is_chief) hooks = options.chief_only_hooks;
  hooks.insert(hooks.end(), options.hooks.begin(), options.hooks.end());
  if (options.last_step > 0) hooks.push_back(stop_at_step(options.last_step, options.first_step));
  if (options.is_chief) add_reporting_hooks();
  for (const auto& hook : hooks) hook->begin(scaffold);
  maker = std::make_unique<SessionMaker>(server, scaffold, options);
  const Every& every = options.save_checkpoint;
  if (options.is_chief && !options.checkpoint_dir.empty() && (every.steps > 0 || every.seconds > 0)) {
    hooks.push_back(checkpoint_saver(*maker->saver(), maker->storage(), options.checkpoint_dir, every,
                                     {}, options.max_wait_secs, options.save_extra));
    hooks.back()->begin(scaffold);
  }
}

// What people are told of the training.
void MonitoredSession::Impl::add_reporting_hooks() {
  if (options.log_step_count_steps > 0)
    hooks.push_back(step_counter({.steps = options.log_step_count_steps}));
  if (options.summary_dir.empty()) {
    if (options.summaries) throw invalid_argument("summaries need a summary_dir to be written to");
    return;
  }
  const auto writer = std::make_shared<EventWriter>(storage(), options.summary_dir);
  hooks.push_back(step_counter(options.save_summaries, writer));
  if (options.summaries)
    hooks.push_back(summary_saver(*options.summaries, writer, options.save_summaries));
}

// The session of the next step; null if training is over. That a server stops while there is no session
// is for the maker to find, whose reason why_over() gives.
Session* MonitoredSession::Impl::ready() {
  while (!session && !stop) {
    try {
      session = maker->make();
      if (!session) {
        spdlog::info("{}: {}", server.name().to_string(), maker->over());
        stop = true;
        break;
      }
      RunContext context(*session, *server.runtime(), made_for({}, {}));
      for (const auto& hook : hooks) hook->after_create_session(context);
      if (context.stop_requested()) stop = true;
    } catch (const Error& error) {
      survive(error);
    } catch (const std::bad_alloc&) {
      survive({Code::resource_exhausted, "out of memory"});
    }
  }
  return over() ? nullptr : session.get();
}

// What a failed step means. Throws the error again unless training ends or goes on.
void MonitoredSession::Impl::survive(const Error& error) {
  if (!server.replaced().empty() || !server.failure().ok()) failed = true;
  check_not_replaced(server);
  throw_if_failed(server);
  if (server.stopping()) return;  // the step was cancelled, or others have left before us
  if (error.code() == Code::out_of_range) {
    spdlog::info("{}: the input has ended: {}", server.name().to_string(), error.what());
    stop = true;
    return;
  }
  if (!is_preemption(error.code()) && !roll_back(error) && !await_resources(error)) {
    failed = true;
    throw error;
  }
  lost_step.hit();
  spdlog::warn("{}: a step was lost, making a new session: {}", server.name().to_string(), error.what());
  session.reset();
  if (!std::exchange(made_step, false)) server.join_for(retry_ms);
}

// False if that is not what the error is for. Else the step is lost, to all replicas.
bool MonitoredSession::Impl::roll_back(const Error& error) {
  if (error.code() != Code::not_finite || rollbacks == options.max_rollbacks || !session) return false;
  ++rollbacks;
  spdlog::warn("{}: back to the newest checkpoint, {} of {} times", server.name().to_string(), rollbacks,
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
  constexpr int tries = 3;
  if (options.is_chief || error.code() != Code::resource_exhausted || exhausted == tries) return false;
  server.join_for(std::int64_t{1000} << exhausted++);
  return true;
}

// Of each node, whether a step makes it that is asked for these.
const std::vector<bool>& MonitoredSession::Impl::made_for(const std::vector<Output>& fetches,
                                                          const std::vector<Output>& targets) {
  std::vector<NodeId> asked;
  const auto ask = [&](const std::vector<Output>& outputs, const std::string& what) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      expect_in_graph(scaffold.graph, outputs[i],
                      what + std::to_string(i) + " of the monitored session");
      asked.push_back(outputs[i].edge.node);
    }
  };
  ask(fetches, "fetch ");
  ask(targets, "target ");
  const auto [known, is_new] = made.try_emplace(asked);
  if (is_new) known->second = needed_by(scaffold.graph.def(), asked);
  return known->second;
}

std::vector<Tensor> MonitoredSession::Impl::run(Session& in, const std::vector<Output>& own_fetches,
                                                const Feeds& own_feeds,
                                                const std::vector<Output>& targets) {
  RunContext context(in, *server.runtime(), made_for(own_fetches, targets));
  Fetches fetches(own_fetches);
  Feeds feeds = own_feeds;
  RunOptions run_options;
  std::vector<std::vector<std::size_t>> wanted;  // by hook: positions among the fetches
  for (const auto& hook : hooks) {
    RunArgs args = hook->before_run(context);
    auto& positions = wanted.emplace_back();
    for (const auto& output : args.fetches) positions.push_back(fetches.add(output));
    std::ranges::move(args.feeds, std::back_inserter(feeds));
    run_options.trace |= args.trace;
  }
  std::vector<Tensor> results = in.run(fetches.all(), feeds, targets, run_options,
                                       run_options.trace ? &context.metadata() : nullptr);
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    std::vector<Tensor> values;
    for (const auto position : wanted[i]) values.push_back(results[position]);
    hooks[i]->after_run(context, values);
  }
  if (context.stop_requested()) stop = true;
  results.resize(own_fetches.size());
  return results;
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
  while (Session* session = impl_->ready()) {
    try {
      StepContext step(*this, *session);
      body(step);
      impl_->made_step = true;
      impl_->exhausted = 0;
      return true;
    } catch (const Error& error) {
      impl_->survive(error);
    } catch (const std::bad_alloc&) {
      impl_->survive({Code::resource_exhausted, "out of memory"});
    } catch (...) {
      impl_->failed = true;
      throw;
    }
  }
  return false;
}

void MonitoredSession::variables_changed() {
  for (const auto& hook : impl_->hooks) hook->variables_changed();
}

void MonitoredSession::close() {
  if (std::exchange(impl_->closed, true)) return;
  if (!impl_->failed && impl_->session && !impl_->server.stopping())
    for (const auto& hook : impl_->hooks) hook->end(*impl_->session);
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
  return monitored_.impl_->run(session_, fetches, feeds, targets);
}

void StepContext::request_stop() const { monitored_.request_stop(); }

}  // namespace actorflow
