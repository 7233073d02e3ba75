// Training loops that are over when their input is.
#pragma once

#include <cstdint>

#include "actors/client/session.h"

namespace actorflow {

// Runs the step again and again, until an input that it takes an element of has no more. Throws what
// else ends it. Returns how often it ran.
std::int64_t run_to_end_of_input(Session& session, Output step);

}  // namespace actorflow
