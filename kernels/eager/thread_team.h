// Threads of an eager computation that share the work of a kernel.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/core/team_parts.h"
#include "kernels/devices/team.h"

namespace actorflow {

// Looks for the parts of kernels for a moment, and then sleeps. Thread-safe.
class ThreadTeam final : public Team {
 public:
  // `threads` with the caller: 1 has no helper. Throws resource_exhausted if there are not so many.
  explicit ThreadTeam(int threads);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam() override { end(); }

  void run(int parts, const std::function<void(int)>& part) override;

 private:
  using PartsRef = std::shared_ptr<TeamParts>;

  void help();
  void wait_for_other_than(std::uint32_t seen);
  PartsRef parts_to_take();
  void wake();
  void end();

  std::atomic<std::uint32_t> posted_{0};  // changes when there is something new to look at
  std::atomic<bool> ends_{false};
  std::mutex mutex_;
  std::vector<PartsRef> open_;
  std::vector<std::thread> helpers_;
};

}  // namespace actorflow
