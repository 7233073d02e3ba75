// The actor of a job on each of its tasks: runs the parts that the coordinator gives it, and tells the
// job's thread what has become of a stage.
#pragma once

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/jobs/engine/agent/agent_orders.h"
#include "actors/jobs/engine/agent/renewed_wait.h"
#include "actors/jobs/engine/parts/part_actor.h"
#include "actors/jobs/messages/job_mail.h"
#include "actors/jobs/slices/input_fetcher.h"
#include "actors/jobs/slices/kept_records.h"

namespace actorflow {

class JobAgent {
 public:
  JobAgent(GuardedActor* self, AgentOrder order);

  caf::behavior behavior();
  void refuse(const Sender& from, const RunPart& run, Status why);

 private:
  using Progress = std::shared_ptr<StageProgress>;
  struct Stage {
    std::shared_ptr<const StageSpec> spec;
    std::weak_ptr<KeptRecords> kept;  // the program's: they go when nothing there reads them any more
    Progress progress = std::make_shared<StageProgress>();
    std::function<void(StageEnd)> reply;  // until the stage has ended
    std::optional<StageEnd> end;          // while its last attempts are waited for
  };
  enum class State { waits_for_input, queued, runs, has_run, commits };
  struct Attempt {
    State state = State::waits_for_input;
    std::set<std::uint64_t> skips;
    std::vector<SliceSet> inputs;
    std::set<SliceSet> missing;
    std::optional<PartOutcome> made;
    bool cancelled = false;
    std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);
    caf::actor runner;
  };

  // Orders of the job's thread.
  void begin(BeginStage& stage);
  void forget(StageNumber number);
  void await(AwaitJob& question);
  void await(AwaitJobEnd& question);
  void abandon(AbandonParts& order);
  // Messages of the coordinator.
  void on(const JobIs& job);
  void on(const RunPart& run);
  void on(const CancelPart& cancel);
  void on(const AcceptPart& accept);
  void on(StageDone& done);
  void on(const JobEnded& ended);
  // Messages of parts.
  void on(const AttemptRan& ran);
  void on(AttemptMade& made);

  void on_letter(const Sender& from, ActorMessage& letter);
  bool answers_us(const ActorMessage& letter) const;
  void on_undelivered(int task, const ActorMessage& letter);
  void on_lost(const PeerLost& lost);
  void on_arrivals(const std::vector<InputFetcher::Arrival>& arrivals);
  void on_tick();
  void say_ran(const AttemptRan& ran);
  void run_queued();
  void try_spawn(const AttemptId& id, Attempt& attempt);
  void spawn(const AttemptId& id, Attempt& attempt);
  void cancel(const AttemptId& id);
  void cancel_all(StageNumber number);
  // Forgets an attempt that has ended.
  void drop(const AttemptId& id);
  // In agent_ends.cpp.
  void end(StageNumber number, StageEnd how);
  void end_if_done(StageNumber number);
  void end_if_abandoned();
  void say_left();

  void say_ready();
  void say_progress();
  void look_after_last_parts();
  std::string last_parts() const;
  double now() const;
  void lose_coordinator(const std::string& why);
  bool waits_for_coordinator() const;
  void look_after_coordinator();
  void note_first_program(StageNumber begun);
  void look_after_first_program();
  std::string why_first_is_waited_for() const;
  void give_up(const Status& why, bool begins_anew);

  GuardedActor* self_;
  const AgentOrder order_;
  JobTools tools_;
  std::size_t slots_;
  InputFetcher fetcher_;
  std::map<StageNumber, Stage> stages_;
  StageNumber waiting_ = 0;  // the stage that the job's thread waits for
  std::map<AttemptId, Attempt> attempts_;
  std::deque<AttemptId> queue_;
  std::size_t running_ = 0;
  std::optional<AwaitJob> joining_;
  std::optional<AwaitJobEnd> leaving_;
  std::optional<AbandonParts> abandoned_;
  std::optional<JobEnded> job_end_;
  std::optional<RenewedWait> end_wait_;   // since the stage or the job that is waited for has ended
  bool has_left_ = false;                 // the coordinator is told
  std::optional<RenewedWait> lost_wait_;  // while the coordinator is gone
  std::string lost_why_;
  StageNumber first_at_ = 0;               // to which stage the coordinating task's program has come
  std::optional<RenewedWait> first_wait_;  // while this task's program is ahead of it
};

// A computing actor: it copies slices that come from other tasks, which is too much for the network's
// thread.
using JobAgentActor = caf::stateful_actor<std::unique_ptr<JobAgent>, ComputingActor>;
caf::behavior job_agent_actor(JobAgentActor* self, AgentOrder order);

}  // namespace actorflow
