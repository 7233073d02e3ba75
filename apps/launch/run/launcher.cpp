#include "apps/launch/run/launcher.h"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "actors/runtime/exit_status.h"
#include "apps/launch/run/host_addresses.h"
#include "apps/launch/run/job_lines.h"
#include "apps/launch/run/preparation.h"
#include "apps/launch/signals.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// TERM, 5 s, KILL, and the way there and back; where nothing has been started the way only.
constexpr std::chrono::seconds leave_limit{9}, early_leave_limit{2};
// How long parameter servers may serve after the last worker has ended, and then after TERM.
constexpr std::chrono::seconds server_grace{5};

// Whether our parent wants the signal ignored, as nohup does with SIGHUP.
bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Before anything is opened or started.
FileDescriptor watch_ending_signals() {
  allow_many_descriptors();
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  return watch_signals(signals);
}

// Null if the hosts are named.
std::unique_ptr<HostDiscovery> discovery_of(const JobSpec& job, Console& console) {
  if (job.host_discovery.empty()) return nullptr;
  return std::make_unique<HostDiscovery>(job.host_discovery,
                                         [&console](const std::string& text) { console.say(text); });
}

// A job that begins with fewer slots than wanted gets more of them later. Interrupted, it is laid out on
// this machine, and ends before anything is started.
const JobSpec& with_found_hosts(JobSpec& job, HostDiscovery* discovery, const FileDescriptor& signals) {
  if (!discovery) return job;
  job.hosts = discovery->first(signals);
  if (job.hosts.empty()) return job;
  int slots = 0;
  for (const auto& host : job.hosts) slots += host.slots;
  job.workers = std::min(job.workers, slots);
  return job;
}

}  // namespace

Launcher::Launcher(LaunchOptions options)
    : options_(std::move(options)),
      signals_(watch_ending_signals()),
      console_([this] {
        if (is_made_) is_interrupted();
      }),
      discovery_(discovery_of(options_.job, console_)),
      asked_(options_.job),
      progress_(lay_out(with_found_hosts(options_.job, discovery_.get(), signals_)),
                options_.job.restarts),
      output_(console_, progress_.tasks(), options_.job.folders.logs),
      addresses_(first_addresses(options_.job, options_.secure)),
      questions_(options_, asked_, progress_.tasks()),
      keepers_(options_) {
  if (asked_.is_elastic()) elastic_.emplace(asked_, worlds_hands());
  if (elastic_) elastic_->more_may_come(discovery_ != nullptr);
  if (discovery_)
    hosts_.emplace(host_rules(asked_), options_.job.hosts, *discovery_, keepers_, questions_,
                   hosts_hands());
  console_.copy_to([this](int stream, std::string_view who, int colour, std::string_view line) {
    job_socket_.show(stream, who, colour, line);
  });
  is_made_ = true;
}

int Launcher::run() {
  try {
    prepare();
  } catch (...) {
    leave(early_leave_limit);
    job_socket_.show(2, "launch", -1, "nothing was started; why is said where the job was launched");
    job_socket_.end(failed_run);
    throw;
  }
  if (!ending_) start_all();
  if (!ending_) watch();
  leave(has_begun_ ? leave_limit : early_leave_limit);
  output_.close_logs();
  if (!ending_) ending_ = late_failure_;
  if (!ending_ && elastic_ && !elastic_->is_complete())
    ending_ = {last_failure_ ? last_failure_ : 128 + SIGTERM,
               "no task is left, and training is not complete"};
  if (!ending_) ending_ = {0, "every task has ended well"};
  console_.say(ending_->says);
  job_socket_.end(ending_->status);
  return ending_->status;
}

void Launcher::prepare() {
  Preparation(keepers_, questions_, progress_, addresses_,
              {.wait = [this](Clock::time_point end) { return wait(end); },
               .is_interrupted = [this] { return is_interrupted(); },
               .say = [this](const std::string& text) { console_.say(text); }})
      .run();
}

