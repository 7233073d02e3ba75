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

  // The functions that carry out what the job decides. Tasks are the indices of JobProgress.
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

  // Events: processes of tasks have begun, sent something by their sockets, or ended.
  void started(int task) { book_.started(task, Clock::now()); }
  void take(int task, std::string_view bytes);
  // Returns whether the end is no failure, whatever the status: the task has said before that it leaves,
  // or was no member when training was complete. `was_asked`: to end, since it has no slot any more.
  bool ended(int task, int status, bool was_asked);
  void more_may_come(bool may) { book_.more_may_come(may); }

  // Carries out what the book decides after these events.
  void follow_book();
  // When follow_book() must be called even if nothing happens; max() = never.
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
