// Which tasks of an elastic job train together. Only the launcher, which keeps the book, decides: so old
// and new members can never disagree on who is a member, or whose state counts.
//
// A job is a sequence of worlds. A world ends when one of its tasks is lost or leaves, or when a
// newcomer can be taken; the next one begins when each of its tasks has asked for that or is gone. So no
// task is ever in a world while another one still trains in an earlier one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/launch/elastic/world.h"

namespace actorflow {

struct WorldRules {
  int min = 1, max = 1;              // tasks of a world
  std::optional<int> reset_limit{};  // worlds with other members than the one before; none: any number
  // How long the first world waits for all tasks, and a later one for `min` tasks.
  std::chrono::milliseconds patience{600'000};
  // A live task answers what it is told within this time, whatever else it does. Time in which the
  // launcher itself was held up does not count.
  std::chrono::milliseconds silence{10'000};
};

// What the launcher is to do.
struct WorldOrder {
  enum class Kind : std::uint8_t {
    give,     // tell the task its place in world()
    change,   // tell it that its world shall end after a step
    over,     // tell it that its world has lost a member
    end,      // tell it that there will be no further world
    kill,     // it is stopped or cut off: end it, and say that it is gone
    say,      // to people
    end_job,  // it has failed
  };
  Kind kind = Kind::say;
  int task = -1;
  std::string text{};

  bool operator==(const WorldOrder&) const = default;
};

// Tasks are numbers. Call a function for each event of a task, and then decide(), which says what to do.
// Not thread-safe.
class WorldBook {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Label = std::function<std::string(int task)>;  // "worker 1"

  WorldBook(WorldRules rules, Label label) : rules_(rules), label_(std::move(label)) {}

  // A process of the task has been started, so it may come.
  void started(int task, Time now);
  // The task wants to be in the next world. `epoch`: that of the last world in which it was; `step`:
  // that of the state that it holds.
  void joins(int task, std::int64_t epoch, std::int64_t step);
  // The task has read a message about that world: its place in it, or that the world shall end.
  void heard(int task, std::int64_t epoch);
  // The task will end by its own wish.
  void leaves(int task);
  // The task's process has ended.
  void gone(int task);
  // A member has ended well: training is complete.
  void complete() { complete_ = true; }
  // Whether tasks may come that have not been started yet.
  void more_may_come(bool may) { more_may_come_ = may; }

  std::vector<WorldOrder> decide(Time now);
  // Whether decide() may say something new when nothing but time has passed.
  bool is_waiting() const { return waiting_; }

  // The present world; epoch 0 before the first.
  const LaunchedWorld& world() const { return world_; }
  bool is_complete() const { return complete_; }
  // The task has said that it will end.
  bool is_leaving(int task) const;

 private:
  enum class Stage : std::uint8_t {
    starting,  // its process begins
    waiting,   // for the next world
    training,  // in the present world
    leaving,   // its process ends
  };
  enum class Told : std::uint8_t { nothing, change, over };
  struct Task {
    Stage stage = Stage::starting;
    std::int64_t epoch = 0, step = -1;
    int unanswered = 0;  // what it has been told of the present world
    Time silent_since{};
    bool killed = false;
  };

  void forgive_own_delay(Time now);
  void advance(Time now);
  void end_those_who_wait();

  // While tasks train in the present world.
  Told change_due() const;
  bool may_grow() const;
  void call_together(Told how, Time now);
  void look_for_silence(Time now);

  // Between two worlds.
  void form_next(Time now);
  bool waits_for_first(Time now);
  bool waits_for_minimum(Time now);
  std::vector<Candidate> candidates() const;
  bool has_members_of(const LaunchedWorld& other) const;
  void begin(LaunchedWorld next, Time now);

  // What is said to tasks and to people.
  void tell(WorldOrder::Kind kind, int task, Time now, std::string why = {});
  void notice_once(const std::string& what, Time since, Time now, const std::string& text);
  void fail(const std::string& why);
  void order(WorldOrder::Kind kind, int task, std::string text = {}) {
    orders_.push_back({kind, task, std::move(text)});
  }
  std::string sentence(const LaunchedWorld& next) const;
  std::string changes(const LaunchedWorld& next) const;
  std::string labels(const std::vector<int>& tasks) const;

  std::vector<int> in_stage(Stage stage) const;
  bool is_member(int task) const;

  const WorldRules rules_;
  const Label label_;
  std::map<int, Task> tasks_;
  LaunchedWorld world_;
  std::vector<int> lost_, left_;  // of the present world
  Told told_ = Told::nothing;
  Time told_at_{}, first_start_{}, last_decision_{};
  std::optional<Time> short_since_;  // below `min`
  int resets_ = 0;
  bool complete_ = false, failed_ = false, more_may_come_ = false, waiting_ = false;
  std::set<std::string> noticed_;  // what people were told in this world
  std::vector<WorldOrder> orders_;
};

}  // namespace actorflow
