// Memory that runs out where a test wants it to: operator new of this program.
#pragma once

#include <cstdint>

namespace actorflow::test {

// From now on this thread's n-th allocation fails, once; 0: none.
void fail_allocation(std::uint64_t n);
// The same as fail_allocation(0). How many of the n are left: 0 if it has failed.
std::uint64_t allocations_left();

}  // namespace actorflow::test
