// Texts that a shell would change.
#pragma once

#include <string>
#include <vector>

namespace actorflow::test {

// Launches a task with these flags, to which hostile arguments and variables are added, and checks that
// the task has got exactly their bytes.
void expect_hostile_texts_arrive(std::vector<std::string> flags);

}  // namespace actorflow::test
