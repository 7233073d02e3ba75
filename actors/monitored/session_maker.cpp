#include "actors/monitored/session_maker.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/folder_epoch.h"
#include "actors/monitored/storage_error.h"
#include "actors/probes/point.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/replicated_ops.h"
#include "dataflow/ops/sliced_ops.h"
#include "dataflow/transform/optimise.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Point restored("a model restored");

// How long a task may take to say whether its variables have a value before we say for whom we wait. The
// connect timeout, or the end of the whole wait, comes a moment earlier: a task that cannot be reached
// is named with its address by then.
std::int64_t probe_timeout_ms(const MonitoredOptions& options) {
  constexpr double moment_ms = 1000;
  double limit_ms = static_cast<double>(options.connect_timeout_ms);
  if (options.max_wait_secs > 0) limit_ms = std::min(limit_ms, options.max_wait_secs * 1000);
  return static_cast<std::int64_t>(std::min(5000.0, limit_ms + moment_ms));
}

bool gives_value(const OpDef& op) { return &op == &assign_variable_op() || &op == &take_value_op(); }

// The names of the variables that these nodes, and what they need, assign.
std::set<std::string> assigned_by(const GraphDef& graph, const std::vector<Output>& outputs) {
  std::vector<NodeId> roots;
  for (const auto& output : outputs) roots.push_back(output.edge.node);
  const auto needed = needed_by(graph, roots);
  std::set<std::string> names;
  for (NodeId id = 0; id < graph.size(); ++id)
    if (needed[static_cast<std::size_t>(id)] && gives_value(*graph.node(id).op))
      names.insert(attr<std::string>(graph.node(id), "variable"));
  return names;
}

// Those that the chief gives values. The variables of replicated training are each task's own.
std::vector<Variable> shared_variables(const Scaffold& scaffold, const MonitoredOptions& options) {
  if (options.replicated && !options.is_chief) return {};
  const auto own = assigned_by(scaffold.graph.def(), scaffold.local_init);
  std::vector<Variable> shared;
  for (const auto& variable : scaffold.graph.variables())
    if (!own.contains(variable.name())) shared.push_back(variable);
  return shared;
}

// The task of a variable's device; `own` if it names none.
std::string task_of(const Variable& variable, const TaskName& own) {
  const auto name = DeviceName::parse(variable.device());
  return name.job && name.task ? TaskName{*name.job, *name.task}.to_string() : own.to_string();
}

std::unique_ptr<EpochFence> make_fence(Graph& graph, const std::vector<Variable>& shared,
                                       const Variable& global_step, const TaskName& own) {
  std::set<std::string> tasks{own.to_string()};
  for (const auto& variable : shared) tasks.insert(task_of(variable, own));
  return std::make_unique<EpochFence>(graph, std::vector<std::string>(tasks.begin(), tasks.end()),
                                      task_of(global_step, own));
}

}  // namespace

