// Texts that a shell would change.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/process.h"

namespace actorflow::test {

// Starts a command with these variables (NAME=VALUE) by whatever is tested.
using StartHostile = std::function<std::unique_ptr<Process>(const std::vector<std::string>& variables,
                                                            const std::vector<std::string>& command)>;

// Starts a command with hostile arguments and variables, and checks that it has got exactly their bytes.
void expect_hostile_texts_arrive(const StartHostile& start);
// The same as a task that is launched with these flags.
void expect_hostile_texts_arrive(const std::vector<std::string>& flags);

}  // namespace actorflow::test