void Launcher::start_all() {
  has_begun_ = true;
  for (const auto& frame : questions_.job()) keepers_.send_all(frame);
  say_what_runs();
  for (int task = 0; task < static_cast<int>(progress_.tasks().size()); ++task) {
    if (elastic_) elastic_->started(task);
    if (hosts_) hosts_->started(task_of(task).host, task);
    start(task);
  }
  if (hosts_) hosts_->follow();  // they may have more slots than tasks
}

void Launcher::start(int task) {
  const LaunchedTask& started = task_of(task);
  Frame frame{"start", std::to_string(task), std::to_string(started.port),
              std::to_string(started.is_first_rank() ? addresses_.master_port : 0)};
  for (const auto& variable : elastic_ ? elastic_environment(started, asked_.workers)
                                       : task_environment(progress_.tasks(), started, addresses_))
    frame.push_back(variable.name + "=" + variable.value);
  keepers_.send(started.host, frame);
}

void Launcher::say_what_runs() {
  std::vector<LaunchedTask> tasks = progress_.tasks();
  if (elastic_)  // each world has ports of its own
    for (auto& task : tasks) task.port = 0;
  for (int host = 0; host < keepers_.size(); ++host)
    console_.say(fmt::format("{}: {}", keepers_.name(host), tasks_of_host(tasks, host)));
  const auto& logs = options_.job.folders.logs;
  console_.say(fmt::format(
      "to follow it: actorflow attach {}; to end it: actorflow stop {}{}", job_socket_.job(),
      job_socket_.job(), logs.empty() ? "" : fmt::format("; to follow a task: tail -F {}/*.log", logs)));
}

void Launcher::watch() {
  // With discovery, hosts and their tasks may still come, until the book loses patience.
  const auto more_may_come = [this] { return hosts_ && !elastic_->is_complete(); };
  while (!ending_ && (!progress_.all_have_ended() || more_may_come())) {
    for (const auto& arrival : wait(std::min(end_of_servers_, next_look()))) take(arrival);
    if (!ending_) end_servers();
    follow_elastic();
    if (!ending_) is_interrupted();
  }
}

void Launcher::take(const Arrival& arrival) {
  const auto& [host, frame] = arrival;
  if (frame.empty()) {
    if (!ending_) lose_host(host);
    return;
  }
  if (frame[0] == "output")
    output_.add(std::stoi(frame.at(1)), std::stoi(frame.at(2)), frame.at(3));
  else if (frame[0] == "alive")
    progress_.is_alive(std::stoi(frame.at(1)));
  else if (frame[0] == "told" && elastic_)
    elastic_->take(std::stoi(frame.at(1)), frame.at(2));
  else if (frame[0] == "ended")
    task_ended(std::stoi(frame.at(1)), {std::stoi(frame.at(2)), std::stoi(frame.at(3)), frame.at(4)});
  else if (hosts_ && !ending_)
    hosts_->take(host, frame);
  const int failure = console_.failure();
  if (failure == EPIPE && !ending_)
    end_job({128 + SIGPIPE, "nobody reads the output any more, so the job has been ended"});
  else if (failure != 0 && !ending_)
    end_job({1, fmt::format("the output cannot be written, so the job has been ended: {}",
                            std::strerror(failure))});
}

void Launcher::task_ended(int task, const TaskEnd& end) {
  output_.finish(task);
  std::string says;
  const bool was_over = progress_.work_is_done();  // then it does not matter how parameter servers end
  const Consequence consequence =
      progress_.ended(task, is_no_failure(task, end) ? TaskEnd{} : end, says);
  if (ending_ || was_over) return;
  const bool is_late = elastic_ && elastic_->is_complete() && consequence != Consequence::none;
  if (is_late) says = end.to_string();
  says = fmt::format("{} on {} {}", task_of(task).label(), host_of(task), says);
  if (is_late) {  // the others save what they have, and nothing is started again
    console_.say(says + ", though training is complete; the others go on");
    late_failure_ = {end.status, says};
    return;
  }
  if (consequence == Consequence::start_again) return start_again(task, says);
  if (consequence == Consequence::end_job) return end_job({end.status, says});
  if (consequence == Consequence::go_on) console_.say(says + "; the others go on");
  if (hosts_ && !elastic_->is_complete()) hosts_->ended(task);
}

