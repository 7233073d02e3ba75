// The log of simulated tasks: kept, with simulated time and task, instead of printed.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "actors/simulation/world.h"

namespace spdlog {
class logger;
}

namespace actorflow {

// Replaces the log of the process for its life. Not thread-safe.
class SimLog {
 public:
  explicit SimLog(World& world);
  ~SimLog();
  SimLog(const SimLog&) = delete;
  SimLog& operator=(const SimLog&) = delete;

  void line(const std::string& text);
  // The newest lines, with a heading; "" if there are none.
  std::string last_lines() const;

 private:
  World& world_;
  std::deque<std::string> lines_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace actorflow
