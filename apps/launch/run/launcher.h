// The launcher: runs a job from its description to its end.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/launch/keeper/spawn.h"
#include "apps/launch/run/console.h"
#include "apps/launch/run/elastic_hosts.h"
#include "apps/launch/run/elastic_job.h"
#include "apps/launch/run/host_discovery.h"
#include "apps/launch/run/host_questions.h"
#include "apps/launch/run/job_progress.h"
#include "apps/launch/run/job_socket.h"
#include "apps/launch/run/keepers.h"
#include "apps/launch/run/launch_options.h"
#include "apps/launch/run/task_output.h"
#include "apps/launch/task_environment.h"

namespace actorflow {

// Runs on one thread, which must be the only one of its process, since it handles the signals INT, TERM
// and HUP. The first of them, or `actorflow stop`, ends the tasks (TERM, 5 s, KILL), the second one
// kills them.
class Launcher {
 public:
  // Connects to the hosts. Throws invalid_argument for a job that cannot be laid out, unavailable if
  // logs cannot be written, failed_precondition if there is no host to be discovered.
  explicit Launcher(LaunchOptions options);

  // Runs the job and returns its exit status: 0 if all tasks have ended well, that of the first task
  // that has failed, 128 + the signal that has ended the job. Throws Error, with a line for each host,
  // if nothing was started because a machine is not fit for it.
  int run();

 private:
  using Clock = Keepers::Clock;

  // How the job ends.
  struct Ending {
    int status = 0;
    std::string says;
  };

  void prepare();
  void start_all();
  void start(int task);
  void say_what_runs();
  void watch();
  void take(const Arrival& arrival);
  void task_ended(int task, const TaskEnd& end);
  void start_again(int task, const std::string& why);
  void end_servers();
  void send_signal(int task, int signal);
  void lose_host(int host);
  void end_job(Ending ending);

  // Of an elastic job.
  static HostRules host_rules(const JobSpec& job);
  ElasticJob::Hands worlds_hands();
  ElasticHosts::Hands hosts_hands();
  void follow_elastic();
  Clock::time_point next_look() const;
  bool is_no_failure(int task, const TaskEnd& end);
  void lose_tasks_of(int host, const std::string& why);
  int connect(const LaunchHost& host);
  int start_new_task(int host);

  // Signals and the user's other commands. True if the job is to end now.
  bool is_interrupted();
  void interrupt(Ending ending);
  std::vector<Arrival> wait(Clock::time_point end);
  // Waits until all keepers have ended their tasks and left.
  void leave(std::chrono::seconds patience);
  void say_who_has_not_ended();
  std::string host_of(int task) const;
  const LaunchedTask& task_of(int task) const {
    return progress_.tasks().at(static_cast<std::size_t>(task));
  }

  LaunchOptions options_;
  FileDescriptor signals_;
  bool is_made_ = false;  // all members are there
  Console console_;
  std::unique_ptr<HostDiscovery> discovery_;  // null: the hosts are named
  const JobSpec asked_;                       // what was asked for, before hosts were found
  JobSocket job_socket_;
  JobProgress progress_;
  TaskOutput output_;
  JobAddresses addresses_;
  const HostQuestions questions_;
  Keepers keepers_;
  bool has_begun_ = false;  // tasks have been started
  std::optional<Ending> ending_;
  Clock::time_point end_of_servers_ = Clock::time_point::max();
  int signals_to_servers_ = 0;

  std::optional<ElasticJob> elastic_;
  std::optional<ElasticHosts> hosts_;   // of an elastic job whose hosts are discovered
  int last_failure_ = 0;                // the status of a task
  std::optional<Ending> late_failure_;  // of a member after training was complete
};

}  // namespace actorflow
