// Collects what the parts of a job make, of any size. (A single collect() brings at most 64 MiB to the
// program.)
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace actorflow {

class Job;

// The results of make(part) for `parts` parts, in their order, on all tasks. `make` is called wherever a
// part runs, on any thread, for several parts at once.
std::vector<std::string> collect_bytes(Job& job, std::size_t parts,
                                       const std::function<std::string(std::size_t part)>& make);

}  // namespace actorflow
