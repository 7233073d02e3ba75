// Checks of the numbers that flags take, whose errors name what was expected and what came.
#pragma once

#include <CLI/CLI.hpp>

namespace actorflow {

// Above 0, and finite.
CLI::Validator positive_number();
// 0 or above, and finite.
CLI::Validator nonnegative_number();

}  // namespace actorflow
