// The incarnations of tasks: their order, and those that a session has seen.
#pragma once

#include <map>

#include "actors/core/messages.h"
#include "actors/runtime/random.h"

namespace actorflow {

// The start number of a process (ServerOptions), 0 if it has none, above random bits.
inline constexpr int incarnation_random_bits = 40;
inline std::uint64_t make_incarnation(std::uint32_t start_number, Random& random) {
  return std::uint64_t{start_number} << incarnation_random_bits |
         random.next() >> (64 - incarnation_random_bits) | 1;
}
// Whether `one` certainly started before `other`.
inline bool is_older(std::uint64_t one, std::uint64_t other) {
  const auto first = one >> incarnation_random_bits, second = other >> incarnation_random_bits;
  return first != 0 && second != 0 && first < second;
}

// The incarnations that a session has seen. A task that comes back as another incarnation has lost its
// variables. Not thread-safe.
class Incarnations {
 public:
  // False if the session has seen another incarnation of the task.
  bool recognise(const Sender& task) {
    return seen_.try_emplace(task.task, task.incarnation).first->second == task.incarnation;
  }

 private:
  std::map<TaskId, std::uint64_t> seen_;  // the first ones
};

}  // namespace actorflow
