// Warnings of which strangers can cause any number. Internal to schema/: includes kj.
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <functional>
#include <map>
#include <string>

namespace actorflow {

// The first connection that was closed for a reason is told at once, how many more there were every 10
// s. For the loop's thread.
class CountedWarnings {
 public:
  CountedWarnings(kj::Timer& timer, std::function<void(const std::string&)> warn)
      : timer_(timer), warn_(std::move(warn)) {}

  void closed(const std::string& who, const std::string& reason);
  // Forgets what has not been told.
  void stop() { telling_ = nullptr; }

 private:
  void tell_counts();

  kj::Timer& timer_;
  const std::function<void(const std::string&)> warn_;
  std::map<std::string, int> more_;  // by reason
  kj::Promise<void> telling_ = nullptr;
};

}  // namespace actorflow
