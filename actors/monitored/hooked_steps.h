// Steps with hooks around them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "actors/monitored/hook.h"

namespace actorflow {

// What hooks want of a step is fetched, and fed, beside what the program asks for. Not thread-safe.
class HookedSteps {
 public:
  // REQUIRES: they outlive this.
  HookedSteps(Scaffold& scaffold, Runtime& runtime) : scaffold_(scaffold), runtime_(runtime) {}

  // A hook behind the others, whose begin() is called now.
  void add(std::shared_ptr<SessionHook> hook);
  const Hooks& hooks() const { return hooks_; }

  // Tells the hooks of a new session. Whether one of them wants training to stop.
  bool begin(Session& session);
  struct Result {
    std::vector<Tensor> values;  // of the fetches
    bool stop = false;           // as of begin()
  };
  // Throws invalid_argument for outputs that are not of the graph.
  Result run(Session& session, const std::vector<Output>& fetches, const Feeds& feeds,
             const std::vector<Output>& targets);

 private:
  const std::vector<bool>& made_for(const std::vector<Output>& fetches,
                                    const std::vector<Output>& targets);

  Scaffold& scaffold_;
  Runtime& runtime_;
  Hooks hooks_;
  std::map<std::vector<NodeId>, std::vector<bool>> made_;  // by what a program has asked for
};

}  // namespace actorflow
