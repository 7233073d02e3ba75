#include "apps/usage/usage.h"

namespace actorflow {

ExitStatus exit_status_of(Code code) {
  return code == Code::unavailable || code == Code::deadline_exceeded ? lost_task : failed_run;
}

void check_usage(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    if (exit_status_of(error.code()) == lost_task) throw;
    throw UsageError(error.what());
  }
}

}  // namespace actorflow
