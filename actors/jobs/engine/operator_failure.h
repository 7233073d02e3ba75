// What a function of the user's has thrown, with the operator, and the record, that it was called for.
#pragma once

#include <string>
#include <string_view>

#include "dataflow/jobs/plan.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Its code is `unknown`, or that of the Error that the function has thrown. A failure of the machine
// (a disk, want of memory in the engine) is no such thing.
class OperatorFailure : public Error {
 public:
  using Error::Error;
};

// REQUIRES: called in a catch block. An OperatorFailure passes as it is.
[[noreturn]] void throw_operator_failure(const PlanOperator& op);
// The same failure with the place of the record: "file 'x.csv', byte 120", and its beginning.
OperatorFailure at_record(const OperatorFailure& failure, const std::string& place,
                          std::string_view record);

// Calls what the user wrote, on behalf of the operator.
template <class F, class... Args>
decltype(auto) call_user(const PlanOperator& op, F&& function, Args&&... args) {
  try {
    return function(static_cast<Args&&>(args)...);
  } catch (...) {
    throw_operator_failure(op);
  }
}

}  // namespace actorflow
