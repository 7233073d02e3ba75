// Random schedules of an elastic job: tasks that train, die, are stopped, leave and come, in any order.
#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <set>

#include "apps/launch/elastic/world_book.h"

BOOST_AUTO_TEST_SUITE(world_schedules)

using namespace actorflow;

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t last_step = 60;

// A task's process, as the protocol lets it behave.
struct Process {
  enum class Is : std::uint8_t { starting, asking, training, stopped };
  Is is = Is::starting;
  std::int64_t epoch = 0, step = -1, told = 0;  // `told`: the epoch that shall end
  int to_answer = 0;                            // words of the launcher
};

class Schedule {
 public:
  explicit Schedule(unsigned seed) : random_(seed), restarts_(draw(6)), newcomers_(draw(4)) {
    rules_.min = 1 + draw(3);
    rules_.max = rules_.min + draw(4);
    if (draw(3) == 0) rules_.reset_limit = draw(8);
    rules_.patience = 60s;
    book_.emplace(rules_, [](int task) { return std::to_string(task); });
    const int tasks = rules_.min + draw(rules_.max - rules_.min + 1);
    for (int task = 0; task < tasks; ++task) start(task);
    next_task_ = tasks;
  }

  // True if the job has come to its end, well or badly.
  bool run() {
    for (int events = 0; events < 20'000 && !over_; ++events) {
      if (draw(4) == 0) now_ += std::chrono::milliseconds(draw(1200));
      event();
      book_->more_may_come(newcomers_ > 0);
      for (const auto& order : book_->decide(now_)) obey(order);
      over_ = over_ || (processes_.empty() && newcomers_ == 0);
    }
    return over_;
  }

 private:
  int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void start(int task) {
    processes_[task] = {};
    book_->started(task, now_);
  }

  void event() {
    if (processes_.empty()) {
      if (newcomers_ > 0) come();
      return;
    }
    const auto chosen = std::next(processes_.begin(), draw(static_cast<int>(processes_.size())));
    const auto& [task, process] = *chosen;
    switch (const int what = draw(100)) {
      case 0:
        return die(task);
      case 1:
        processes_[task].is = Process::Is::stopped;
        return;
      case 2:
        return leave(task);
      case 3:
        return come();
      default:
        return go_on(task, process, what);
    }
  }

  void come() {
    if (newcomers_ == 0) return;
    --newcomers_;
    start(next_task_++);
  }

  void die(int task) {
    book_->gone(task);
    processes_.erase(task);
    if (restarts_ == 0) return;
    --restarts_;
    start(task);
  }

  void leave(int task) {
    book_->leaves(task);
    book_->gone(task);
    processes_.erase(task);
  }

  void go_on(int task, const Process& was, int what) {
    Process& process = processes_[task];
    if (process.is == Process::Is::starting) return ask(task, process);
    if (was.is != Process::Is::training) return;
    if (process.to_answer > 0 && what % 2 == 0) {
      --process.to_answer;
      return book_->heard(task, process.epoch);
    }
    // A loss may be seen before the launcher tells of it.
    if (process.told == process.epoch || member_is_missing(process)) return ask(task, process);
    make_step(task);
  }

  void ask(int task, Process& process) {
    process.is = Process::Is::asking;
    book_->joins(task, process.epoch, process.step);
  }

  bool member_is_missing(const Process& process) const {
    return std::ranges::any_of(book_->world().members, [&](int member) {
      const auto found = processes_.find(member);
      return found == processes_.end() || found->second.epoch != process.epoch ||
             found->second.is != Process::Is::training;
    });
  }

  // A step is made by all members, except that some may hear of a loss instead: those stay behind.
  void make_step(int first) {
    const bool is_torn = draw(20) == 0;
    for (const int member : book_->world().members) {
      if (member != first && is_torn && draw(2) == 0) continue;
      ++processes_.at(member).step;
    }
    if (is_torn) die(first);
    const auto found = processes_.find(first);
    if (found != processes_.end() && found->second.step >= last_step) {
      book_->complete();
      book_->gone(first);
      over_ = true;
    }
  }

  void obey(const WorldOrder& order) {
    using Kind = WorldOrder::Kind;
    if (order.kind == Kind::end_job) over_ = true;
    if (order.kind == Kind::kill) die(order.task);
    const auto found = processes_.find(order.task);
    if (found == processes_.end()) return;
    Process& process = found->second;
    if (order.kind == Kind::change || order.kind == Kind::over) {
      process.told = book_->world().epoch;
      ++process.to_answer;
    }
    if (order.kind == Kind::give) begin_world(order.task, process);
  }

  void begin_world(int task, Process& process) {
    const LaunchedWorld& world = book_->world();
    if (task == world.members.front()) check_world(world);
    // Nobody is given a place that did not ask, or that still trains elsewhere.
    BOOST_TEST((process.is == Process::Is::asking || process.is == Process::Is::stopped));
    BOOST_TEST(std::ranges::count(world.members, task) == 1);
    BOOST_TEST(process.epoch < world.epoch);
    process.epoch = world.epoch;
    process.to_answer = 1;
    // The first one's state is everybody's; a copy that is interrupted leaves the older one.
    if (draw(10) > 0) process.step = std::max<std::int64_t>(world.step, 0);
    if (process.is == Process::Is::asking) process.is = Process::Is::training;
  }

  void check_world(const LaunchedWorld& world) {
    BOOST_TEST(epochs_.insert(world.epoch).second, "two worlds have the number " << world.epoch);
    const auto size = std::ssize(world.members);
    BOOST_TEST((size >= rules_.min && size <= rules_.max));
    std::int64_t greatest = -1;
    bool has_survivor = false;
    for (const auto& [task, process] : processes_) {
      const bool was_member = process.epoch == world.epoch - 1 && process.epoch > 0;
      if (was_member) greatest = std::max(greatest, process.step);
      has_survivor |= was_member && process.step >= 0;
      // Nobody outside trains in an older world.
      BOOST_TEST((process.is != Process::Is::training || process.epoch == world.epoch));
    }
    const Process& root = processes_.at(world.members.front());
    if (has_survivor) BOOST_TEST(root.step == greatest);
    if (has_survivor) BOOST_TEST(root.epoch == world.epoch - 1);
    BOOST_TEST(world.step == root.step);
  }

  std::mt19937 random_;
  WorldRules rules_;
  std::optional<WorldBook> book_;
  int restarts_, newcomers_, next_task_ = 0;
  std::map<int, Process> processes_;
  std::set<std::int64_t> epochs_;
  WorldBook::Time now_{1h};
  bool over_ = false;
};

}  // namespace

BOOST_AUTO_TEST_CASE(no_schedule_of_a_thousand_splits_a_world_loses_a_step_or_lasts_for_ever) {
  for (unsigned seed = 1; seed <= 1000; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(Schedule(seed).run());
    }
}

BOOST_AUTO_TEST_SUITE_END()
