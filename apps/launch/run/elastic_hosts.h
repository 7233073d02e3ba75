// The hosts of an elastic job that a script finds: between the book of hosts, the script and the
// keepers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/launch/elastic/host_book.h"
#include "apps/launch/run/host_discovery.h"
#include "apps/launch/run/host_questions.h"
#include "apps/launch/run/keepers.h"

namespace actorflow {

// Asks hosts that come later what the first ones were asked before the job began, says to people what
// becomes of each host, and has tasks started and ended as the book orders. Hosts are the numbers of
// Keepers, tasks those of JobProgress. Not thread-safe.
class ElasticHosts {
 public:
  using Clock = Keepers::Clock;

  // The functions that carry out what the book decides.
  struct Hands {
    // Begins to connect to the host, and returns its number, the same one for each host of that name.
    // Throws Error that says why the job cannot have the host.
    std::function<int(const LaunchHost& host)> connect;
    // Starts a new task on the host, and returns it. Throws Error.
    std::function<int(int host)> start;
    std::function<void(int task)> tell_to_leave;
    std::function<std::string(int task)> label;
    std::function<void(const std::string& text)> say;
  };

  // `first`: the hosts that the job begins with, which are ready for tasks.
  ElasticHosts(HostRules rules, const std::vector<LaunchHost>& first, HostDiscovery& discovery,
               Keepers& keepers, const HostQuestions& questions, Hands hands);

  // Event: one of the tasks that the job begins with has been started.
  void started(int host, int task) { book_.started(name_of(host), task); }
  // Event: a task has ended, and is not started again.
  void ended(int task);
  // Event: the host's keeper has sent an answer.
  void take(int host, const Frame& answer);
  // Event: the host's keeper is lost; `why`: its last words, with advice.
  void lost(int host, const std::string& why);

  // Looks what the script has printed, and carries out what the book decides. Call after events.
  void follow();
  // When follow() must be called even if nothing happens.
  Clock::time_point next_look() const;

  // False for a task that has ended or was told to leave.
  bool has_slot(int task) const { return book_.has_slot(task); }
  // Whether tasks can be started on the host.
  bool is_ready(int host) const { return book_.is_ready(name_of(host)); }

 private:
  void obey(const HostOrder& order);
  void ask(const LaunchHost& host);
  void give_up(int host);
  void start_on(int host);
  void tell_to_leave(int task, int host);

  // Acts on an answer. Returns why the host is not fit, "" if nothing speaks against it so far.
  std::string mistake_in(int host, const Frame& answer);
  void make_ready(int host);

  // The host is away from now on. Says so, unless the same was said last.
  void fails(int host, const char* how, const std::string& why);
  void say_closing(const std::optional<HostBook::Closing>& closing, const std::string& since);

  const std::string& name_of(int host) const { return names_.at(static_cast<std::size_t>(host)); }
  int number_of(const std::string& name) const;

  HostBook book_;
  HostDiscovery& discovery_;
  Keepers& keepers_;
  const HostQuestions& questions_;
  const Hands hands_;
  std::vector<std::string> names_;           // of hosts, by number
  std::map<std::string, std::string> said_;  // by name: which failure was said last
};

}  // namespace actorflow
