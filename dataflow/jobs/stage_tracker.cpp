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
    : keeps_(keeps), bound_(bound), parts_(homes.size()), num_pending_(homes.size()) {
  const double mean = bytes.empty() ? 0 : mean_of(bytes);
  for (std::size_t part = 0; part < homes.size(); ++part) {
    parts_[part].home = homes[part];
    // A small part may take as long as others: not all that it does depends on its bytes.
    if (mean > 0) parts_[part].size = std::max(1.0, static_cast<double>(bytes[part]) / mean);
    pending_[homes[part]].push_back(part);
  }
}

std::deque<std::size_t>* StageTracker::queue_for(int task, const CanRun& can_run, std::size_t spare) {
  const auto ready = [&](const std::deque<std::size_t>& queue) {
    return !queue.empty() && can_run(queue.front());
  };
  if (ready(again_)) return &again_;
  for (const int home : {task, nowhere})
    if (const auto found = pending_.find(home); found != pending_.end() && ready(found->second))
      return &found->second;
  const auto longest = std::ranges::max_element(pending_, {}, [&](const auto& of_home) {
    return ready(of_home.second) ? of_home.second.size() : 0;
  });
  if (longest == pending_.end() || longest->second.size() <= spare || !ready(longest->second))
    return nullptr;
  return &longest->second;
}

std::optional<PartAttempt> StageTracker::next(int task, double now, const CanRun& can_run,
                                              std::size_t spare) {
  auto* queue = queue_for(task, can_run, spare);
  if (!queue) return std::nullopt;
  const std::size_t part = queue->front();
  queue->pop_front();
  --num_pending_;
  return begin(part, task, now, false);
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

std::optional<PartAttempt> StageTracker::backup(int task, double now, std::size_t most) {
  const auto enough = static_cast<std::size_t>(made_before_backups * static_cast<double>(parts()));
  if (num_pending_ > 0 || durations_.empty() || num_made_ < std::max<std::size_t>(1, enough))
    return std::nullopt;
  if (static_cast<std::size_t>(std::ranges::count_if(runs_, &Run::is_backup)) >= most)
    return std::nullopt;
  const double usual = usual_time();
  const auto slow = std::ranges::find_if(runs_, [&](const Run& run) {
    const double limit =
        std::max(least_seconds, times_the_median * usual * parts_[run.attempt.part].size);
    return run.task != task && !run.granted && now - run.began > limit &&
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

std::size_t StageTracker::running_on(int task) const {
  return static_cast<std::size_t>(std::ranges::count(runs_, task, &Run::task));
}

std::optional<StageTracker::Run> StageTracker::oldest_run() const {
  const auto oldest = std::ranges::min_element(runs_, {}, &Run::began);
  return oldest == runs_.end() ? std::nullopt : std::optional(*oldest);
}

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

bool StageTracker::take_run(const PartAttempt& attempt, int task, Run* taken) {
  const auto run =
      std::ranges::find_if(runs_, [&](const Run& r) { return r.attempt == attempt && r.task == task; });
  if (run == runs_.end()) return false;
  if (taken) *taken = *run;
  runs_.erase(run);
  return true;
}

bool StageTracker::accept(const PartAttempt& attempt, int task, double now) {
  Run run;
  Part& part = parts_[attempt.part];
  if (!take_run(attempt, task, &run) || part.is_made) return false;
  part.is_made = true;
  part.holder = task;
  durations_.push_back((now - run.began) / part.size);
  ++num_made_;
  return true;
}

std::deque<std::size_t>& StageTracker::queue_again(std::size_t part) {
  return bound_ ? pending_[parts_[part].home] : again_;
}

void StageTracker::put_back(std::size_t part) {
  if (is_made(part) || !runs_of(part).empty()) return;
  queue_again(part).push_back(part);
  ++num_pending_;
}

void StageTracker::pause(std::size_t part, double until) {
  if (std::erase(queue_again(part), part) > 0) paused_.emplace(until, part);
}

bool StageTracker::resume(double now) {
  const auto over = paused_.upper_bound(now);
  const bool any = over != paused_.begin();
  for (auto paused = paused_.begin(); paused != over; paused = paused_.erase(paused))
    queue_again(paused->second).push_back(paused->second);
  return any;
}

unsigned StageTracker::fail(const PartAttempt& attempt, int task) {
  if (take_run(attempt, task, nullptr)) {
    ++parts_[attempt.part].failures;
    put_back(attempt.part);
  }
  return parts_[attempt.part].failures;
}

bool StageTracker::give_back(const PartAttempt& attempt, int task) {
  if (!take_run(attempt, task, nullptr)) return false;
  put_back(attempt.part);
  return true;
}

std::size_t StageTracker::lose_task(int task) {
  std::vector<PartAttempt> gone;
  for (const auto& run : runs_)
    if (run.task == task) gone.push_back(run.attempt);
  for (const auto& attempt : gone) give_back(attempt, task);
  for (std::size_t part = 0; part < parts(); ++part) lose_part(part, task);
  leave_home(task);
  return lost_.size();
}

std::size_t StageTracker::leave_home(int task) {
  const auto home = pending_.find(task);
  if (home == pending_.end() || bound_) return 0;
  const std::deque<std::size_t> parts = std::move(home->second);
  pending_.erase(home);
  auto& anywhere = pending_[nowhere];
  anywhere.insert(anywhere.end(), parts.begin(), parts.end());
  return parts.size();
}

bool StageTracker::lose_part(std::size_t part, int task) {
  Part& lost = parts_[part];
  if (!keeps_ || !lost.is_made || lost.holder != task) return false;
  lost.is_made = false;
  lost.holder = nowhere;
  --num_made_;
  lost_.push_back(part);
  return true;
}

void StageTracker::remake_lost() {
  remake_lost([](std::size_t) { return true; });
}

void StageTracker::remake_lost(const std::function<bool(std::size_t part)>& wanted) {
  const auto is_left = [&](std::size_t part) { return !wanted(part); };
  const auto remade = std::ranges::stable_partition(lost_, is_left);
  for (const std::size_t part : remade) put_back(part);
  lost_.erase(remade.begin(), remade.end());
}

void StageTracker::skip(std::size_t part) {
  for (auto& [home, queue] : pending_) {
    const auto found = std::ranges::find(queue, part);
    if (found == queue.end()) continue;
    queue.erase(found);
    --num_pending_;
    if (keeps_) return lost_.push_back(part);
    parts_[part].is_made = true;
    ++num_made_;
    return;
  }
}

}  // namespace actorflow
