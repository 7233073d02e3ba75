#include "apps/launch/keeper/keeper.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>

#include "apps/launch/keeper/leftovers.h"
#include "apps/launch/keeper/machine_probe.h"
#include "apps/launch/signals.h"
#include "apps/launch/task_environment.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::chrono::seconds grace{5};
constexpr std::chrono::milliseconds life_interval{100}, tick_interval{5000};
constexpr int reach_timeout_ms = 3000;

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

Keeper::Keeper(std::string version)
    : version_(std::move(version)),
      input_(copy_of(STDIN_FILENO)),
      output_(copy_of(STDOUT_FILENO)),
      signals_(watch_signals(ending_signals())) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  allow_many_descriptors();
  clear_abandoned_keys();
}

void Keeper::run() {
  write_all(output_, FrameReader::frames_begin);
  send({"hello", version_});
  while (!ending_ || !tasks_.empty()) {
    wait();
    take_signals();
    take_commands();
    take_output();
    reap();
    look_for_life();
    tick();
    kill_in_the_end();
  }
  kill_leftovers();
  keys_.reset();
  send({"gone"});
}

void Keeper::wait() {
  std::vector<pollfd> list{{signals_.get(), POLLIN, 0}};
  if (input_) list.push_back({input_.get(), POLLIN, 0});
  for (const auto& [id, task] : tasks_) task->add_to(list);
  poll(list.data(), list.size(), wait_limit_ms());
}

int Keeper::wait_limit_ms() const {
  auto limit = tick_interval;
  const auto is_alive = [](const auto& each) { return each.second->is_alive(); };
  if (watches_ && !std::ranges::all_of(tasks_, is_alive)) limit = life_interval;
  if (ending_ && !killed_)
    limit = std::min(limit, std::chrono::ceil<std::chrono::milliseconds>(last_moment_ - Clock::now()));
  return std::max(0, static_cast<int>(limit.count()));
}

void Keeper::take_signals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD) end_all();
}

void Keeper::take_commands() {
  if (!input_ || !is_readable(input_)) return;
  commands_.add(read_available(input_, keeper_read_bytes));
  try {
    while (const auto frame = commands_.next()) obey(*frame);
  } catch (const std::exception&) {  // not our launcher: it counts as gone
    input_ = FileDescriptor();
  }
  if (!input_) end_all();
}

void Keeper::obey(const Frame& frame) {
  const std::string& kind = frame[0];
  if (kind == "probe") probe(frame);
  if (kind == "reach") reach(frame);
  if (kind == "credentials") take_credentials(frame);
  if (kind == "job") take_job(frame);
  if (kind == "elastic") elastic_ = true;
  if (kind == "start") start(frame);
  if (kind == "end" && ending_) last_moment_ = Clock::now();
  if (kind == "end") end_all();
  if (kind == "signal")
    if (KeptTask* task = task_of(frame)) task->signal_group(std::stoi(frame.at(2)));
  if (kind == "tell")
    if (KeptTask* task = task_of(frame)) task->tell(frame.at(2));
}

KeptTask* Keeper::task_of(const Frame& frame) const {
  const auto found = tasks_.find(std::stoi(frame.at(1)));
  return found == tasks_.end() ? nullptr : found->second.get();
}

void Keeper::probe(const Frame& frame) {
  std::string mistakes;
  const auto add = [&mistakes](const std::string& mistake) {
    if (!mistake.empty()) mistakes += (mistakes.empty() ? "" : "\n") + mistake;
  };
  Frame answer{"probed", ""};
  add(enter_folder(frame.at(1)));
  add(folder_mistake("--data_dir", frame.at(2), false));
  add(folder_mistake("--output_dir", frame.at(3), true));
  try {
    if (mistakes.empty()) program_ = find_program(frame.at(6));
    for (const int port : ports_.hold(std::stoi(frame.at(4)), std::stoi(frame.at(5))))
      answer.push_back(std::to_string(port));
  } catch (const Error& error) {
    add(error.what());
  }
  answer[1] = mistakes;
  send(answer);
}

void Keeper::reach(const Frame& frame) {
  std::string mistakes;
  const auto reasons = why_unreachable(std::vector(frame.begin() + 1, frame.end()), reach_timeout_ms);
  for (std::size_t i = 0; i < reasons.size(); ++i)
    if (!reasons[i].empty())
      mistakes += fmt::format("{}it does not reach {}: {}", mistakes.empty() ? "" : "\n", frame[i + 1],
                              reasons[i]);
  send({"reached", mistakes});
}

