// An event writer whose failures end nothing. Not thread-safe.
#pragma once

#include <spdlog/spdlog.h>

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
    try {
      what(*writer_);
    } catch (const Error& error) {
      if (!is_of_storage(error.code())) throw;
      spdlog::error("summaries were not written, all else goes on: {}", error.what());
    }
  }

 private:
  std::shared_ptr<EventWriter> writer_;
};

}  // namespace actorflow
