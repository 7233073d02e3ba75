// Checks of the numbers that flags take, whose errors name what was expected and what came.
#pragma once

#include <CLI/CLI.hpp>

namespace actorflow {

// Accepts finite numbers above 0.
CLI::Validator positive_number();
// Accepts finite numbers of 0 or more.
CLI::Validator nonnegative_number();

}  // namespace actorflow
