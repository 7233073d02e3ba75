// An exception of a user's function, with the operator and the record for which the function was called.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "dataflow/jobs/plan.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Has the code of the Error that the function has thrown, `unknown` for other exceptions. Failures of
// the machine, such as those of a disk or of memory in the engine, are not OperatorFailures.
class OperatorFailure : public Error {
 public:
  // `place`: of the record, if it is known.
  OperatorFailure(Code code, const std::string& message, std::string place = {})
      : Error(code, message), place_(std::move(place)) {}

  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

// REQUIRES: called in a catch block. An OperatorFailure passes as it is.
[[noreturn]] void throw_operator_failure(const PlanOperator& op);
// The same failure with the place of the record: "file 'x.csv', byte 120", and its beginning.
OperatorFailure at_record(const OperatorFailure& failure, const std::string& place,
                          std::string_view record);

// Calls a user's function on behalf of the operator: its exceptions become OperatorFailures.
template <class F, class... Args>
decltype(auto) call_user(const PlanOperator& op, F&& function, Args&&... args) {
  try {
    return function(static_cast<Args&&>(args)...);
  } catch (...) {
    throw_operator_failure(op);
  }
}

}  // namespace actorflow
