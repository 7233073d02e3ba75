// Which parts of a stage are to run, which run where, and which task has made what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dataflow/jobs/part_queues.h"

namespace actorflow {

struct PartAttempt {
  std::size_t part = 0;
  unsigned attempt = 0;  // from 0 on

  bool operator==(const PartAttempt&) const = default;
};

// A part goes through these states:
//
//   waits -> runs            next()
//   runs -> made             accept(); second attempts may still run
//   runs -> waits            its last attempt has ended without a result: fail(), give_back(),
//   lose_task() waits -> paused -> waits pause(), resume() made -> lost             it is gone with the
//   task that held it, and nobody wants it again yet:
//                            lose_part(), lose_task()
//   lost -> waits            remake_lost()
//   waits -> made or lost    skip()
//
// Tasks are numbered from 0 on; times are in seconds, from any moment. Not thread-safe.
class StageTracker {
 public:
  static constexpr int nowhere = PartQueues::nowhere;
  using CanRun = PartQueues::CanRun;

  // `homes`: for each part the task that has its input, or nowhere. `keeps`: what a part has made stays
  // with its task, and is lost with it. `bound`: no part runs anywhere but at home. `bytes`: what each
  // part reads, which says how long it may take; none: all take equally long.
  StageTracker(std::span<const int> homes, bool keeps, bool bound = false,
               std::span<const std::uint64_t> bytes = {});

  // The next part for the task, which runs there from now on. Parts that have failed come first, then
  // those at home there, then those at home nowhere; those of other tasks only where they have more than
  // `spare` of them to do.
  std::optional<PartAttempt> next(int task, double now, const CanRun& can_run, std::size_t spare);
  // A second attempt of a part that takes far longer than others did; none if `most` such attempts run
  // already.
  std::optional<PartAttempt> backup(int task, double now, std::size_t most);

  // Allows the attempt to move its files to their places. False if another attempt was allowed to, or
  // this one runs no longer.
  bool grant(const PartAttempt& attempt, int task);
  // Notes that the attempt has made the part, which its task holds. False if another attempt has made
  // it.
  bool accept(const PartAttempt& attempt, int task, double now);
  // Notes that the attempt has failed. Returns how many attempts of the part have failed.
  unsigned fail(const PartAttempt& attempt, int task);
  // The part counts as one that has never failed.
  void forget_failures(std::size_t part) { parts_[part].failures = 0; }
  // Lets a part that is to run again wait until then. It counts as pending.
  void pause(std::size_t part, double until);
  // Ends the waits that are over by now. False if there are none.
  bool resume(double now);
  bool has_paused() const { return !paused_.empty(); }
  // Notes that the attempt has ended without a result, through no fault of the part. False if it has not
  // run.
  bool give_back(const PartAttempt& attempt, int task);

  struct Run {
    PartAttempt attempt;
    int task = 0;
    double began = 0;
    bool granted = false, is_backup = false;
  };
  // The attempts that run; and those of one part.
  std::span<const Run> runs() const { return runs_; }
  std::vector<Run> runs_of(std::size_t part) const;

  // Notes that the task is gone, with the parts that it held and its attempts. Returns how many parts
  // are lost.
  std::size_t lose_task(int task);
  // Lets parts whose input is at that task run anywhere, except those that are bound to it. Returns how
  // many.
  std::size_t leave_home(int task);
  // Notes that the task no longer holds the part. False if it did not hold it.
  bool lose_part(std::size_t part, int task);
  // Lets lost parts run again: all, or those for which `wanted` is true.
  void remake_lost();
  void remake_lost(const std::function<bool(std::size_t part)>& wanted);
  // The part was made in an earlier run of the job and needs not run; what it has handed over counts as
  // lost. REQUIRES: it has not begun.
  void skip(std::size_t part);

  std::size_t parts() const { return parts_.size(); }
  std::size_t made() const { return num_made_; }
  bool is_made(std::size_t part) const { return parts_[part].state == State::made; }
  bool finished() const { return num_made_ == parts(); }
  std::size_t lost() const { return num_lost_; }
  // The task that made the part and holds it; nowhere if none does.
  int holder(std::size_t part) const { return parts_[part].holder; }
  // Whether a part waits or is paused.
  bool has_pending() const { return waiting_.size() > 0 || has_paused(); }
  // The task with the attempt that has run longest; nowhere if none runs.
  std::optional<Run> oldest_run() const;

 private:
  enum class State : std::uint8_t { waits, paused, runs, made, lost };
  struct Part {
    State state = State::waits;
    int home = nowhere;
    double size = 1;       // the mean of all is 1, and none counts as smaller
    int holder = nowhere;  // of a part that is made
    unsigned attempts = 0, failures = 0;
  };

  void set_made(std::size_t part, int holder);
  PartAttempt begin(std::size_t part, int task, double now, bool is_backup);
  std::optional<Run> take_run(const PartAttempt& attempt, int task);
  bool any_runs(std::size_t part) const;
  // An attempt has ended without a result.
  void wait_unless_running(std::size_t part);
  bool is_slow(const Run& run, double now, double usual_time) const;
  double usual_time() const;

  const bool keeps_;
  std::vector<Part> parts_;
  PartQueues waiting_;
  std::multimap<double, std::size_t> paused_;  // by when their waits are over
  std::vector<Run> runs_;
  std::vector<double> durations_;  // of parts that are made, by their sizes
  std::size_t num_made_ = 0, num_lost_ = 0;
};

}  // namespace actorflow
