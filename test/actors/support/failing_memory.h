// Allocation failures on demand: this program's operator new.
#pragma once

#include <cstdint>

namespace actorflow::test {

// Makes this thread's n-th allocation from now on fail, once; 0: none.
void fail_allocation(std::uint64_t n);
// Ends it as fail_allocation(0) does. Returns how many of the n allocations were left: 0 if it has
// failed.
std::uint64_t allocations_left();

}  // namespace actorflow::test
