// The launcher: runs a job from its description to its end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/launch/keeper/spawn.h"
#include "apps/launch/run/console.h"
#include "apps/launch/run/elastic_job.h"
#include "apps/launch/run/host_discovery.h"
#include "apps/launch/run/job_credentials.h"
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
  using Answers = std::vector<Frame>;  // by host
  // The mistake in an answer, "" for none.
  using Mistake = std::function<std::string(const Frame&)>;

  // The time limit of connecting and probing together, so that a failure is reported within 15 s, the
  // leaving that follows included.
  static constexpr std::chrono::seconds prepare_limit{12};
  // After how long the launcher prints which hosts it waits for, at the start and at the end of a job:
  // the first time, and again.
  static constexpr std::chrono::seconds first_report{2}, report_interval{5};

  // How the job ends.
  struct Ending {
    int status = 0;
    std::string says;
  };

  // A host of an elastic job.
  struct HostState {
    bool is_ready = false;  // its keeper can start tasks
    bool is_lost = false;   // or left out: nothing starts there, and one that comes back is another host
    Clock::time_point answers_by = Clock::time_point::max();
  };

  // Connects to all hosts and probes them, before anything is started.
  void prepare();
  // Asks each host its question, if there are any, and waits for all answers. `what` is that for which
  // we wait: "to start actorflow".
  Answers ask_all(const std::vector<Frame>& questions, const std::string& answer, const char* what,
                  const Mistake& mistake);
  void report_waiting(const std::vector<std::string>& hosts, const std::string& what);
  void probe();
  void take_ports(int host, const Frame& probed);
  void check_reachable();
  void hand_out_credentials();
  Frame credentials_for(int host) const;

  // What a host's keeper is asked, and what it is told before its first task.
  Frame probe_question(int ports) const;
  std::vector<Frame> job_frames() const;
  // "" if it is the version of ours.
  std::string version_mistake(const std::string& version) const;

  void start_all();
  void start(int task);
  void say_what_runs();
  void watch();
  void take(const Arrival& arrival);
  void task_ended(int task, const TaskEnd& end);
  void end_servers();
  void send_signal(int task, int signal);

  // Of an elastic job.
  void begin_elastic(const JobSpec& job);
  void follow_elastic();
  bool is_no_failure(int task, const TaskEnd& end);
  void lose_host(int host);
  void leave_out(int host, const std::string& why);
  void leave_out_silent_hosts();
  void end_tasks_to_come(int host, const std::string& why);
  Clock::time_point next_look() const;
  void change_hosts(const std::vector<LaunchHost>& hosts);
  void start_on(const LaunchHost& host);
  void start_later(int task);
  bool add_host(const LaunchHost& host);
  void take_from_new_host(int host, const Frame& frame);
  std::string answer_new_host(int host, const Frame& frame);
  void start_waiting_tasks(int host);
  std::string host_name_of(int task) const;
  void end_job(Ending ending);

  // Signals and the user's other commands. True if the job is to end now.
  bool is_interrupted();
  void interrupt(Ending ending);
  std::vector<Arrival> wait(Clock::time_point end);
  // Waits until all keepers have ended their tasks and left.
  void leave(std::chrono::seconds patience);
  void report_end();
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
  const std::optional<JobCredentials> credentials_;
  Keepers keepers_;
  Clock::time_point prepared_by_{}, next_report_{};
  bool has_begun_ = false;  // tasks have been started
  std::optional<Ending> ending_;
  Clock::time_point end_of_servers_ = Clock::time_point::max();
  int signals_to_servers_ = 0;

  std::optional<ElasticJob> elastic_;
  std::vector<std::string> holders_;  // by task: the host whose slot it has; "" = none
  std::vector<HostState> hosts_;
  std::vector<LaunchHost> found_;       // the newest that the script has printed
  bool slots_may_be_free_ = false;      // of those, since a task has ended or the script printed others
  int last_failure_ = 0;                // the status of a task
  std::optional<Ending> late_failure_;  // of a member after training was complete
};

}  // namespace actorflow
