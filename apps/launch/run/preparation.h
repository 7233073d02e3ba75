// What a job does before anything is started: all machines are fit, or nothing runs.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "apps/launch/run/host_questions.h"
#include "apps/launch/run/job_progress.h"
#include "apps/launch/run/keepers.h"
#include "apps/launch/run/waiting_report.h"
#include "apps/launch/task_environment.h"

namespace actorflow {

// Asks all hosts at once, one question after the other. Not thread-safe.
class Preparation {
 public:
  using Clock = Keepers::Clock;

  // The time limit of connecting and probing together, so that a failure is reported within 15 s, the
  // leaving that follows included.
  static constexpr std::chrono::seconds limit{12};

  struct Hands {
    // What has come from keepers; waits for it until `end`.
    std::function<std::vector<Arrival>(Clock::time_point end)> wait;
    std::function<bool()> is_interrupted;
    std::function<void(const std::string& text)> say;
  };

  // The tasks get their ports, and the addresses that of rank 0.
  Preparation(Keepers& keepers, const HostQuestions& questions, JobProgress& tasks,
              JobAddresses& addresses, Hands hands);

  // Returns when all hosts are ready for the tasks, or when the job is interrupted. Throws Error with a
  // line for each host that is not fit.
  void run();

 private:
  using Answers = std::vector<Frame>;  // by host
  // The mistake in an answer, "" for none.
  using Mistake = std::function<std::string(const Frame&)>;

  void greet();
  void probe();
  void take_ports(int host, const Frame& probed);
  void check_reachable();
  void hand_out_credentials();
  // Asks each host its question, if there are any, and waits for all answers, unless the job is
  // interrupted. `what` is that for which we wait: "to start actorflow".
  Answers ask_all(const std::vector<Frame>& questions, const std::string& answer, const char* what,
                  const Mistake& mistake);
  std::vector<LaunchedTask> tasks_of(int host) const;

  Keepers& keepers_;
  const HostQuestions& questions_;
  JobProgress& tasks_;
  JobAddresses& addresses_;
  const Hands hands_;
  const Clock::time_point end_;
  WaitingReport report_;
};

}  // namespace actorflow
