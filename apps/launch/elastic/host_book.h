// Which hosts run the tasks of an elastic job whose hosts a script lists. Only the launcher keeps the
// book, beside that of the worlds (world_book.h).
//
// A listed host that is wanted is asked whether it can run tasks; one that has answered is ready and
// gets a task for each slot, up to the job's maximum. A host that fails is away, and asked again after a
// pause.
//
//              ask             answered
//     away ----------> asked ----------> ready
//       ^                |                 |
//       +----- failed ---+----- failed ----+
//
// Beside that a listed host may be closed: it keeps its tasks, and gets no new ones. One that has failed
// is closed for a pause that grows; one on which a task has ended by itself is closed until the script
// drops it and lists it anew, until it fails and is back, or for a cooldown that grows, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/launch/growing_pause.h"
#include "apps/launch/job_spec.h"

namespace actorflow {

struct HostRules {
  int most = 1;  // tasks of the job that run
  std::chrono::seconds answers_within{12};
  GrowingPause after_failure{std::chrono::seconds(10), std::chrono::minutes(5)};
  std::optional<GrowingPause> cooldown{};  // of a host where a task has ended; none: until it is dropped
};

// What the launcher is to do.
struct HostOrder {
  enum class Kind : std::uint8_t {
    ask,      // the host whether it can run tasks
    give_up,  // the host has not answered in time: it fails
    start,    // a new task on the host
    leave,    // the task has no slot any more: tell it to end
  };
  Kind kind = Kind::ask;
  std::string host{};
  int task = -1;

  bool operator==(const HostOrder&) const = default;
};

// Hosts are known by their names, tasks by numbers. Call a function for each event, and then decide(),
// which says what to do. REQUIRES, unless it says otherwise: a named host has been listed. Not
// thread-safe.
class HostBook {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Pause = std::chrono::milliseconds;

  explicit HostBook(HostRules rules) : rules_(rules) {}

  // The script lists these hosts, and no others.
  void listed(std::vector<LaunchHost> hosts);
  // The host can run tasks.
  void answered(const std::string& host, Time now);
  // The host cannot run tasks, or was lost with those that it had. Returns after which pause it may be
  // asked again; none: it is not listed any more.
  std::optional<Pause> failed(const std::string& host, Time now);
  // A task has been started in a slot of the host.
  void started(const std::string& host, int task);

  struct Closing {
    std::string host;
    std::optional<Pause> pause{};  // none: until the script drops it
  };
  // The task has ended, and is not started again. Returns what that closes: nothing if the task had been
  // told to leave, or if its host is closed already.
  std::optional<Closing> ended(int task, Time now);
  // Closes the host, where a task could not be started, in the same way.
  std::optional<Closing> close(const std::string& host, Time now);

  // An order is given once: carry out all of them, and report what follows, before the next call.
  std::vector<HostOrder> decide(Time now);
  // When decide() may say something new though nothing but time has passed; max() = never.
  Time next_look(Time now) const;

  const HostRules& rules() const { return rules_; }
  // False for a task that has ended or was told to leave.
  bool has_slot(int task) const;
  bool is_asked(const std::string& host) const { return is_in(host, Stage::asked); }
  bool is_ready(const std::string& host) const { return is_in(host, Stage::ready); }
  // How the script has listed it last. REQUIRES: it is listed now.
  const LaunchHost& listing(const std::string& host) const;

 private:
  enum class Stage : std::uint8_t { away, asked, ready };
  struct Host {
    explicit Host(const HostRules& rules)
        : after_failure(rules.after_failure), cooldown(rules.cooldown) {}

    Stage stage = Stage::away;
    int slots = 0;           // 0: it is not listed
    std::vector<int> tasks;  // that have its slots, in the order in which they were started
    int to_come = 0;         // slots kept for tasks that start when it has answered
    Time answers_by{};       // while it is asked
    Time closed_until{};
    Time well_since{};  // nothing has gone wrong there since
    GrowingPause after_failure;
    std::optional<GrowingPause> cooldown;

    void close_for(Pause pause, Time now) { closed_until = well_since = now + pause; }
    int free_slots() const { return slots - static_cast<int>(tasks.size()) - to_come; }
  };

  void give_up_silent(Time now);
  void let_extra_tasks_leave();
  void fill_free_slots(Time now);
  void fill(const std::string& name, int tasks, Time now);
  int num_tasks() const;
  bool is_in(const std::string& host, Stage stage) const;
  void order(HostOrder::Kind kind, const std::string& host, int task = -1) {
    orders_.push_back({kind, host, task});
  }

  const HostRules rules_;
  std::vector<LaunchHost> list_;  // hosts get tasks in this order
  std::map<std::string, Host> hosts_;
  std::vector<HostOrder> orders_;
};

}  // namespace actorflow