void Launcher::start_again(int task, const std::string& why) {
  console_.say(why);
  progress_.restarted(task);
  if (elastic_) elastic_->started(task);
  start(task);
}

// An elastic job that trains goes on without the host, and any job without one that had no task yet.
void Launcher::lose_host(int host) {
  const std::string words = lost_words(keepers_.words(host));
  const std::string why = fmt::format("{} is lost: {}", keepers_.name(host), words);
  const bool had_tasks = !hosts_ || hosts_->is_ready(host);
  if (had_tasks && !(elastic_ && elastic_->has_begun())) return end_job({1, why});
  if (had_tasks) lose_tasks_of(host, why);
  if (hosts_)
    hosts_->lost(host, words);
  else
    console_.say(why);
}

void Launcher::end_servers() {
  if (!progress_.work_is_done() || progress_.all_have_ended()) return;
  if (end_of_servers_ == Clock::time_point::max()) end_of_servers_ = Clock::now() + server_grace;
  if (Clock::now() < end_of_servers_) return;
  const int signal = signals_to_servers_++ == 0 ? SIGTERM : SIGKILL;
  for (int task = 0; task < static_cast<int>(progress_.tasks().size()); ++task)
    if (progress_.is_running(task)) send_signal(task, signal);
  end_of_servers_ = Clock::now() + server_grace;
}

void Launcher::send_signal(int task, int signal) {
  keepers_.send(task_of(task).host, {"signal", std::to_string(task), std::to_string(signal)});
}

void Launcher::end_job(Ending ending) {
  if (!ending_) ending_ = std::move(ending);
  keepers_.send_all({"end"});
}

void Launcher::interrupt(Ending ending) {
  console_.hurry();
  end_job(std::move(ending));
}

bool Launcher::is_interrupted() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    interrupt({128 + signal, fmt::format("ended by signal {} ({})", signal, strsignal(signal))});
  }
  if (job_socket_.stop_is_wanted()) interrupt({128 + SIGTERM, "ended by actorflow stop"});
  return ending_.has_value();
}

std::vector<Arrival> Launcher::wait(Clock::time_point end) {
  std::vector<pollfd> others{{signals_.get(), POLLIN, 0}};
  job_socket_.add_to(others);
  return keepers_.wait(end, std::move(others));
}

void Launcher::leave(std::chrono::seconds patience) {
  if (!ending_) keepers_.send_all({"end"});
  auto limit = Clock::now() + patience;
  WaitingReport report;
  while (!keepers_.all_have_left() && Clock::now() < limit) {
    const auto arrivals = wait(std::min(limit, report.next()));
    const auto begin = Clock::now();
    if (report.is_due()) say_who_has_not_ended();
    for (const auto& arrival : arrivals)
      if (!arrival.frame.empty()) take(arrival);
    limit += Clock::now() - begin;  // the keepers do not pay for a slow reader of the output
    is_interrupted();
  }
}

void Launcher::say_who_has_not_ended() {
  std::vector<std::string> tasks;
  for (int task = 0; task < static_cast<int>(progress_.tasks().size()); ++task)
    if (has_begun_ && progress_.is_running(task)) tasks.push_back(task_of(task).label());
  if (!tasks.empty()) console_.say(waiting_words(tasks, "to end"));
}

std::string Launcher::host_of(int task) const { return keepers_.name(task_of(task).host); }

}  // namespace actorflow
