// How programs end: exit statuses, and mistakes in what they were asked for.
#pragma once

#include <functional>
#include <stdexcept>

#include "dataflow/values/error.h"

namespace actorflow {

// Below 128: trying again is no use. From 128 on: it is, as Kubernetes' TFJob, Slurm's requeue and
// `actorflow launch` have it.
enum ExitStatus : int {
  success = 0,
  failed_run = 1,
  bad_usage = 2,
  interrupted_run = 130,
  lost_task = 138,  // another task was not there any more, or not yet
};

// Of a program that ends with this error.
ExitStatus exit_status_of(Code code);

// A mistake in the arguments that is found after they have been parsed.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs `body`, which builds values from arguments, and turns its Error into a UsageError, unless it is
// of another task.
void check_usage(const std::function<void()>& body);

}  // namespace actorflow
