// What a disk may answer while training goes on all the same.
#pragma once

#include "dataflow/error.h"

namespace actorflow {

inline bool is_of_storage(Code code) {
  return code == Code::resource_exhausted || code == Code::permission_denied || code == Code::not_found;
}

}  // namespace actorflow
