// The meeting of a job's ranks, which only know rank 0's address, to learn all addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schema/environment/launched_rank.h"

namespace actorflow {

struct RendezvousOptions {
  std::int64_t limit_ms = 60'000;  // until all ranks have come
  // Told within 2 s for whom this rank waits, on a thread of the meeting.
  std::function<void(const std::string&)> on_wait = [](const std::string&) {};
};

// The addresses "host:port" of all ranks, in their order; `port` is where this one will listen. Waits
// for all ranks, each of which calls this once. A rank that has died before may come again.
//
// Throws deadline_exceeded that names the ranks that have not come, already_exists if rank 0 finds none
// of its ports free or another process has this rank, and invalid_argument if ranks say different things
// of the job. Callers of other jobs, and whoever else calls, change nothing.
std::vector<std::string> meet(const LaunchedRank& self, std::uint16_t port,
                              const RendezvousOptions& options = {});

}  // namespace actorflow
