#include "actors/jobs/tensors/job_share.h"

#include <fmt/format.h>

namespace actorflow {

void throw_elsewhere(std::int64_t record, int shares, int own) {
  throw Error(
      Code::failed_precondition,
      fmt::format(
          "record {} of the job is on another task: this one has number {} of {} shares, every "
          "{}th record. Take shard({}, {}) before any other stage of the dataset; in fit(), give "
          "a batch_size that the number of workers divides",
          record, own, shares, shares, shares, own));
}

void throw_share_lost() {
  throw Error(
      Code::unavailable,
      "this task's share of the job's records was lost with the process before it, and cannot "
      "be made again: the first task keeps the dataset no longer. Keep it there until the job has "
      "ended, outside of the job's function; or run the job again on all tasks");
}

}  // namespace actorflow
