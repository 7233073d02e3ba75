// The exit statuses of programs, and of processes that the runtime ends.
#pragma once

namespace actorflow {

// Below 128: trying again is no use. From 128 on: it is, as Kubernetes' TFJob, Slurm's requeue and
// `actorflow launch` have it.
enum ExitStatus : int {
  success = 0,
  failed_run = 1,
  bad_usage = 2,
  interrupted_run = 130,
  // A task was lost: another one, which was not there any more, or not yet; or the process's own, which
  // has ended itself because the state of an actor could not be trusted (TaskScheduler::end_task), or
  // was started on a disk that answered with an error.
  lost_task = 138,
};

}  // namespace actorflow
