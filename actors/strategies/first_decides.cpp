#include "actors/strategies/first_decides.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "actors/monitored/training_end.h"
#include "actors/named/actor_ref.h"
#include "actors/named/named_actor.h"
#include "actors/runtime/runtime.h"
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

// Nothing if the job is over.
std::optional<Decision> ask_first(Server& server, const TaskName& first, const std::string& name,
                                  const ReplicaOptions& options) {
  Clock& clock = server.runtime()->clock();
  const auto end = clock.now() + std::chrono::milliseconds(options.connect_timeout_ms);
  EndMark end_mark(server.runtime()->storage(), options.checkpoint_folder);
  const ActorRef actor = server.find(first.to_string(), name);
  while (true) {
    try {
      actor.wait_until_there(1s);
      return actor.ask<DecisionIs>(AskDecision{}, 5s).get().texts;
    } catch (const Error& error) {
      throw_if_error(server.failure());
      if (server.stopping() || !end_mark.why_complete(options.train_steps).empty()) return std::nullopt;
      if (error.code() == Code::cancelled) throw;
      if (clock.now() >= end)
        throw Error(Code::deadline_exceeded,
                    fmt::format("{} has not told its {} within {} ms: {}", first.to_string(), name,
                                options.connect_timeout_ms, error.what()));
    }
  }
}

}  // namespace

Decision decided_by_first(Server& server, const std::vector<TaskName>& replicas, const std::string& name,
                          const ReplicaOptions& options, const std::function<Decision()>& decide) {
  if (replicas.size() == 1) return decide();
  const TaskName& first = replicas.front();
  const bool is_first = first == server.name();
  auto decision =
      is_first ? known_by_others(server, replicas, name) : ask_first(server, first, name, options);
  if (!decision && !is_first) return {};
  if (!decision) decision = decide();
  server.spawn(name, [texts = *decision] { return std::make_unique<DecisionActor>(DecisionIs{texts}); });
  return *decision;
}

}  // namespace actorflow
