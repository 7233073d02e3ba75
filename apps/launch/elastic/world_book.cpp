#include "apps/launch/elastic/world_book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace actorflow {
namespace {

constexpr std::chrono::milliseconds notice_after{1500};
// A launcher that has not decided for this long was held up: it decides more often while tasks answer.
constexpr std::chrono::seconds held_up{1};

}  // namespace

void WorldBook::started(int task, Time now) {
  tasks_[task] = {};
  if (first_start_ == Time{}) first_start_ = now;
}

void WorldBook::joins(int task, std::int64_t epoch, std::int64_t step) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.stage == Stage::leaving) return;
  found->second.stage = Stage::waiting;
  found->second.epoch = epoch;
  found->second.step = step;
}

void WorldBook::heard(int task, std::int64_t epoch) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || epoch != world_.epoch || found->second.unanswered == 0) return;
  --found->second.unanswered;
  found->second.silent_since = last_decision_;
}

void WorldBook::leaves(int task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.stage == Stage::leaving) return;
  found->second.stage = Stage::leaving;
  if (is_member(task)) left_.push_back(task);
}

void WorldBook::gone(int task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  if (is_member(task) && found->second.stage != Stage::leaving) lost_.push_back(task);
  tasks_.erase(found);
}

std::vector<WorldOrder> WorldBook::decide(Time now) {
  waiting_ = false;
  forgive_own_delay(now);
  if (!failed_) advance(now);
  return std::exchange(orders_, {});
}

// Silence does not count while the launcher was held up: answers may lie there unread.
void WorldBook::forgive_own_delay(Time now) {
  if (now > last_decision_ + held_up)
    for (auto& [number, task] : tasks_) task.silent_since = now;
  last_decision_ = now;
}

// One of three: training is complete, nobody trains (any more), or tasks train in the present world.
void WorldBook::advance(Time now) {
  if (complete_) return end_those_who_wait();
  if (in_stage(Stage::training).empty()) return form_next(now);
  if (const Told how = change_due(); how != Told::nothing) {
    call_together(how, now);
    waiting_ = true;
  }
  look_for_silence(now);
}

void WorldBook::end_those_who_wait() {
  for (const int task : in_stage(Stage::waiting)) {
    tasks_[task].stage = Stage::leaving;
    order(WorldOrder::Kind::end, task, "training is complete");
  }
}

// What those who train are to be told of the present world, if they have not been told yet.
WorldBook::Told WorldBook::change_due() const {
  if (in_stage(Stage::training).size() < world_.members.size()) return Told::over;
  return may_grow() ? Told::change : Told::nothing;
}

void WorldBook::call_together(Told how, Time now) {
  if (told_ >= how) return;
  told_ = how;
  told_at_ = now;
  const std::string why = changes(world_);
  for (const int task : in_stage(Stage::training))
    tell(how == Told::over ? WorldOrder::Kind::over : WorldOrder::Kind::change, task, now, why);
}

void WorldBook::tell(WorldOrder::Kind kind, int task, Time now, std::string why) {
  Task& told = tasks_[task];
  if (told.unanswered++ == 0) told.silent_since = now;
  order(kind, task, std::move(why));
}

// Finds tasks that do not answer: a live task does, on a thread of its own, however long its step takes.
void WorldBook::look_for_silence(Time now) {
  const auto training = in_stage(Stage::training);
  for (const int task : training) {
    Task& each = tasks_[task];
    if (each.unanswered == 0 || each.killed) continue;
    waiting_ = true;
    if (now < each.silent_since + rules_.silence) continue;
    each.killed = true;
    order(WorldOrder::Kind::say, -1,
          fmt::format("{} has been silent for {} s, so it is ended", label_(task),
                      std::chrono::duration_cast<std::chrono::seconds>(rules_.silence).count()));
    order(WorldOrder::Kind::kill, task);
  }
  if (told_ == Told::over)
    notice_once("steps", told_at_, now, fmt::format("waits for {} to end a step", labels(training)));
}

bool WorldBook::may_grow() const {
  return !in_stage(Stage::waiting).empty() && std::ssize(world_.members) < rules_.max &&
         (!rules_.reset_limit || resets_ < *rules_.reset_limit);
}

// Begins the next world, unless there is still somebody to wait for.
void WorldBook::form_next(Time now) {
  if (waits_for_first(now) || waits_for_minimum(now)) return;
  LaunchedWorld next = next_world(world_, candidates(), rules_.max);
  resets_ += world_.epoch > 0 && !has_members_of(next);
  if (rules_.reset_limit && resets_ > *rules_.reset_limit)
    return fail(fmt::format("{}; the members have changed {} times, which is --reset_limit",
                            changes(next), *rules_.reset_limit));
  begin(std::move(next), now);
}

