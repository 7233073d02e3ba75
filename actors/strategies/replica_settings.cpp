#include "actors/strategies/replica_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <variant>

#include "actors/named/actor_ref.h"
#include "actors/named/named_actor.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr const char* actor_name = "replica settings";

struct AskSettings {};
struct SettingsAre {
  std::vector<std::string> names, values;
};

class SettingsActor final : public NamedActor {
 public:
  explicit SettingsActor(const ReplicaSettings& settings) {
    for (const auto& [name, value] : settings) {
      answer_.names.push_back(name);
      answer_.values.push_back(value);
    }
    on([this](const AskSettings&) { return answer_; });
  }

 private:
  SettingsAre answer_;
};

std::string differences(const ReplicaSettings& own, const TaskName& self, const SettingsAre& theirs,
                        const TaskName& chief) {
  std::string text;
  for (const auto& [name, value] : own) {
    const auto found = std::ranges::find(theirs.names, name);
    const std::string other =
        found == theirs.names.end()
            ? "nothing"
            : theirs.values[static_cast<std::size_t>(found - theirs.names.begin())];
    if (other != value)
      text += fmt::format("\n  {}: {} has {}, {} has {}", name, self.to_string(), value,
                          chief.to_string(), other);
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

std::string describe_optimizers(const OptimizerChoice& choice, const std::vector<Variable>& variables) {
  std::vector<std::string> all;
  for (const Variable& variable : variables) {
    const Optimizer optimizer = choice.of(variable);
    std::string text =
        fmt::format("{} {}", optimizer.name(), fmt::join(optimizer.hyperparameters(), ", "));
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

void publish_settings(Server& server, const ReplicaSettings& settings) {
  server.spawn(actor_name, [settings] { return std::make_unique<SettingsActor>(settings); });
}

void expect_settings_of(Server& server, const TaskName& chief, const ReplicaSettings& own) {
  SettingsAre theirs;
  try {
    theirs = server.find(chief.to_string(), actor_name).ask<SettingsAre>(AskSettings{}, 5s).get();
  } catch (const Error&) {
    return;
  }
  const std::string text = differences(own, server.name(), theirs, chief);
  if (!text.empty())
    throw Error(
        Code::failed_precondition,
        "this task was started with other settings than the chief; start all tasks with the same:" +
            text);
}

}  // namespace actorflow
