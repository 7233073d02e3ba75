// The actor that coordinates a job, on the first of its tasks. It decides on which task each part of a
// stage runs, when a failed or slow part runs again, and which attempt counts.
#pragma once

#include <atomic>
#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/engine/agent/bounded_wait.h"
#include "actors/jobs/engine/agent/job_agent.h"
#include "actors/jobs/engine/disk_pause.h"
#include "actors/jobs/engine/job_report.h"
#include "actors/jobs/engine/journal/job_journal.h"
#include "actors/jobs/messages/job_mail.h"
#include "actors/runtime/clock.h"
#include "dataflow/jobs/stage_tracker.h"

namespace actorflow {

// job's thread -> coordinator: run the stage.
struct CoordinateStage {
  StageNumber number = 0;
  std::uint32_t in_plan = 0;
  std::shared_ptr<const StageSpec> spec;
};
// job's thread -> coordinator: tell the tasks that the job has ended. If it ended well, the tasks that
// are there first get what they alone keep. The answer comes when all tasks have heard of the end, or
// are gone.
struct EndJob {
  Status status;
  std::function<void()> reply;
};

struct CoordinatorOrder {
  JobMailRef mail;
  std::map<StageNumber, JobHistory::Stage> history;  // of earlier runs
  JobTerms terms;
  std::string build;
  std::string job = {};  // its name, for error messages
  std::shared_ptr<const std::atomic<bool>> stopped;
  Clock& clock;
  JobReporter* reporter = nullptr;
  std::uint64_t skip_bad_records = 0;
  unsigned max_attempts = most_attempts;
  // How long an attempt that cannot run is tried again, and how long the owner of a part is waited for.
  // Both waits begin anew, a number of times, when a task that they concern comes or is lost.
  std::chrono::milliseconds patience{60'000};
  // How long the program of an owner that is there is waited for; the wait begins anew when the program
  // comes to a later stage.
  std::chrono::milliseconds program_patience{600'000};
};

class JobCoordinator {
 public:
  JobCoordinator(GuardedActor* self, CoordinatorOrder order);

  caf::behavior behavior();

 private:
  // Something that is missing: since when, how often, and the tasks whose coming or loss begins the wait
  // anew.
  struct Lack {
    explicit Lack(double now) : wait(now) {}

    BoundedWait wait;
    unsigned times = 0;
    std::set<int> of;
  };
  struct Stage {
    Stage(const CoordinateStage& order, std::span<const int> homes, double now);

    std::shared_ptr<const StageSpec> spec;  // null: nothing of it runs any more
    std::uint32_t in_plan;
    StageTracker tracker;
    std::set<StageNumber> reads;
    double began;
    std::vector<PartOutcome> outcomes;                    // until it has ended
    std::vector<WorkDone<std::uint64_t>> work;            // of attempts that count, by part
    std::vector<std::optional<std::uint64_t>> checksums;  // of parts that have ever been made
    std::map<std::size_t, std::set<std::uint64_t>> skips;
    std::map<std::size_t, std::set<int>> failed_on;
    // The longest pause of a part that was logged since the task last made one, by the task whose disk
    // has refused.
    std::map<int, std::chrono::seconds> told_pauses;
    std::map<std::size_t, unsigned> changed;  // how often a part's records had changed on a disk
    // What is missing for parts whose attempts come back without having run: a part or partition of an
    // earlier stage; {0, 0} if their tasks do not take them; or the part itself, if its owner is not
    // there.
    std::map<std::size_t, std::map<std::pair<StageNumber, std::uint64_t>, Lack>> lacks;
    // The parts whose chunks are in files, by part. If such a part is wanted again, a task takes it over
    // from the files.
    std::map<std::size_t, PartOutcome> on_disk;
    std::set<std::pair<std::size_t, unsigned>> takes_over;  // attempts that do so
    std::size_t failed = 0, backups = 0, resumed = 0;
    std::uint64_t result_bytes = 0;  // of parts that are made
    // By partition the bytes that its parts have handed over, where they have said so.
    std::map<std::uint64_t, std::uint64_t> heavy_partitions;
    // The same of keys, by partition.
    std::map<std::uint64_t, std::map<std::string, std::uint64_t>> heavy_keys;
    std::optional<StageDone> done;   // kept for tasks that come later
  };
  struct Task {
    std::uint64_t incarnation = 0;  // 0: not here
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
  void on_undelivered(int task, const Status& why);
  void on_lost(const PeerLost& lost);
  void on_tick();
  Task& meet(const Sender& from);
  void lose(int task);
  void mend(Stage& stage);
  void mend_wanted();

  // For parts that only one task can run: coordinator_owners.cpp.
  static bool lacks_own(const Stage& stage, int task);
  void say_done(int task, StageNumber number, Stage& stage);
  bool look_after_owners(StageNumber number, Stage& stage);
  bool wait_for_owner(StageNumber number, Stage& stage, std::size_t part);
  std::string where_program_is(const Task& task, StageNumber awaited) const;
  void come_nearer(int task);

  // For the end of the job: coordinator_end.cpp.
  std::optional<std::pair<int, StageNumber>> one_without_its_own() const;
  void end_when_all_have_their_own();
  void tell_all();
  JobEnded end_of(int task, std::uint64_t to = 0) const;
  JobIs job_is(std::uint64_t to = 0) const;
  void reply_if_all_have_left();
  bool anything_is_under_way() const;

  // For the journal.
  bool recall(StageNumber number, Stage& stage);
  void recall_part(Stage& stage, const JournaledPart& part);
  void note(const AttemptId& id, Stage& stage, const PartOutcome& outcome);
  void on_not_whole(Stage& stage, const AttemptId& id, int from, const Status& why);
  static bool makes_parts(const Stage& stage);
  static bool is_complete(const Stage& stage);

  void check_fingerprint(int task);
  void assign();
  void end_pauses();
  bool assign_one(int task);
  bool assign_backup(int task);
  bool has_room(const Task& task, const Stage& stage) const;
  template <class IsOne>
  bool has_untried(const std::set<int>& failed_on, const IsOne& is_one) const;
  bool can_run(StageNumber number, const Stage& stage, std::size_t part, int task) const;
  void run(StageNumber number, Stage& stage, const PartAttempt& attempt, int task);
  void leave(int task);
  void give_back(Stage& stage, const PartAttempt& attempt, int task);
  void drop(StageNumber number, Stage& stage, const StageTracker::Run& run);
  void free_parts_of_late_tasks(Stage& stage);
  void on_failed(int from, Stage& stage, const PartRan& ran);
  enum class Chance { none, now, elsewhere, later };  // that another attempt goes better
  Chance chance_of(const Stage& stage, const PartRan& ran) const;
  bool tries_again(Stage& stage, const AttemptId& id, int from, const Status& status, Chance chance);
  bool skips(Stage& stage, const PartRan& ran);
  std::string skipped_before(Code why) const;
  bool lose_part(const MissingPart& missing, const Status& why);
  static Lack& lack_of(Stage& stage, std::size_t part, std::pair<StageNumber, std::uint64_t> what,
                       double now);
  void renew_waits_of(int task);
  bool is_over(const BoundedWait& wait) const;
  bool waits(Stage& stage, const PartNotRun& part, int from);
  bool are_apart(const PartNotRun& part, int from) const;
  std::string reason_of(const PartNotRun& part, int from) const;
  static bool runs(const Stage& stage, const AttemptId& id, int task);
  void drop_others(StageNumber number, Stage& stage, std::size_t part);
  static void note_weight(Stage& stage, const PartMade& made);
  bool has_room_for_result(Stage& stage, const PartOutcome& outcome);
  void fail(Status why);
  void end_stage(Status status);
  std::string input_of(const Stage& stage, std::size_t part) const;
  void report(bool is_last);
  double now() const;
  Stage* running_stage();

  GuardedActor* self_;
  std::map<StageNumber, JobHistory::Stage> history_;  // of stages that have not begun
  const CoordinatorOrder order_;
  std::vector<Task> tasks_;
  std::map<StageNumber, Stage> stages_;
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
  std::optional<BoundedWait> end_wait_;                   // from then on
  std::optional<EndJob> end_;                             // all are told
  double ended_ = 0;
};

using JobCoordinatorActor = caf::stateful_actor<std::unique_ptr<JobCoordinator>, ComputingActor>;
caf::behavior job_coordinator_actor(JobCoordinatorActor* self, CoordinatorOrder order);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::CoordinateStage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::EndJob)
