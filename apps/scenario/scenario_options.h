// The options of a scenario's file that belong to one kind of scenario, and what must be said.
#pragma once

#include <string>
#include <vector>

#include "apps/scenario/scenario.h"

namespace actorflow {

// Throws UsageError if, of the options that were given, by name, there is none, one is of another kind of
// scenario, or training is given no end.
void check_options(const ScenarioFlags& flags, const std::vector<std::string>& given);

}  // namespace actorflow
