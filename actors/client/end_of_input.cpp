#include "actors/client/end_of_input.h"

#include "dataflow/values/error.h"

namespace actorflow {

std::int64_t run_to_end_of_input(Session& session, Output step) {
  for (std::int64_t steps = 0;; ++steps) try {
      session.run(step);
    } catch (const Error& error) {
      if (error.code() != Code::out_of_range) throw;
      return steps;
    }
}

}  // namespace actorflow
