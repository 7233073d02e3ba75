// A crash in the middle of a commit: a task of the job of word_job.h is lost while files of a part take
// their place, and nobody has been told yet.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "actors/probes/handler_probe.h"
#include "actors/simulation/world/world.h"
#include "test/simulation/support/word_job.h"

namespace actorflow::test {

// Kills the task, or turns off the power of all, in one of the four commits that write the job's files.
// Which one, and how far it has come, vary with the seed.
class CommitCrash final : public HandlerProbe {
 public:
  // While it lives, the commits of a cluster are watched.
  class Watch {
   public:
    Watch(CommitCrash& crash, SimCluster& sim) : crash_(crash) {
      crash.sim_ = &sim;
      handler_probe = &crash;
    }
    ~Watch() {
      handler_probe = nullptr;
      crash_.sim_ = nullptr;
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    CommitCrash& crash_;
  };

  // It must outlive the cluster, whose end unwinds handlers that have begun: they still call after().
  explicit CommitCrash(std::uint64_t seed) : seed_(seed) {}

  bool has_happened() const { return has_happened_; }

  void made(const HandlerName&) override {}
  void before(const HandlerName& handler) override {
    if (!sim_ || !is_commit(handler)) return;
    World& world = sim_->world();
    ++running_[world.current()];
    world.after(std::chrono::microseconds(scrambled(seed_) % commit_us),
                [this, task = world.current()] { crash_if_it_runs(task); });
  }
  void after(const HandlerName& handler) override {
    if (sim_ && is_commit(handler)) --running_[sim_->world().current()];
  }

 private:
  static constexpr std::uint64_t commits = 4, commit_us = 2000;  // two syncs

  static bool is_commit(const HandlerName& handler) {
    return handler.actor == "part" && handler.message.ends_with("CommitAttempt");
  }
  // Parts that write no files commit in no time.
  void crash_if_it_runs(TrackId task) {
    if (!sim_ || has_happened_ || running_[task] == 0 || seen_++ != seed_ % commits) return;
    has_happened_ = true;
    const auto now = sim_->world().elapsed();
    if (seed_ / commits % 2 == 0) {
      sim_->at(now).fault(FaultKind::power, 100ms);
    } else {
      const std::string& name = sim_->world().track_names()[static_cast<std::size_t>(task)];
      sim_->at(now).kill(name);
      sim_->at(now + 100ms).restart(name);
    }
  }

  SimCluster* sim_ = nullptr;  // while it is watched
  const std::uint64_t seed_;
  std::map<TrackId, int> running_;  // commits
  std::uint64_t seen_ = 0;
  bool has_happened_ = false;
};

// Throws unless there has been such a crash, and the files are those of a run that nothing disturbs.
inline void commit_through_a_crash(int tasks) {
  const WordFiles expected = undisturbed_words();
  const SimOptions options = options_of_a_short_job();
  CommitCrash crash(options.seed);
  SimCluster sim({{"local", tasks}}, options);
  const CommitCrash::Watch watch(crash, sim);
  auto run = sim.start(
      [tasks](SimTask& task) { tasks == 1 ? run_alone(task) : run_task(task, Compression::lz4); });
  run.finish("/job:local/task:0");
  expect_no_task_has_ended_itself(sim);
  if (!crash.has_happened()) throw std::runtime_error("no task was lost in the middle of a commit");
  if (output_of(sim) != expected)
    throw std::runtime_error("the files are not those of an undisturbed run");
}

}  // namespace actorflow::test
