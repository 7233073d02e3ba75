// A process that the machine gives few threads more.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace actorflow::test {

// While it lives, this process can begin so many threads: their stacks are large, and there are no
// addresses for one more. Not with sanitizers, which take addresses of their own.
class FewThreads {
 public:
  explicit FewThreads(std::size_t count) {
    pthread_getattr_default_np(&attributes_before_);
    pthread_getattr_default_np(&attributes_);
    pthread_attr_setstacksize(&attributes_, stack_bytes);
    pthread_setattr_default_np(&attributes_);
    getrlimit(RLIMIT_AS, &addresses_before_);
    const rlimit few{bytes_of_addresses() + count * stack_bytes + stack_bytes / 2,
                     addresses_before_.rlim_max};
    setrlimit(RLIMIT_AS, &few);
  }
  FewThreads(const FewThreads&) = delete;
  FewThreads& operator=(const FewThreads&) = delete;
  ~FewThreads() {
    setrlimit(RLIMIT_AS, &addresses_before_);
    pthread_setattr_default_np(&attributes_before_);
    pthread_attr_destroy(&attributes_);
    pthread_attr_destroy(&attributes_before_);
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 30;

  static std::size_t bytes_of_addresses() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }

  pthread_attr_t attributes_before_{}, attributes_{};
  rlimit addresses_before_{};
};

}  // namespace actorflow::test
