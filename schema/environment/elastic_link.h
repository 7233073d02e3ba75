// A task's connection to its launcher in an elastic job, whose tasks come and go while it runs.
//
// The launcher alone says which tasks are a world, so that no two of them can disagree; it is there as
// long as the job is. They talk by a socket that the task has inherited (elastic_words.h): nobody else
// can reach it, and no machine has to know an address of the launcher's. Its descriptor is
// ACTORFLOW_ELASTIC_FD, its inode ACTORFLOW_ELASTIC_SOCKET, as a program between the two may have closed
// it and its number be another file's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "schema/environment/elastic_words.h"
#include "schema/file_descriptor.h"

namespace actorflow {

inline constexpr const char* elastic_descriptor_variable = "ACTORFLOW_ELASTIC_FD";
inline constexpr const char* elastic_socket_variable = "ACTORFLOW_ELASTIC_SOCKET";
// How many tasks the job was started with: by these a batch was chosen, which later worlds divide.
inline constexpr const char* elastic_workers_variable = "ACTORFLOW_ELASTIC_WORKERS";
// Which task of the job this is, 0, 1, ...; it stays that in every world, and no other task gets the
// number while this one runs.
inline constexpr const char* elastic_task_variable = "ACTORFLOW_ELASTIC_TASK";

// Whether an elastic launcher has started this process.
bool is_elastic_task();
// The number that the launcher gives in one of its variables. Throws invalid_argument, naming the
// variable and its value, for what is none or above `most`.
std::uint64_t number_of_launcher(const char* variable,
                                 std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// Thread-safe, except that one thread alone calls next_world().
class ElasticLink {
 public:
  // Over a stream socket, such as one of a socketpair.
  explicit ElasticLink(FileDescriptor socket);
  ElasticLink(const ElasticLink&) = delete;
  ElasticLink& operator=(const ElasticLink&) = delete;
  ~ElasticLink();

  // The link of this process, by its environment: the same object for all callers. Throws
  // invalid_argument that names a variable and what it says, failed_precondition if the socket is not
  // there.
  static std::shared_ptr<ElasticLink> of_process();

  // Waits until the launcher has a world for this task; `step` is that of the state that the task holds,
  // -1 = none. Nothing if the job is over, or `interrupted` became true. Throws unavailable if the
  // launcher is gone.
  std::optional<ElasticWorld> next_world(std::int64_t step, std::uint16_t port,
                                         const std::atomic<bool>& interrupted);
  // Of the present world: whether it shall end after a step, and whether it has lost a member.
  bool change_is_wanted() const { return change_; }
  bool is_over() const { return over_; }
  // What the launcher says of that, or of the end of the job.
  std::string why() const;
  // Called by another thread, if the world is over or as soon as it is; null: no more. When this
  // returns, an earlier function is not running.
  void on_over(std::function<void()> action);
  // This task ends by its own wish.
  void leave();

 private:
  void read_lines();
  void take(const ElasticNews& news);
  void say(const ElasticRequest& request);

  const FileDescriptor socket_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t epoch_ = 0;  // of the last world
  std::optional<ElasticWorld> next_;
  std::string why_;
  bool ended_ = false, gone_ = false;
  std::atomic<bool> change_ = false, over_ = false;
  std::mutex calling_;  // held while `action_` runs; locked before `mutex_`
  std::function<void()> action_;
  std::thread reader_;
};

}  // namespace actorflow