SessionMaker::SessionMaker(Server& server, const Scaffold& scaffold, const MonitoredOptions& options)
    : server_(server),
      scaffold_(scaffold),
      options_(options),
      storage_(options.storage ? *options.storage : server.runtime()->storage()),
      end_mark_(storage_, options.checkpoint_dir),
      shared_(shared_variables(scaffold, options)),
      saver_(options.saver) {
  Graph& graph = scaffold.graph;
  if (options.ready_op && options.ready_op.dtype() != DType::boolean)
    throw invalid_argument(
        fmt::format("ready_op must be of type bool, got {}", to_string(options.ready_op.dtype())));
  for (const auto& variable : shared_)
    probes_.push_back(graph.on(task_of(variable, server.name()), [&] {
      return graph.add(is_initialized_op(), {}, {{"variable", variable.name()}},
                       variable.name() + "/is_ready");
    }));
  if (const ShardedOptimizer optimizer = sharded_optimizer(graph.def()); optimizer && options.is_chief)
    whole_slots_ = graph.on(server.name().to_string(), [&] {
      return graph.add(has_whole_slots_op(), {},
                       {{"variables", slice_attrs(optimizer.sliced)["variables"]}}, "has_whole_slots");
    });
  fence_ = options.replicated
               ? std::make_unique<EpochFence>(graph, std::vector{options.chief.to_string()},
                                              options.chief.to_string())
               : make_fence(graph, shared_, scaffold.global_step, server.name());
  if (options.is_chief && !options.checkpoint_dir.empty())
    with_storage_tries(*server.runtime(), "the check of the folder of checkpoints",
                       [&] { expect_checkpoint_folder(storage_, options.checkpoint_dir); });
  if (saver_ || options.checkpoint_dir.empty() || shared_.empty()) return;
  own_saver_ = std::make_unique<Saver>(graph, shared_, scaffold.global_step,
                                       SaverOptions{.keep = {.max_to_keep = options.max_to_keep},
                                                    .longest_hold_ms = options.longest_hold_ms});
  saver_ = own_saver_.get();
}

bool SessionMaker::is_over() {
  if (over_.empty()) over_ = end_mark_.why_complete(options_.last_step);
  if (over_.empty() && server_.stopping()) over_ = "the job is over";
  return !over_.empty();
}

// Its limit may be reached in a step that waits for tasks which have left: the mark that they have left
// counts.
void SessionMaker::wait(Patience& patience, const std::string& for_what) {
  if (!is_over()) patience.wait(for_what);
}

std::shared_ptr<Session> SessionMaker::make() {
  Patience patience(*server_.runtime(), server_.name().to_string(), options_.max_wait_secs);
  while (!is_over()) {
    try {
      const auto session = std::make_shared<Session>(server_.target(), scaffold_.graph, options_.session,
                                                     options_.connect_timeout_ms);
      if (options_.is_chief)
        prepare(*session);
      else if (!await_chief(*session, patience))
        continue;
      if (!scaffold_.local_init.empty()) session->run(std::vector<Output>{}, {}, scaffold_.local_init);
      // The values are of the epoch in which the chief has handed them out, which may be a later one.
      if (options_.replicated && !options_.is_chief && !fence_->join_if_open(*session)) continue;
      had_session_ = true;
      if (await_ready(*session, patience)) return session;
    } catch (const Error& error) {
      if (server_.stopping()) continue;
      if (!is_preemption(error.code())) throw;
      wait(patience, fmt::format("for tasks that cannot be reached ({})", error.what()));
    }
  }
  return nullptr;
}

// The names of the shared variables without a value. Throws unavailable if a task does not answer.
std::vector<std::string> SessionMaker::missing_variables(Session& session) const {
  if (probes_.empty()) return {};
  std::vector<Tensor> ready;
  try {
    ready = session.run(probes_, {}, {}, {.timeout_ms = probe_timeout_ms(options_)});
  } catch (const Error& error) {
    if (error.code() == Code::deadline_exceeded) throw Error(Code::unavailable, error.what());
    throw;
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < ready.size(); ++i)
    if (!ready[i].scalar<bool>()) missing.push_back(shared_[i].name());
  return missing;
}

void SessionMaker::prepare(Session& session) {
  const auto missing = missing_variables(session);
  const bool keep = may_keep_values(session, missing);
  close_epoch(session);
  if (!keep) give_values(session, missing);
  fence_->open(session);
  if (const auto left = missing_variables(session); !left.empty())
    throw Error(Code::failed_precondition, "the initialiser has left " + describe(left));
}

// False where the optimizer is sharded and has begun: what a lost replica had of its slots is gone.
bool SessionMaker::has_whole_slots(Session& session) const {
  return !whole_slots_ || session.run(whole_slots_).scalar<bool>();
}

