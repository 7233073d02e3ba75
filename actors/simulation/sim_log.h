// The log of simulated tasks: kept, with simulated time and task, instead of printed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/simulation/world/world.h"

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
  // The newest lines, with a heading; "" if there are none. Of lines of a task that differ only in their
  // numbers, such as reports of a long wait, the first two and the newest, so that they do not crowd out
  // what came before them.
  std::string last_lines() const;

 private:
  struct Line {
    double seconds;
    std::string who, text;
    std::string shape;         // the text without numbers
    std::size_t left_out = 0;  // of that shape before this one
  };
  void keep(Line line);

  World& world_;
  std::vector<Line> lines_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace actorflow
