// Training loops that are over when their input is.
#pragma once

#include <cstdint>

#include "actors/client/session.h"

namespace actorflow {

// Runs the step again and again until an input from which it takes elements has ended (out_of_range).
// Returns the number of steps that succeeded. Throws any other error of a step.
std::int64_t run_to_end_of_input(Session& session, Output step);

}  // namespace actorflow
