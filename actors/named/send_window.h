// The window of one sender's messages to an actor that this has not handled or answered yet.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "actors/named/client_queue.h"
#include "actors/named/options.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Thread-safe.
class SendWindow : public std::enable_shared_from_this<SendWindow> {
 public:
  // The share of a message, until it is destroyed.
  class Share {
   public:
    Share(std::shared_ptr<SendWindow> window, std::size_t bytes)
        : window_(std::move(window)), bytes_(bytes) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { window_->release(bytes_); }

   private:
    const std::shared_ptr<SendWindow> window_;
    const std::size_t bytes_;
  };
  using ShareRef = std::shared_ptr<Share>;

  // `whom` names the actor for errors: "'counter' of /job:worker/task:1".
  SendWindow(std::string whom, const ActorRefOptions& options)
      : whom_(std::move(whom)), options_(options) {}

  // Throws resource_exhausted while there is no room.
  ShareRef take(std::size_t bytes);
  // Waits for room, for the window's patience.
  ShareRef wait_for(Runtime& runtime, std::size_t bytes);
  // Throws the first failure since it was last thrown.
  void throw_failure();
  // Waits until the window is empty; throws as throw_failure() does, or deadline_exceeded.
  void drain(Runtime& runtime, std::chrono::milliseconds timeout);
  // Keeps the first one for throw_failure().
  void failed(const Status& why);
  // From now on everything throws this.
  void close(const Status& why);

 private:
  bool has_room(std::size_t bytes) const;
  ShareRef take_locked(std::size_t bytes);
  [[noreturn]] void throw_full() const;
  void release(std::size_t bytes);

  const std::string whom_;
  const ActorRefOptions options_;
  mutable std::mutex mutex_;
  std::size_t messages_ = 0, bytes_ = 0;  // these guarded by mutex_
  Status failure_, closed_;
  ClientQueue clients_;
};

}  // namespace actorflow
