#include "actors/training/token_barrier.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point applied_twice("a step announced twice");

// For so long, or a little longer, the waits for each replica are added up.
constexpr std::chrono::seconds straggler_window{5};

double in_seconds(Clock::time_point::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

BarrierSettings BarrierSettings::of(const Node& node) {
  const auto number = [&node](std::string_view name) { return attr<std::int64_t>(node, name); };
  return {number("accumulators"), number("replicas_to_aggregate"), number("total_num_replicas"),
          number("initial_tokens")};
}

std::string BarrierSettings::to_string() const {
  return fmt::format("accumulators={} replicas_to_aggregate={} total_num_replicas={} initial_tokens={}",
                     accumulators, replicas_to_aggregate, total_num_replicas, initial_tokens);
}

std::optional<Contribution> StepTokens::next(std::int64_t replica, const Contribution& last,
                                             std::int64_t total_num_replicas) {
  const Contribution wanted{global_step_, last.step == global_step_ ? last.serial + 1 : 0};
  while (free_ + taken_[replica] <= wanted.serial)
    if (!take(replica, total_num_replicas)) return std::nullopt;
  return wanted;
}

bool StepTokens::take(std::int64_t replica, std::int64_t total_num_replicas) {
  auto& taken = taken_[replica];
  const auto kept = total_num_replicas - takers_;
  if (left_ == 0 || (taken > 0 && left_ <= kept)) return false;
  if (taken++ == 0) ++takers_;
  --left_;
  return true;
}

void TokenBarrier::check_settings(const Node& node) {
  const auto wanted = BarrierSettings::of(node);
  if (!settings_) {
    settings_ = wanted;
    caf::anon_send(task_->shard, AskGlobalStep{name_});
  } else if (*settings_ != wanted) {
    throw invalid_argument(
        fmt::format("node '{}': the barrier of '{}' is {}, but this replica wants {}; start every "
                    "replica with the same settings",
                    node.name, name_, settings_->to_string(), wanted.to_string()));
  }
}

void TokenBarrier::take_token(const StateCall& call) {
  check_settings(*call.node);
  const auto replica = attr<std::int64_t>(*call.node, "replica");
  if (const auto task = call.node->attrs.find("task"); task != call.node->attrs.end())
    task_of_replica_[replica] = std::get<std::string>(task->second);
  gone_.erase(replica);
  const Contribution last{call.inputs[0].scalar<std::int64_t>(), call.inputs[1].scalar<std::int64_t>()};
  // A replica that asks anew has given up what it waited for in an earlier life.
  waiting_.add(replica, {call.reply_to, replica, last},
               {Code::aborted, fmt::format("replica {} has asked for its token anew; if it has not "
                                           "restarted, two replicas have this number",
                                           replica)});
  // No token that this one takes or leaves is one that another waits for.
  if (hands_out()) waiting_.serve_one(replica, [this](const Waiting& own) { return give_token(own); });
  watch();
}

// One that comes twice may come when its step has long been over.
void TokenBarrier::on_applied(GradientApplied& message) {
  if (tokens_ && message.global_step <= tokens_->global_step()) return applied_twice.hit();
  applied_[message.global_step].insert(std::move(message.accumulator));
  if (complete_steps()) give_tokens_to_all();
}

void TokenBarrier::on_global_step(const GlobalStepIs& message) {
  if (!message.status.ok()) {
    if (!tokens_) settings_.reset();
    return fail_waiting(message.status);
  }
  if (!tokens_ && settings_) tokens_ = StepTokens(message.value, settings_->initial_tokens, true);
  complete_steps();
  give_tokens_to_all();
}

bool TokenBarrier::complete_steps() {
  if (!tokens_) return false;
  bool any = false;
  for (; !applied_.empty(); applied_.erase(applied_.begin()), any = true) {
    const auto& [step, accumulators] = *applied_.begin();
    if (static_cast<std::int64_t>(accumulators.size()) < settings_->accumulators) break;
    caf::anon_send(task_->shard, SetGlobalStep{name_, step, epoch_});
    tokens_ = StepTokens(step, settings_->tokens_per_step());
  }
  return any;
}

bool TokenBarrier::give_token(const Waiting& waiting) {
  const auto next = tokens_->next(waiting.replica, waiting.last, settings_->total_num_replicas);
  if (!next) return false;
  complete(waiting.reply_to, {Tensor::scalar(next->step), Tensor::scalar(next->serial)});
  return true;
}

void TokenBarrier::give_tokens_to_all() {
  if (hands_out()) waiting_.serve([this](const Waiting& waiting) { return give_token(waiting); });
  watch();
}

void TokenBarrier::watch() { watch_.waits_for(only_missing(), task_->clock->now()); }

void TokenBarrier::on_peer_lost(TaskId task) {
  const std::string lost = task_->name_of(task).to_string();
  for (const auto& [replica, name] : task_of_replica_)
    if (name == lost) gone_.insert(replica);
}

void TokenBarrier::hold() { held_at_ = tokens_ ? tokens_->global_step() : -1; }

void TokenBarrier::resume() {
  held_at_.reset();
  give_tokens_to_all();
}

bool TokenBarrier::stand_still(const std::set<std::int64_t>& resting) const {
  if (!tokens_ || tokens_->global_step() > held_at_) return true;
  if (!applied_.empty()) return false;  // some variables are of the next step, and others will be
  const auto has_handed_in = [this](const auto& entry) {
    return entry.second.last.step == tokens_->global_step();
  };
  if (std::ranges::count_if(waiting_, has_handed_in) >= settings_->replicas_to_aggregate) return false;
  for (std::int64_t replica = 0; replica < settings_->total_num_replicas; ++replica)
    if (!resting.contains(replica) && !gone_.contains(replica) && !waiting_.contains(replica))
      return false;
  return true;
}

std::optional<std::int64_t> TokenBarrier::only_missing() const {
  if (!settings_ || waiting_.empty()) return std::nullopt;
  const std::int64_t replicas = settings_->total_num_replicas;
  if (static_cast<std::int64_t>(waiting_.size()) != replicas - 1) return std::nullopt;
  // What the others' numbers lack of the sum of all: a replica waits at most once.
  std::int64_t only = replicas * (replicas - 1) / 2;
  for (const auto& [replica, waiting] : waiting_) only -= replica;
  return only;
}

std::string TokenBarrier::who(std::int64_t replica) const {
  const auto task = task_of_replica_.find(replica);
  return task == task_of_replica_.end() || task->second.empty()
             ? fmt::format("replica {}", replica)
             : fmt::format("replica {} ({})", replica, task->second);
}

std::string TokenBarrier::missing() const {
  if (!hands_out() && held_at_) return "the checkpoint that holds the steps";
  std::string text;
  for (std::int64_t replica = 0; replica < settings_->total_num_replicas; ++replica)
    if (!waiting_.contains(replica)) text += (text.empty() ? "" : ", ") + who(replica);
  return text.empty() ? "nobody" : text;
}

void TokenBarrier::report_waiting() {
  if (!waiting_.tick()) return report_straggler();
  const std::string whom = missing();
  if (!reports_.is_due(whom, task_->clock->now())) return;
  const auto done = applied_.empty() ? 0 : applied_.begin()->second.size();
  spdlog::warn(
      "{}: {} for the next '{}', for {}; {} of {} variables have been updated",
      task_->self.name.to_string(),
      waiting_.size() == 1 ? "a replica waits" : fmt::format("{} replicas wait", waiting_.size()), name_,
      whom, done, settings_->accumulators);
}

void TokenBarrier::report_straggler() {
  const auto now = task_->clock->now();
  const auto window = now - watched_since_;
  if (window < straggler_window) return;
  watched_since_ = now;
  const auto worst = watch_.take_worst(now);
  if (!worst || worst->waited <= window / 2) return;
  spdlog::warn(
      "{}: the steps of '{}' are as slow as {}: the others have waited {:.1f} of the last {:.0f} s "
      "for it alone",
      task_->self.name.to_string(), name_, who(worst->replica), in_seconds(worst->waited),
      in_seconds(window));
}

}  // namespace actorflow
