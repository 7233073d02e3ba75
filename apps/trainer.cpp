// One task of a training cluster: the same program for every parameter server, worker and evaluator.
//
//   trainer --ps_hosts=h0:2222,h1:2222 --worker_hosts=h2:2222,h3:2222 --job_name=worker --task_index=0
//   TF_CONFIG='{"cluster": {...}, "task": {"type": "evaluator", "index": 0}}' trainer
//   --checkpoint_dir=DIR
#include "apps/cli/program.h"
#include "apps/cli/train_task.h"

int main(int argc, char** argv) {
  using namespace actorflow;
  CommandLine program(
      "Train a classifier as one task of a cluster of parameter servers and workers; asynchronously "
      "without --sync_replicas",
      "trainer");
  TrainTaskFlags flags;
  flags.add_to(program);
  return run_program(program, argc, argv, [&] { return run_train_task(flags); });
}
