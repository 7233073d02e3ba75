// An event writer whose failures end nothing. Not thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "actors/events/event_writer.h"
#include "actors/monitored/storage_error.h"

namespace actorflow {

class EventLog {
 public:
  explicit EventLog(std::shared_ptr<EventWriter> writer) : writer_(std::move(writer)) {}

  // Logs an error of the storage; throws others.
  void write(const std::function<void(EventWriter&)>& what) {
    storage_allows("write summaries", [&] { what(*writer_); });
  }

 private:
  std::shared_ptr<EventWriter> writer_;
};

}  // namespace actorflow
