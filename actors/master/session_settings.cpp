#include "actors/master/session_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace actorflow {

SessionSettings::SessionSettings(std::string session_handle, SessionOptions session_options)
    : handle(std::move(session_handle)), options(std::move(session_options)) {
  for (const auto& filter : options.device_filters) filters.push_back(DeviceName::parse(filter));
  if (options.step_timeout_ms < 0)
    throw invalid_argument(fmt::format("a session's step timeout must be 0 (none) or more ms, got {}",
                                       options.step_timeout_ms));
}

bool SessionSettings::allows(const TaskContext& task, TaskId other) const {
  if (filters.empty() || other == task.own) return true;
  return std::ranges::any_of(
      filters, [&](const DeviceName& filter) { return may_be_on(filter, task.name_of(other)); });
}

}  // namespace actorflow