std::vector<Candidate> WorldBook::candidates() const {
  std::vector<Candidate> list;
  for (const int task : in_stage(Stage::waiting))
    list.push_back({.task = task, .epoch = tasks_.at(task).epoch, .step = tasks_.at(task).step});
  return list;
}

bool WorldBook::has_members_of(const LaunchedWorld& other) const {
  return std::ranges::is_permutation(world_.members, other.members);
}

// The first world waits for all started tasks; later worlds take them when they come.
bool WorldBook::waits_for_first(Time now) {
  const auto starting = in_stage(Stage::starting);
  if (world_.epoch > 0 || starting.empty() || now >= first_start_ + rules_.patience) return false;
  notice_once("begin", first_start_, now, fmt::format("waits for {} to begin", labels(starting)));
  waiting_ = true;
  return true;
}

// Every world waits for `min` tasks. Fails the job if that is in vain.
bool WorldBook::waits_for_minimum(Time now) {
  const std::size_t there = in_stage(Stage::waiting).size();
  if (std::cmp_greater_equal(there, rules_.min)) return false;
  if (!short_since_) short_since_ = now;
  const std::string are_left =
      fmt::format("{} of at least {} tasks {} there", there, rules_.min, there == 1 ? "is" : "are");
  const std::string why = changes(world_);
  const std::string text = why.empty() ? are_left : why + "; " + are_left;
  if (in_stage(Stage::starting).empty() && !more_may_come_) {
    fail(text + ", and no more will come");
  } else if (now >= *short_since_ + rules_.patience) {
    fail(fmt::format("{} after {} s", text,
                     std::chrono::duration_cast<std::chrono::seconds>(rules_.patience).count()));
  } else {
    notice_once(are_left, *short_since_, now, text + "; waiting for more");
    waiting_ = true;
  }
  return true;
}

void WorldBook::begin(LaunchedWorld next, Time now) {
  order(WorldOrder::Kind::say, -1, sentence(next));
  world_ = std::move(next);
  for (const int task : world_.members) {
    tasks_[task].stage = Stage::training;
    tasks_[task].unanswered = 0;
    tell(WorldOrder::Kind::give, task, now);
  }
  lost_.clear();
  left_.clear();
  told_ = Told::nothing;
  short_since_.reset();
  noticed_.clear();
}

std::string WorldBook::sentence(const LaunchedWorld& next) const {
  const auto count = [](std::size_t tasks) {
    return fmt::format("{} task{}", tasks, tasks == 1 ? "" : "s");
  };
  const std::string head = fmt::format("world {}: ", next.epoch);
  if (world_.epoch == 0) return fmt::format("{}{} train", head, count(next.members.size()));
  const bool has_state = next.step >= 0;
  const std::string from =
      has_state
          ? fmt::format("train on from step {}", next.step)
          : std::string("begin at the newest checkpoint, or anew, as nobody has the state any more");
  const std::string why = changes(next);
  const std::string size =
      next.members.size() < world_.members.size()
          ? fmt::format("{} of {}", next.members.size(), count(world_.members.size()))
          : count(next.members.size());
  return fmt::format("{}{} {}{}{}", head, size, from, why.empty() ? "" : "; ", why);
}

// How `next` differs from the present world; for the present world itself, how it is about to change.
std::string WorldBook::changes(const LaunchedWorld& next) const {
  std::vector<int> come;
  for (const int task : next.epoch == world_.epoch ? in_stage(Stage::waiting) : next.members)
    if (world_.epoch > 0 && (!is_member(task) || std::ranges::count(lost_, task) > 0))
      come.push_back(task);
  std::string text;
  const auto add = [&](const std::vector<int>& tasks, const char* one, const char* several) {
    if (tasks.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", labels(tasks),
                        tasks.size() == 1 ? one : several);
  };
  add(lost_, "was lost", "were lost");
  add(left_, "has left", "have left");
  add(come, "has come", "have come");
  return text;
}

std::string WorldBook::labels(const std::vector<int>& tasks) const {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tasks.size() && i < most; ++i) names.push_back(label_(tasks[i]));
  const std::size_t left = tasks.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "),
                     left > 0 ? fmt::format(" and {} more", left) : std::string());
}

std::vector<int> WorldBook::in_stage(Stage stage) const {
  std::vector<int> found;
  for (const auto& [number, task] : tasks_)
    if (task.stage == stage) found.push_back(number);
  return found;
}

bool WorldBook::is_member(int task) const {
  return std::ranges::find(world_.members, task) != world_.members.end();
}

bool WorldBook::is_leaving(int task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() && found->second.stage == Stage::leaving;
}

void WorldBook::notice_once(const std::string& what, Time since, Time now, const std::string& text) {
  if (now < since + notice_after || !noticed_.insert(what).second) return;
  order(WorldOrder::Kind::say, -1, text);
}

void WorldBook::fail(const std::string& why) {
  failed_ = true;
  order(WorldOrder::Kind::end_job, -1, why);
}

}  // namespace actorflow
