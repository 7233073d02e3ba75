// A job that has failed while it ran.
#pragma once

#include "dataflow/values/error.h"

namespace actorflow {

// The failure of a stage, or of another task's part of the job. Its code may be that of a record which
// does not decode, invalid_argument, that of bad arguments, too: a program's exit status tells them
// apart by this class.
class JobFailure : public Error {
 public:
  explicit JobFailure(const Status& status) : Error(status.code, status.message) {}
};

}  // namespace actorflow
