// The tasks of one machine, as the launcher asks for them (frames.h).
#pragma once

#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/launch/keeper/frames.h"
#include "apps/launch/keeper/held_ports.h"
#include "apps/launch/keeper/kept_task.h"
#include "apps/launch/keeper/key_folder.h"

namespace actorflow {

// Runs on one thread, which must be the only one of its process. (While it tries to reach other machines
// there are more threads, but no process is started meanwhile.) It talks to the launcher by standard
// input and output.
class Keeper {
 public:
  explicit Keeper(std::string version);
  // Serves the launcher until that ends the job, or is gone. Then neither processes that were started
  // here, nor their descendants, nor credentials are left.
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  void wait();
  int wait_limit_ms() const;
  void take_commands();
  void obey(const Frame& frame);
  void probe(const Frame& frame);
  void reach(const Frame& frame);
  void take_credentials(const Frame& frame);
  void take_job(const Frame& frame);
  void start(const Frame& frame);
  void take_output();
  void take_signals();
  void reap();
  void report_end(int task, const siginfo_t& ended);
  void look_for_life();
  void tick();
  void take_words(int task);
  void report_life(int task);
  void end_all();
  void kill_in_the_end();
  // The task whose number follows the frame's kind; null if it has ended.
  KeptTask* task_of(const Frame& frame) const;
  KeptTask::Sink sink_of(int task);
  void send(const Frame& frame);

  std::string version_;
  FrameReader commands_{false};
  FileDescriptor input_, output_, signals_;
  HeldPorts ports_;
  std::optional<KeyFolder> keys_;
  std::string program_;
  SpawnRequest job_;  // what all tasks have
  bool watches_ = false, elastic_ = false;
  std::map<int, std::unique_ptr<KeptTask>> tasks_;
  std::map<int, bool> reported_alive_;
  Clock::time_point next_look_{}, next_tick_{}, last_moment_{};
  bool ending_ = false, killed_ = false;
};

}  // namespace actorflow
