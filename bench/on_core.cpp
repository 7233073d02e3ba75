#include "bench/on_core.h"

namespace actorflow::bench {
namespace {

cpu_set_t cores_of_thread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  return cores;
}

}  // namespace

OnCore::OnCore(int number) : before_(cores_of_thread()) {
  static const cpu_set_t at_first = before_;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &at_first) || number-- > 0) continue;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    sched_setaffinity(0, sizeof only, &only);
    return;
  }
}

OnCore::~OnCore() { sched_setaffinity(0, sizeof before_, &before_); }

}  // namespace actorflow::bench