// After the loss of another task; an epoch that is closed says that a replica demands a restore, or that
// we were interrupted in one.
bool SessionMaker::may_keep_values(Session& session, const std::vector<std::string>& missing) const {
  if (!options_.replicated || !missing.empty() || !has_whole_slots(session)) return false;
  if (!had_session_) return options_.has_values;
  return fence_->join_if_open(session);
}

// Neither the tasks nor the folder take anything of an earlier chief from here on.
void SessionMaker::close_epoch(Session& session) {
  const std::string& folder = options_.checkpoint_dir;
  if (folder.empty()) {
    fence_->close(session);
    return;
  }
  const auto known = with_storage_tries(*server_.runtime(), "reading the epoch of " + folder,
                                        [&] { return folder_epoch(storage_, folder); });
  const auto epoch = fence_->close(session, known);
  try {
    raise_folder_epoch(storage_, folder, epoch);
  } catch (const Error& error) {  // the tasks' own epoch guards all but the folder
    spdlog::warn("{}: cannot note epoch {} in {}: {}", server_.name().to_string(), epoch, folder,
                 error.what());
  }
}

std::optional<std::int64_t> SessionMaker::restore(Session& session) {
  const std::string& folder = options_.checkpoint_dir;
  ExtraState extra;
  const auto step = restore_newest(*server_.runtime(), folder, [&](bool strict) {
    return saver_->restore(session, storage_, folder, strict || options_.strict_restore,
                           options_.restore_extra ? &extra : nullptr);
  });
  if (step && options_.restore_extra) options_.restore_extra(std::move(extra));
  return step;
}

void SessionMaker::give_values(Session& session, const std::vector<std::string>& missing) {
  if (saver_ && !options_.checkpoint_dir.empty()) {
    const auto step = restore(session);
    if (step) restored.hit();
    if (step) return spdlog::info("restored step {} from {}", *step, options_.checkpoint_dir);
  }
  if (missing.empty()) {
    if (!has_whole_slots(session))
      spdlog::warn(
          "{}: no checkpoint, and what the other replicas had of the sharded optimizer is gone: "
          "its slots start anew",
          server_.name().to_string());
    return spdlog::info("no checkpoint; training goes on with the values that the tasks have");
  }
  std::vector<Output> initializers;
  if (options_.init_op)
    initializers = {options_.init_op};
  else
    for (const auto& variable : shared_) initializers.push_back(variable.initializer());
  session.run(std::vector<Output>{}, options_.init_feeds, initializers);
  if (options_.init_fn) options_.init_fn(session);
}

// False if the job was over, or training complete, before the model was ready. Variables that have no
// value though the chief is ready may be those of another model than its own.
bool SessionMaker::await_chief(Session& session, Patience& patience) {
  std::string chief = "the chief";
  if (server_.cluster().contains(options_.chief))
    chief += fmt::format(", {} at {},", options_.chief.to_string(),
                         server_.cluster().address(options_.chief));
  while (!is_over()) {
    const auto missing = missing_variables(session);
    const bool is_ready =
        fence_->join_if_open(session) && (!options_.on_chief_ready || options_.on_chief_ready());
    if (is_ready && missing.empty()) return true;
    wait(patience, fmt::format("for {} to initialise or restore {}", chief,
                               missing.empty() ? "the model" : describe(missing)));
  }
  return false;
}

// The same for what the program calls ready.
bool SessionMaker::await_ready(Session& session, Patience& patience) {
  if (!options_.ready_op) return true;
  while (!is_over()) {
    const Tensor ready = session.run(options_.ready_op);
    if (std::ranges::all_of(ready.values<bool>(), std::identity())) return true;
    wait(patience, fmt::format("until ready_op, {}, is true",
                               scaffold_.graph.def().node(options_.ready_op.edge.node).name));
  }
  return false;
}

std::string SessionMaker::describe(const std::vector<std::string>& missing) const {
  return fmt::format("{} of {} variables without a value ('{}', ...)", missing.size(), shared_.size(),
                     missing.front());
}

}  // namespace actorflow
