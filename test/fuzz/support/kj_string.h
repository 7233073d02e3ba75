// Before every source that includes Cap'n Proto 0.9, where clang compiles it: kj leaves these to C++20's
// rewritten comparisons, which clang 16 does not form beside an operator!= (P2468).
#pragma once

#include <kj/string.h>

namespace kj {
inline bool operator==(const char* a, const StringPtr& b) { return b.operator==(StringPtr(a)); }
inline bool operator!=(const char* a, const StringPtr& b) { return !(a == b); }
}  // namespace kj
