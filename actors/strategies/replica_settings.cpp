#include "actors/strategies/replica_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "actors/named/actor_ref.h"
#include "actors/named/named_actor.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/meeting.h"
#include "actors/strategies/replica_run.h"
#include "dataflow/values/error.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr const char* actor_name = "replica settings";

struct AskSettings {};
struct SettingsAre {
  std::vector<std::string> names, values;
  bool trains = false;
};
struct NoteTraining {};  // the actor's own task has made a step

class SettingsActor final : public NamedActor {
 public:
  explicit SettingsActor(const ReplicaSettings& settings) {
    for (const auto& [name, value] : settings) {
      answer_.names.push_back(name);
      answer_.values.push_back(value);
    }
    on([this](const AskSettings&) { return answer_; });
    on([this](const NoteTraining&) { answer_.trains = true; });
  }

 private:
  SettingsAre answer_;
};

// Nothing if the task does not answer now.
using SettingsAnswer = std::optional<ActorAnswer<SettingsAre>>;
SettingsAnswer ask_settings(Server& server, const TaskName& task,
                            std::chrono::milliseconds timeout = 5s) {
  try {
    return server.find(task.to_string(), actor_name).ask<SettingsAre>(AskSettings{}, timeout);
  } catch (const Error&) {
    return std::nullopt;
  }
}
std::optional<SettingsAre> settings_in(SettingsAnswer answer) {
  try {
    return answer ? std::optional(answer->get()) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Whether the task hears what it is told.
bool is_there(Server& server, const TaskName& task) {
  try {
    server.find(task.to_string(), actor_name).ask<SettingsAre>(AskSettings{}, 1s).get();
  } catch (const Error& error) {
    return error.code() == Code::not_found;  // it has no such actor
  }
  return true;
}

ReplicaSettings settings_of(const SettingsAre& answer) {
  ReplicaSettings settings;
  for (std::size_t i = 0; i < std::min(answer.names.size(), answer.values.size()); ++i)
    settings.emplace_back(answer.names[i], answer.values[i]);
  return settings;
}

// The settings of those that answer. Asks all at once, and waits little: some may have gone.
std::vector<std::pair<TaskName, ReplicaSettings>> settings_at(Server& server,
                                                              const std::vector<TaskName>& tasks) {
  std::vector<std::pair<TaskName, SettingsAnswer>> answers;
  for (const TaskName& task : tasks)
    if (task != server.name()) answers.emplace_back(task, ask_settings(server, task, 2s));
  std::vector<std::pair<TaskName, ReplicaSettings>> settings;
  for (auto& [task, answer] : answers)
    if (const auto theirs = settings_in(std::move(answer)))
      settings.emplace_back(task, settings_of(*theirs));
  return settings;
}

std::string differences(const ReplicaSettings& own, const TaskName& self, const ReplicaSettings& theirs,
                        const TaskName& other) {
  std::string text;
  for (const auto& [name, value] : own) {
    const auto found =
        std::ranges::find(theirs, name, [](const auto& setting) { return setting.first; });
    const std::string of_other = found == theirs.end() ? "nothing" : found->second;
    if (of_other != value)
      text += fmt::format("\n  {}: {} has {}, {} has {}", name, self.to_string(), value,
                          other.to_string(), of_other);
  }
  return text;
}

std::string describe_all_reduce(const AllReduce& strategy) {
  std::string text = "synchronous, all-reduce";
  if (strategy.sharded_optimizer) text += ", sharded optimizer";
  if (strategy.compression != ReduceCompression::none)
    text += fmt::format(", {} gradients", to_string(strategy.compression));
  if (strategy.local_steps > 1)
    text += fmt::format(", {} local steps, outer learning rate {}, outer momentum {}",
                        strategy.local_steps, strategy.outer.learning_rate, strategy.outer.momentum);
  return text;
}

}  // namespace

std::string describe_optimizer(const Optimizer& optimizer) {
  return fmt::format("{} {}", optimizer.name(), fmt::join(optimizer.hyperparameters(), ", "));
}

std::string describe_optimizers(const OptimizerChoice& choice, const std::vector<Variable>& variables) {
  std::vector<std::string> all;
  for (const Variable& variable : variables) {
    std::string text = describe_optimizer(choice.of(variable));
    if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string describe_strategy(const Strategy& strategy) {
  if (const auto* bound = std::get_if<BoundedStaleness>(&strategy))
    return fmt::format("bounded staleness {}", bound->bound);
  if (const auto* sync = std::get_if<Synchronous>(&strategy))
    return sync->replicas_to_aggregate == 0
               ? "synchronous, all gradients"
               : fmt::format("synchronous, {} gradients", sync->replicas_to_aggregate);
  if (const auto* reduce = std::get_if<AllReduce>(&strategy)) return describe_all_reduce(*reduce);
  return "asynchronous";
}

ReplicaSettings settings_of(const ReplicaOptions& options) {
  return {{"strategy", describe_strategy(options.strategy)},
          {"train_steps", std::to_string(options.train_steps)},
          {"not_finite", options.not_finite == NotFinite::skip ? "skip" : "fail"},
          {"ps_strategy", options.ps_strategy}};
}

void publish_settings(Server& server, const ReplicaSettings& settings) {
  server.spawn(actor_name, [settings] { return std::make_unique<SettingsActor>(settings); });
}

bool has_published_settings(Server& server, const TaskName& task) {
  return settings_in(ask_settings(server, task, 1s)).has_value();
}

Status refusal_of(const ReplicaSettings& own, const TaskName& self, const ReplicaSettings& theirs,
                  const TaskName& other) {
  const std::string text = differences(own, self, theirs, other);
  if (text.empty()) return {};
  return {Code::failed_precondition,
          fmt::format("{} was started with other settings than {}; start all tasks with the same:{}",
                      self.to_string(), other.to_string(), text)};
}

bool expect_settings_of(Server& server, const TaskName& chief, const ReplicaSettings& own,
                        std::chrono::milliseconds patience) {
  const auto theirs = settings_in(ask_settings(server, chief, patience));
  if (!theirs) return false;
  const Status refusal = refusal_of(own, server.name(), settings_of(*theirs), chief);
  if (refusal.ok()) return true;
  if (!theirs->trains) server.fail_cluster(refusal);
  throw Error(refusal);
}

void note_training(Server& server) {
  server.find(server.name().to_string(), actor_name).tell(NoteTraining{});
}

void tell_refusal(Server& server, const TaskName& chief, const Status& why,
                  std::chrono::milliseconds patience) {
  Runtime& runtime = *server.runtime();
  const auto end = runtime.clock().now() + patience;
  const auto goes_on_waiting = [&] {
    if (server.stopping() || runtime.clock().now() >= end) return false;
    runtime.sleep(100ms);
    return true;
  };
  if (server.name() == chief && patience > 0ms)
    for (const TaskName& task : server.cluster().all_tasks())
      while (task != chief && !is_there(server, task) && goes_on_waiting()) {
      }
  auto theirs = settings_in(ask_settings(server, chief));
  while (!theirs && server.name() != chief && goes_on_waiting())
    theirs = settings_in(ask_settings(server, chief, 1s));
  if (!theirs || !theirs->trains) server.fail_cluster(why);
}

void expect_same_settings(Server& server, const std::vector<TaskName>& replicas,
                          const ReplicaSettings& own) {
  for (const auto& [replica, theirs] : settings_at(server, replicas))
    throw_if_error(refusal_of(own, server.name(), theirs, replica));
}

void expect_servers_agree(Server& server, const std::vector<TaskName>& servers,
                          const ReplicaSettings& own) {
  for (const auto& [task, theirs] : settings_at(server, servers))
    throw_if_error(refusal_of(theirs, task, own, server.name()));
}

void tell_why_the_chief_failed(Server& server) {
  if (server.stopping() || !server.failure().ok()) return;
  const Status why = current_exception_status();
  server.fail_cluster({why.code, "the chief failed: " + why.message});
}

}  // namespace actorflow
