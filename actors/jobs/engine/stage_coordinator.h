// The actor that has the parts of a stage run: so many at a time, again where that may help.
#pragma once

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "actors/jobs/engine/job_engine.h"
#include "actors/jobs/engine/part_actor.h"
#include "actors/runtime/clock.h"

namespace actorflow {

struct StageOrder {
  std::shared_ptr<const StageSpec> stage;
  JobTools tools;
  std::size_t slots = 1;  // parts at a time
  unsigned max_attempts = 4;
  // How many records may be left out since a user's function throws for them.
  std::function<bool()> take_skip;
  Clock& clock;
  JobReporter* reporter;
  // Called once.
  std::function<void(Status, std::vector<PartOutcome>)> reply;
};

class StageCoordinator {
 public:
  StageCoordinator(GuardedActor* self, StageOrder order);

  caf::behavior behavior();
  void refuse(const PartRan& ran, Status why);
  void refuse(const PartMade& made, Status why);
  void refuse(Tick, Status why) { fail(std::move(why)); }

 private:
  void begin();
  void assign();
  void on_ran(const PartRan& ran);
  void on_made(PartMade& made);
  void on_failed(const PartAttempt& attempt, const Status& why, std::optional<std::uint64_t> bad_record);
  void fail(Status why);
  void end();
  void report(bool is_last);

  GuardedActor* self_;
  caf::actor alive_;  // ourselves, until the end: nobody else may hold a handle
  StageOrder order_;
  StageTracker tracker_;
  const std::shared_ptr<StageProgress> progress_ = std::make_shared<StageProgress>();
  std::map<std::size_t, caf::actor> running_;  // by part
  std::map<std::size_t, std::set<std::uint64_t>> skips_;
  std::vector<PartOutcome> outcomes_;
  Status status_;  // why the stage has failed; parts that are running are waited for
  Clock::time_point began_;
  std::size_t failed_ = 0;
};

using StageCoordinatorActor = caf::stateful_actor<std::unique_ptr<StageCoordinator>, LightActor>;
caf::behavior stage_coordinator_actor(StageCoordinatorActor* self, StageOrder order);

}  // namespace actorflow
