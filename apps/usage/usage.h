// How programs end: exit statuses, and mistakes in what they were asked for.
#pragma once

#include <functional>
#include <stdexcept>

#include "actors/runtime/exit_status.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Of a program that ends with this error.
ExitStatus exit_status_of(Code code);

// An error whose cause may pass, so that the program ends with lost_task.
class PassingError : public Error {
 public:
  explicit PassingError(const Error& error) : Error(error) {}
};

// Returns what `body` returns, of a task that starts: an error of the disk may pass, and the others wait
// for a task that is started again.
template <class Body>
auto start_task(Body&& body) try {
  return body();
} catch (const Error& error) {
  if (error.code() != Code::disk_error) throw;
  throw PassingError(error);
}

// A mistake in the arguments that is found after they have been parsed.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs `body`, which builds values from arguments, and turns its Error into a UsageError, unless it is
// of another task.
void check_usage(const std::function<void()>& body);

}  // namespace actorflow
