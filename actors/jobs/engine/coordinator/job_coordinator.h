// The actor that coordinates a job, on the first of its tasks. It decides on which task each part of a
// stage runs, when a failed or slow part runs again, and which attempt counts.
#pragma once

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/engine/agent/agent_orders.h"
#include "actors/jobs/engine/agent/renewed_wait.h"
#include "actors/jobs/engine/coordinator/coordinator_orders.h"
#include "actors/jobs/engine/coordinator/stage_state.h"
#include "actors/jobs/messages/job_mail.h"
#include "actors/runtime/guarded_actor.h"
#include "actors/runtime/thread_affinity.h"
#include "dataflow/jobs/stage_tracker.h"

namespace actorflow {

class JobCoordinator {
 public:
  JobCoordinator(GuardedActor* self, CoordinatorOrder order);

  caf::behavior behavior();

 private:
  struct Task {
    std::uint64_t incarnation = 0;  // 0: not here
    std::uint64_t before = 0;       // the incarnation that was here last; 0: none
    bool has_left = false;          // need not be told of the job's end
    std::uint64_t left_as = 0;      // the incarnation that has said so; 0: none
    StageNumber ready = 0;          // to which stage its program has come
    std::size_t slots = 0, running = 0;
    std::vector<std::string> fingerprint;  // of that stage
    std::optional<AgentProgress> progress;
  };
  // The work that an agent has done so far; it stays when the agent's task is gone.
  struct Spent {
    StageNumber stage = 0;  // in which it was busy for so long
    double busy_seconds = 0;
    std::uint64_t bytes_spilled = 0;
  };

  // Orders of the job's thread.
  void begin(const CoordinateStage& order);
  void forget(StageNumber number);
  void end(const EndJob& how);
  // Messages of agents.
  void on(const Sender& from, const JoinJob& join);
  void on(int from, StageReady& ready);
  void on(int from, const PartRan& ran);
  void on(int from, const PartNotRun& part);
  void on(int from, PartMade& made);
  void on(int from, const AgentProgress& progress);
  void on(int from, const JobLeft&);

  void on_letter(const Sender& from, const ActorMessage& letter);
  void on_tick();
  Task& task_at(int position) { return tasks_[static_cast<std::size_t>(position)]; }
  const Task& task_at(int position) const { return tasks_[static_cast<std::size_t>(position)]; }
  Task& meet(const Sender& from);
  void check_fingerprint(int task);
  void fail(Status why);
  void end_stage(Status status);
  double now() const;
  StageState* running_stage();
  // Null if the message that names them is of no stage here.
  StageState* stage_with(StageNumber number, std::uint64_t part);

  // Tasks that are lost, and what is made again: coordinator_loss.cpp.
  void on_undelivered(int task, const Status& why);
  void on_lost(const PeerLost& lost);
  void lose(int task);
  void forget_failures_of(int task);
  void mend(StageState& stage);
  void mend_wanted();

  // Which task runs what: coordinator_assign.cpp.
  void assign();
  bool assign_one(int task);
  bool assign_backup(int task);
  void free_parts_of_late_tasks(StageState& stage);
  void end_pauses();
  bool has_room(const Task& task, const StageState& stage) const;
  bool can_run(const StageState& stage, std::size_t part, int task) const;
  bool has_untried(const PartState& part, const std::function<bool(const Task&)>& is_one) const;
  void run(StageState& stage, const PartAttempt& attempt, int task);
  std::vector<std::int32_t> holders_of(const SliceSet& set) const;

  // What becomes of attempts: coordinator_parts.cpp.
  void take(int from, StageState& stage, PartMade& made);
  void leave(int task);
  void give_back(StageState& stage, const PartAttempt& attempt, int task);
  void drop(StageState& stage, const StageTracker::Run& run);
  bool has_room_for_result(StageState& stage, const PartOutcome& outcome);

  // Attempts that have failed: coordinator_failures.cpp.
  enum class Chance { none, now, elsewhere, later };  // that another attempt goes better
  void on_failed(int from, StageState& stage, const PartRan& ran);
  Chance chance_of(const StageState& stage, const PartRan& ran) const;
  bool tries_again(StageState& stage, const AttemptId& id, int from, const Status& status,
                   Chance chance);
  void put_off(StageState& stage, std::uint64_t part, int task, const std::string& why);
  bool skips(StageState& stage, const PartRan& ran);
  std::string skipped_before(Code why) const;

  // Attempts that come back without having run: coordinator_waits.cpp.
  bool lose_part(const MissingPart& missing, const Status& why);
  void renew_waits_of(int task);
  bool is_over(const RenewedWait& wait) const;
  bool waits(StageState& stage, const PartNotRun& part, int from);
  bool are_apart(const PartNotRun& part, int from) const;
  std::string reason_of(const PartNotRun& part, int from) const;

  // Parts that only one task can run: coordinator_owners.cpp.
  void say_done(int task, StageState& stage);
  bool look_after_owners(StageState& stage);
  bool wait_for_owner(StageState& stage, std::size_t part);
  std::string where_program_is(const Task& task, StageNumber awaited) const;
  void come_nearer(int task);

  // The end of the job: coordinator_end.cpp.
  std::optional<std::pair<int, StageNumber>> one_without_its_own() const;
  void end_when_all_have_their_own();
  void tell_all();
  JobEnded end_of(int task, std::uint64_t to = 0) const;
  JobIs job_is(std::uint64_t to = 0) const;
  void reply_if_all_have_left();
  bool anything_is_under_way() const;

  // The journal: coordinator_journal.cpp.
  bool recall(StageState& stage);
  void recall_part(StageState& stage, const JournaledPart& made);
  void note(const AttemptId& id, StageState& stage, const PartOutcome& outcome);
  void on_not_whole(StageState& stage, const AttemptId& id, int from, const Status& why);

  // Progress: coordinator_report.cpp.
  std::string input_of(const StageState& stage, std::size_t part) const;
  void report(bool is_last);

  GuardedActor* self_;
  std::map<StageNumber, JobHistory::Stage> history_;  // of stages that have not begun
  const CoordinatorOrder order_;
  std::vector<Task> tasks_;
  std::map<StageNumber, StageState> stages_;
  StageNumber current_ = 0;  // the stage that runs
  // Tasks that have come to a stage that has ended, and lack the part of it that they alone keep.
  std::map<int, StageNumber> catching_up_;
  std::uint64_t skipped_ = 0;
  std::vector<std::string> first_skipped_;  // the places of the first records that were left out
  std::size_t not_whole_ = 0;               // files that could not be taken over
  std::map<int, unsigned> undelivered_;  // messages of each task since it last made a part of this stage
  std::map<std::pair<int, std::uint64_t>, Spent> spent_;  // by task and agent
  std::map<int, StageNumber> last_own_;                   // as JobEnded has it, by task
  std::optional<EndJob> ending_;                          // while tasks get what they alone keep
  std::optional<RenewedWait> end_wait_;                   // from then on
  std::optional<EndJob> end_;                             // all are told
  double ended_ = 0;
};

using JobCoordinatorActor = caf::stateful_actor<std::unique_ptr<JobCoordinator>, ComputingActor>;
caf::behavior job_coordinator_actor(JobCoordinatorActor* self, CoordinatorOrder order);

}  // namespace actorflow
