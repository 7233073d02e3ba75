#include "dataflow/jobs/stage_tracker.h"

#include <algorithm>

namespace actorflow {
namespace {

// Backup attempts begin when nine of ten parts are made, for one that takes thrice the median and a
// second at least (MapReduce, Dean and Ghemawat 2004, has them near the end of a stage).
constexpr double made_before_backups = 0.9;
constexpr double times_the_median = 3, least_seconds = 1;

double mean_of(std::span<const std::uint64_t> bytes) {
  double all = 0;
  for (const std::uint64_t each : bytes) all += static_cast<double>(each);
  return all / static_cast<double>(bytes.size());
}

}  // namespace

StageTracker::StageTracker(std::span<const int> homes, bool keeps, bool bound,
                           std::span<const std::uint64_t> bytes)
    : keeps_(keeps), parts_(homes.size()), waiting_(bound) {
  const double mean = bytes.empty() ? 0 : mean_of(bytes);
  for (std::size_t part = 0; part < homes.size(); ++part) {
    parts_[part].home = homes[part];
    // A small part may take as long as others: not all that it does depends on its bytes.
    if (mean > 0) parts_[part].size = std::max(1.0, static_cast<double>(bytes[part]) / mean);
    waiting_.add(part, homes[part]);
  }
}

// Parts that run.

std::optional<PartAttempt> StageTracker::next(int task, double now, const CanRun& can_run,
                                              std::size_t spare) {
  const auto part = waiting_.take(task, can_run, spare);
  if (!part) return std::nullopt;
  parts_[*part].state = State::runs;
  return begin(*part, task, now, false);
}

PartAttempt StageTracker::begin(std::size_t part, int task, double now, bool is_backup) {
  const PartAttempt attempt{part, parts_[part].attempts++};
  runs_.push_back({attempt, task, now, false, is_backup});
  return attempt;
}

// Of a part of size 1.
double StageTracker::usual_time() const {
  std::vector<double> sorted = durations_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

bool StageTracker::is_slow(const Run& run, double now, double usual_time) const {
  const double limit =
      std::max(least_seconds, times_the_median * usual_time * parts_[run.attempt.part].size);
  return now - run.began > limit;
}

std::optional<PartAttempt> StageTracker::backup(int task, double now, std::size_t most) {
  const auto enough = static_cast<std::size_t>(made_before_backups * static_cast<double>(parts()));
  if (has_pending() || durations_.empty() || num_made_ < std::max<std::size_t>(1, enough))
    return std::nullopt;
  if (static_cast<std::size_t>(std::ranges::count_if(runs_, &Run::is_backup)) >= most)
    return std::nullopt;
  const double usual = usual_time();
  const auto slow = std::ranges::find_if(runs_, [&](const Run& run) {
    return run.task != task && !run.granted && is_slow(run, now, usual) &&
           runs_of(run.attempt.part).size() == 1;
  });
  if (slow == runs_.end()) return std::nullopt;
  return begin(slow->attempt.part, task, now, true);
}

std::vector<StageTracker::Run> StageTracker::runs_of(std::size_t part) const {
  std::vector<Run> runs;
  std::ranges::copy_if(runs_, std::back_inserter(runs),
                       [&](const Run& run) { return run.attempt.part == part; });
  return runs;
}

bool StageTracker::any_runs(std::size_t part) const {
  return std::ranges::any_of(runs_, [&](const Run& run) { return run.attempt.part == part; });
}

std::optional<StageTracker::Run> StageTracker::oldest_run() const {
  const auto oldest = std::ranges::min_element(runs_, {}, &Run::began);
  return oldest == runs_.end() ? std::nullopt : std::optional(*oldest);
}

// What becomes of attempts.

bool StageTracker::grant(const PartAttempt& attempt, int task) {
  if (is_made(attempt.part)) return false;
  Run* ours = nullptr;
  for (auto& run : runs_) {
    if (run.attempt.part != attempt.part) continue;
    if (run.granted) return false;
    if (run.attempt == attempt && run.task == task) ours = &run;
  }
  if (ours) ours->granted = true;
  return ours != nullptr;
}

std::optional<StageTracker::Run> StageTracker::take_run(const PartAttempt& attempt, int task) {
  const auto run =
      std::ranges::find_if(runs_, [&](const Run& r) { return r.attempt == attempt && r.task == task; });
  if (run == runs_.end()) return std::nullopt;
  const Run taken = *run;
  runs_.erase(run);
  return taken;
}

void StageTracker::set_made(std::size_t part, int holder) {
  Part& made = parts_[part];
  if (made.state == State::lost) --num_lost_;
  made.state = State::made;
  made.holder = holder;
  ++num_made_;
}

bool StageTracker::accept(const PartAttempt& attempt, int task, double now) {
  const auto run = take_run(attempt, task);
  if (!run || is_made(attempt.part)) return false;
  set_made(attempt.part, task);
  durations_.push_back((now - run->began) / parts_[attempt.part].size);
  return true;
}

unsigned StageTracker::fail(const PartAttempt& attempt, int task) {
  Part& part = parts_[attempt.part];
  if (take_run(attempt, task)) {
    ++part.failures;
    wait_unless_running(attempt.part);
  }
  return part.failures;
}

bool StageTracker::give_back(const PartAttempt& attempt, int task) {
  if (!take_run(attempt, task)) return false;
  wait_unless_running(attempt.part);
  return true;
}

void StageTracker::wait_unless_running(std::size_t part) {
  if (parts_[part].state != State::runs || any_runs(part)) return;
  parts_[part].state = State::waits;
  waiting_.add_again(part, parts_[part].home);
}

void StageTracker::pause(std::size_t part, double until) {
  if (!waiting_.remove_again(part, parts_[part].home)) return;
  parts_[part].state = State::paused;
  paused_.emplace(until, part);
}

bool StageTracker::resume(double now) {
  const auto over = paused_.upper_bound(now);
  const bool any = over != paused_.begin();
  for (auto paused = paused_.begin(); paused != over; paused = paused_.erase(paused)) {
    Part& part = parts_[paused->second];
    part.state = State::waits;
    waiting_.add_again(paused->second, part.home);
  }
  return any;
}

// Tasks and parts that are lost.

std::size_t StageTracker::lose_task(int task) {
  std::vector<PartAttempt> gone;
  for (const auto& run : runs_)
    if (run.task == task) gone.push_back(run.attempt);
  for (const auto& attempt : gone) give_back(attempt, task);
  for (std::size_t part = 0; part < parts(); ++part) lose_part(part, task);
  leave_home(task);
  return num_lost_;
}

std::size_t StageTracker::leave_home(int task) { return waiting_.leave_home(task); }

bool StageTracker::lose_part(std::size_t part, int task) {
  Part& lost = parts_[part];
  if (!keeps_ || lost.state != State::made || lost.holder != task) return false;
  lost.state = State::lost;
  lost.holder = nowhere;
  --num_made_;
  ++num_lost_;
  return true;
}

void StageTracker::remake_lost() {
  remake_lost([](std::size_t) { return true; });
}

void StageTracker::remake_lost(const std::function<bool(std::size_t part)>& wanted) {
  if (num_lost_ == 0) return;
  for (std::size_t part = 0; part < parts(); ++part) {
    if (parts_[part].state != State::lost || !wanted(part)) continue;
    --num_lost_;
    parts_[part].state = State::runs;  // if an attempt still does
    wait_unless_running(part);
  }
}

void StageTracker::skip(std::size_t part) {
  if (!waiting_.remove(part, parts_[part].home)) return;
  if (!keeps_) return set_made(part, nowhere);
  parts_[part].state = State::lost;
  ++num_lost_;
}

}  // namespace actorflow
