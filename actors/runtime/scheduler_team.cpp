#include "actors/runtime/scheduler_team.h"

#include <algorithm>
#include <caf/make_counted.hpp>
#include <caf/ref_counted.hpp>
#include <caf/resumable.hpp>

#include "actors/runtime/scheduler.h"
#include "kernels/core/team_parts.h"

namespace actorflow {
namespace {

class Parts final : public caf::resumable, public caf::ref_counted {
 public:
  Parts(int count, const std::function<void(int)>& part) : parts(count, part) {}

  resume_result resume(caf::execution_unit*, std::size_t) override {
    parts.work();
    return done;
  }
  void intrusive_ptr_add_ref_impl() override { intrusive_ptr_add_ref(this); }
  void intrusive_ptr_release_impl() override { intrusive_ptr_release(this); }

  TeamParts parts;
};

}  // namespace

// Asks busy threads, too: one that becomes free meanwhile takes a part. But where clients compute on
// every core, each keeps to its own parts.
void SchedulerTeam::run(int parts, const std::function<void(int)>& part) {
  const int others = scheduler_.helpers() > 0 ? static_cast<int>(scheduler_.num_workers()) - 1 : 0;
  const int helpers = std::min(parts - 1, others);
  if (helpers <= 0) {
    for (int i = 0; i < parts; ++i) part(i);
    return;
  }
  const auto shared = caf::make_counted<Parts>(parts, part);
  for (int i = 0; i < helpers; ++i) {
    caf::intrusive_ptr_add_ref(shared.get());  // the queue's
    scheduler_.enqueue_piece(shared.get());
  }
  shared->parts.work();
  shared->parts.wait();
}

}  // namespace actorflow
