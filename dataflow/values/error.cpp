#include "dataflow/values/error.h"

#include <array>

namespace actorflow {

std::string_view to_string(Code code) {
  static constexpr std::array<std::string_view, 18> names = {
      "ok",        "cancelled",      "unknown",           "invalid_argument",   "deadline_exceeded",
      "not_found", "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
      "aborted",   "out_of_range",   "unimplemented",     "internal",           "unavailable",
      "data_loss", "not_finite",     "disk_error"};
  const auto index = static_cast<std::size_t>(code);
  return index < names.size() ? names[index] : "unknown";
}

std::string Status::to_string() const {
  std::string text(actorflow::to_string(code));
  if (!ok()) text += ": " + message;
  return text;
}

}  // namespace actorflow
