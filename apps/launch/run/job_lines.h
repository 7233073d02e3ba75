// Lines that the launcher prints about hosts.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apps/launch/run/keepers.h"
#include "apps/launch/task_layout.h"

namespace actorflow {

// "ps 0 (port 20001), worker 0 (port 20002)"; of many tasks only "worker 0-99".
std::string tasks_of_host(const std::vector<LaunchedTask>& tasks, int host);

// The last words of a lost keeper, with advice on what to do.
std::string lost_words(const std::string& words);

// "waiting for a, b and 3 more to end".
std::string waiting_words(const std::vector<std::string>& whom, const std::string& what);

// The line about a host that has not answered.
std::string silent_words(const std::string& words, std::chrono::seconds limit);

// Throws unavailable with a line for each host that has a mistake; nothing if none has.
void throw_mistakes(const Keepers& keepers, const std::vector<std::string>& mistakes);

}  // namespace actorflow
