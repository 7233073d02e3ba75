// What the launcher says of hosts.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apps/launch/run/keepers.h"
#include "apps/launch/task_layout.h"

namespace actorflow {

// "ps 0 (port 20001), worker 0 (port 20002)"; of many tasks only "worker 0-99".
std::string tasks_of_host(const std::vector<LaunchedTask>& tasks, int host);

// What a lost keeper has said, with what to do about it.
std::string lost_words(const std::string& words);

// What to say of a host that has not answered.
std::string silent_words(const std::string& words, std::chrono::seconds limit);

// Throws unavailable with a line for each host that has a mistake; nothing if none has.
void throw_mistakes(const Keepers& keepers, const std::vector<std::string>& mistakes);

}  // namespace actorflow
