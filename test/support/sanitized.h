// Whether the tests are built for a sanitizer that has an allocator and signal handlers of its own.
#pragma once

namespace actorflow::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

}  // namespace actorflow::test
