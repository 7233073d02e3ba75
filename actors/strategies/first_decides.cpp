#include "actors/strategies/first_decides.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "actors/monitored/training_end.h"
#include "actors/named/actor_ref.h"
#include "actors/named/named_actor.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/meeting.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

struct AskDecision {};
struct DecisionIs {
  std::vector<std::string> texts;
};

// Is there as soon as its task knows the decision.
class DecisionActor final : public NamedActor {
 public:
  explicit DecisionActor(const DecisionIs& decision) {
    on([decision](const AskDecision&) { return decision; });
  }
};

using Answer = ActorAnswer<DecisionIs>;

// Nothing if no other replica knows it, which those that start at the same time do not.
std::optional<Decision> known_by_others(Server& server, const std::vector<TaskName>& replicas,
                                        const std::string& name) {
  std::vector<Answer> answers;
  for (const TaskName& replica : replicas) {
    if (replica == server.name()) continue;
    try {
      answers.push_back(server.find(replica.to_string(), name).ask<DecisionIs>(AskDecision{}, 1s));
    } catch (const Error&) {
      continue;
    }
  }
  for (Answer& answer : answers) {
    try {
      return answer.get().texts;
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

// The wait for the first replica. It says for whom it waits.
class Wait {
 public:
  Wait(Server& server, const TaskName& first, const std::string& name, const ReplicaOptions& options)
      : server_(server),
        first_(first),
        name_(name),
        options_(options),
        end_mark_(server.runtime()->storage(), options.checkpoint_folder),
        silent_since_(now()),
        end_(now() + 10 * patience()),
        next_word_(now() + 2s) {}

  // Nothing if nobody decides: the job is over, or the first one trains without such a decision.
  std::optional<Decision> take() {
    const ActorRef actor = server_.find(first_.to_string(), name_);
    while (true) {
      try {
        actor.wait_until_there(1s);
        return actor.ask<DecisionIs>(AskDecision{}, 5s).get().texts;
      } catch (const Error& error) {
        if (nobody_decides(error)) return std::nullopt;
        go_on_after(error);
      }
    }
  }

 private:
  Clock::time_point now() const { return server_.runtime()->clock().now(); }
  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(options_.connect_timeout_ms);
  }

  // One that decides has done so before it publishes its settings. It may do both between two questions
  // of ours, so its silence counts when the settings are there for the second time.
  bool nobody_decides(const Error& error) {
    throw_if_error(server_.failure());
    if (server_.stopping() || !end_mark_.why_complete(options_.train_steps).empty()) return true;
    const bool trains_without =
        error.code() == Code::not_found && has_published_settings(server_, first_);
    return std::exchange(trains_without_, trains_without) && trains_without;
  }
  // What it measures may take longer than to reach it: one that is there has more time. REQUIRES: called
  // in a catch block.
  void go_on_after(const Error& error) {
    if (error.code() == Code::cancelled) throw;
    if (error.code() == Code::not_found) silent_since_ = now();
    if (now() - silent_since_ >= patience() || now() >= end_)
      throw Error(Code::deadline_exceeded,
                  fmt::format("{} has not told its {}: {}", first_.to_string(), name_, error.what()));
    if (now() < next_word_) return;
    next_word_ = now() + 10s;
    spdlog::info("{} waits for {} to tell its {}: {}", server_.name().to_string(), first_.to_string(),
                 name_, error.what());
  }

  Server& server_;
  const TaskName& first_;
  const std::string& name_;
  const ReplicaOptions& options_;
  EndMark end_mark_;
  Clock::time_point silent_since_;
  const Clock::time_point end_;
  Clock::time_point next_word_;
  bool trains_without_ = false;
};

}  // namespace

Decision decided_by_first(Server& server, const std::vector<TaskName>& replicas, const std::string& name,
                          const ReplicaOptions& options, const std::function<Decision()>& decide) {
  if (replicas.size() == 1) return decide();
  const TaskName& first = replicas.front();
  const bool is_first = first == server.name();
  auto decision =
      is_first ? known_by_others(server, replicas, name) : Wait(server, first, name, options).take();
  if (!decision && !is_first) return {};
  if (!decision) decision = decide();
  server.spawn(name, [texts = *decision] { return std::make_unique<DecisionActor>(DecisionIs{texts}); });
  return *decision;
}

}  // namespace actorflow