void Keeper::take_credentials(const Frame& frame) {
  std::string mistake;
  try {
    keys_.emplace();
    for (std::size_t i = 1; i + 1 < frame.size(); i += 2) keys_->add(frame[i], frame[i + 1]);
  } catch (const std::exception& error) {
    mistake = error.what();
  }
  send({"secured", mistake});
}

void Keeper::take_job(const Frame& frame) {
  watches_ = frame.at(1) == "1";
  const std::size_t end = 3 + static_cast<std::size_t>(std::stoi(frame.at(2)));
  job_.environment = own_environment();
  for (const auto& name : launcher_variables()) remove_variable(job_.environment, name);
  for (std::size_t i = 3; i < end; ++i) set_variable(job_.environment, frame.at(i));
  if (keys_) set_variable(job_.environment, "ACTORFLOW_CREDENTIALS=" + keys_->path());
  job_.path = program_;
  job_.arguments.assign(frame.begin() + static_cast<std::ptrdiff_t>(end), frame.end());
}

void Keeper::start(const Frame& frame) {
  if (ending_) return;
  const int id = std::stoi(frame.at(1)), port = std::stoi(frame.at(2));
  SpawnRequest request = job_;
  for (std::size_t i = 4; i < frame.size(); ++i) set_variable(request.environment, frame[i]);
  ports_.release(port);
  ports_.release(std::stoi(frame.at(3)));
  try {
    tasks_[id] = std::make_unique<KeptTask>(std::move(request), port, elastic_);
  } catch (const Error& error) {
    tasks_.erase(id);
    send({"ended", frame.at(1), "127", "0", error.what()});
  }
}

KeptTask::Sink Keeper::sink_of(int task) {
  return [this, task](int stream, const std::string& bytes) {
    send({"output", std::to_string(task), std::to_string(stream), bytes});
  };
}

void Keeper::take_output() {
  for (const auto& [id, task] : tasks_) {
    task->take_output(sink_of(id));
    take_words(id);
    report_life(id);
  }
}

void Keeper::take_words(int task) {
  if (std::string words = tasks_.at(task)->take_words(); !words.empty())
    send({"told", std::to_string(task), std::move(words)});
}

void Keeper::report_life(int task) {
  if (tasks_.at(task)->is_alive() && !std::exchange(reported_alive_[task], true))
    send({"alive", std::to_string(task)});
}

void Keeper::look_for_life() {
  if (!watches_ || Clock::now() < next_look_) return;
  next_look_ = Clock::now() + life_interval;
  const auto waits = [](const auto& each) {
    return !each.second->is_alive() && each.second->port() > 0;
  };
  if (std::ranges::none_of(tasks_, waits)) return;
  const std::set<int> ports = listened_ports();
  for (const auto& [id, task] : tasks_) {
    if (ports.contains(task->port())) task->listens();
    report_life(id);
  }
}

void Keeper::tick() {
  if (Clock::now() < next_tick_) return;
  next_tick_ = Clock::now() + tick_interval;
  send({"tick"});
}

void Keeper::reap() {
  while (true) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    const auto task =
        std::ranges::find(tasks_, ended.si_pid, [](const auto& each) { return each.second->id(); });
    if (task == tasks_.end())  // a process that a task has left behind
      waitpid(ended.si_pid, nullptr, 0);
    else
      report_end(task->first, ended);
  }
}

// Reaps the task after its last words.
void Keeper::report_end(int id, const siginfo_t& ended) {
  KeptTask& task = *tasks_.at(id);
  task.finish(sink_of(id));
  take_words(id);
  report_life(id);
  waitpid(task.id(), nullptr, 0);
  task.forget();
  const bool killed = ended.si_code != CLD_EXITED;
  send({"ended", std::to_string(id), std::to_string(killed ? 128 + ended.si_status : ended.si_status),
        std::to_string(killed ? ended.si_status : 0), ""});
  reported_alive_.erase(id);
  tasks_.erase(id);
}

void Keeper::end_all() {
  if (std::exchange(ending_, true)) return;
  last_moment_ = Clock::now() + grace;
  for (const auto& [id, task] : tasks_) {
    task->signal_group(SIGTERM);
    task->signal_group(SIGCONT);
  }
}

// The second step of end_all().
void Keeper::kill_in_the_end() {
  if (!ending_ || killed_ || Clock::now() < last_moment_) return;
  killed_ = true;
  for (const auto& [id, task] : tasks_) task->signal_group(SIGKILL);
}

void Keeper::send(const Frame& frame) {
  if (!output_) return;
  if (write_all(output_, encode(frame))) return;
  output_ = FileDescriptor();  // the launcher is gone
  end_all();
}

}  // namespace actorflow
