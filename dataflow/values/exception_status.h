// Exceptions as statuses.
#pragma once

#include "dataflow/values/error.h"

namespace actorflow {

// The status of an Error as it is; resource_exhausted for std::bad_alloc; internal for anything else.
// REQUIRES: called in a catch block.
Status current_exception_status();

}  // namespace actorflow
