// Errors of the engine: a code that programs act on, a message that people read.
//
// Bad graphs, flags and shapes throw Error where they are built. A failure while a step runs is sent as
// a Status value to the owner of the step; nothing is thrown across an actor's border.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "dataflow/values/same_build.h"

namespace actorflow {

// The canonical codes of distributed TensorFlow and gRPC, with their numbers.
enum class Code : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,  // a task is not there, and nothing else: monitored sessions then recover
  data_loss = 15,
  not_finite = 16,  // a loss or a gradient is NaN or infinite; TensorFlow says invalid_argument
  disk_error = 17,  // an error of a disk for which there is no other code, such as EIO or EMFILE
};

std::string_view to_string(Code code);

struct Status {
  Code code = Code::ok;
  std::string message;

  bool ok() const { return code == Code::ok; }
  // "invalid_argument: <message>", or "ok".
  std::string to_string() const;
};

// True for errors that are only the consequence of another one, which wins over them.
inline bool is_derived(Code code) { return code == Code::cancelled || code == Code::aborted; }

class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  explicit Error(const Status& status) : Error(status.code, status.message) {}

  Code code() const { return code_; }
  Status status() const { return {code_, what()}; }

 private:
  Code code_;
};

inline Error invalid_argument(const std::string& message) {
  return Error(Code::invalid_argument, message);
}

// Throws the status unless it is ok.
inline void throw_if_error(const Status& status) {
  if (!status.ok()) throw Error(status);
}

}  // namespace actorflow
