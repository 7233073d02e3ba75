// The launcher's part in an elastic job: between the book of its worlds and the tasks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/launch/elastic/world_book.h"
#include "apps/launch/job_spec.h"
#include "apps/launch/run/line_splitter.h"

namespace actorflow {

// Not thread-safe.
class ElasticJob {
 public:
  using Clock = std::chrono::steady_clock;

  // What it has done. Tasks are the indices of JobProgress.
  struct Hands {
    std::function<std::string(int task)> label;
    std::function<std::string(int task, std::uint16_t port)> address;
    std::function<void(int task, const std::string& line)> tell;
    std::function<void(int task)> takes_part;  // is told its place in a world
    std::function<void(int task, int signal)> signal;
    std::function<void(const std::string& text)> say;
    std::function<void(const std::string& why)> fail;
  };

  ElasticJob(const JobSpec& job, Hands hands);

  // Processes of tasks begin, say something by their sockets, and end.
  void started(int task) { book_.started(task, Clock::now()); }
  void take(int task, std::string_view bytes);
  // Returns whether that is no failure, whatever its status: the task has said that it leaves, or was
  // no member when training was complete.
  bool ended(int task, int status);
  void more_may_come(bool may) { book_.more_may_come(may); }

  // Carries out what follows from all that.
  void follow_book();
  // When it has to be done though nothing happens; max() = not at all.
  Clock::time_point next_look() const;

  bool has_begun() const { return book_.world().epoch > 0; }
  const std::vector<int>& members() const { return book_.world().members; }
  bool is_complete() const { return book_.is_complete(); }

 private:
  void hear(int task, std::string_view line);
  void obey(const WorldOrder& order);
  std::string world_for(int task) const;

  const Hands hands_;
  WorldBook book_;
  std::map<int, LineSplitter> words_;
  std::map<int, std::uint16_t> ports_;
};

}  // namespace actorflow
