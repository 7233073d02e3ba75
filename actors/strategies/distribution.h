// Where and how a model is trained: one object, chosen where fit() is called.
//
//   model.fit(data, {.epochs = 3, .strategy = ParameterServer{server, {.strategy = Synchronous{}}}});
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/strategies/replica_run.h"
#include "actors/task/server.h"
#include "dataflow/train/pipeline_schedule.h"

namespace actorflow {

class ElasticTask;

// In this process.
struct OneDevice {};

// Synchronously by that many replicas in this process, each with its part of every batch and variables
// of its own, as MultiWorkerMirrored. The functions of the dataset are called by several threads.
struct Mirrored {
  int replicas = 2;
};

// By the tasks of a cluster: the jobs "chief" and "worker" train, "ps" holds the variables. Every task
// is the same program, which calls fit() with its own server. fit() sets `train_steps` and `ps_job` of
// the options. Each replica clips its own gradients, before their mean is taken.
struct ParameterServer {
  // REQUIRES: the server outlives the strategy's use.
  explicit ParameterServer(Server& task, ReplicaOptions options_ = {.strategy = Synchronous{}})
      : ParameterServer(std::shared_ptr<Server>(std::shared_ptr<void>{}, &task), std::move(options_)) {}
  explicit ParameterServer(std::shared_ptr<Server> task,
                           ReplicaOptions options_ = {.strategy = Synchronous{}})
      : server(std::move(task)), options(std::move(options_)) {}

  std::shared_ptr<Server> server;
  ReplicaOptions options;
};

// Synchronously by the workers of a cluster without parameter servers: each has all variables, with
// their slots, and updates them by the mean of all gradients, an all-reduce. A worker that is lost and
// comes back gets the chief's variables, and only the step that was under way is made again; after the
// loss of the chief all go on from the newest checkpoint. What is learned has the same bits as without
// the loss, but for what the chief's callbacks have seen before (callbacks.h).
//   MultiWorkerMirrored{server, {.strategy = AllReduce{.sharded_optimizer = true}}}
// divides the slots among the workers, and goes on from the newest checkpoint after the loss of any.
struct MultiWorkerMirrored {
  // REQUIRES: the server outlives the strategy's use.
  explicit MultiWorkerMirrored(Server& task, ReplicaOptions options_ = {})
      : MultiWorkerMirrored(std::shared_ptr<Server>(std::shared_ptr<void>{}, &task),
                            std::move(options_)) {}
  explicit MultiWorkerMirrored(std::shared_ptr<Server> task, ReplicaOptions options_ = {})
      : server(std::move(task)), options(std::move(options_)) {
    if (!is_all_reduce(options.strategy)) options.strategy = AllReduce{};
  }

  std::shared_ptr<Server> server;
  ReplicaOptions options;
};

// The same by the tasks of an elastic job, of which some may be lost, leave or come while it trains
// (elastic_task.h, `actorflow launch --min`). A batch stays as it is and is divided among those that are
// there. Any task may become the first one, which calls the callbacks, saves, and has the weights at the
// end: give all of them the same callbacks. The history begins with the first epoch that a task ends as
// the first one. No sharded optimizer.
struct ElasticMirrored {
  explicit ElasticMirrored(std::shared_ptr<ElasticTask> task_, ReplicaOptions options_ = {})
      : task(std::move(task_)), options(std::move(options_)) {
    if (!is_all_reduce(options.strategy)) options.strategy = AllReduce{};
  }

  std::shared_ptr<ElasticTask> task;
  ReplicaOptions options;
};

// How a Pipeline cuts the model and a step.
struct PipelineOptions {
  int stages = 2;
  // Of each replica's part of a batch, which is a multiple of this; those of a last batch that is
  // smaller may have fewer examples, or none.
  int micro_batches = 4;
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  // The names of the layers with which the second, third, ... stage begins, as Model::summary() gives
  // them; none: such that the slowest stage is as fast as possible, by what the layers cost.
  std::vector<std::string> cut_before{};
  // What each layer costs, by its name, in any unit; none: what the first task of the pipeline measures
  // before training, a few forward and backward passes of each layer over a micro-batch.
  std::map<std::string, double> layer_costs{};
  // The device of each stage within its task, such as "gpu:1"; none, or one that the task lacks: a CPU.
  std::vector<std::string> devices{};
  int replicas = 1;  // of the whole pipeline, in this process; on a cluster they follow from the tasks
};

// By consecutive parts of the model, each in a place of its own with its variables and their slots. A
// step's micro-batches follow each other through the parts, so that these work at the same time; the
// gradients of all are added up before the variables are updated. What is learned has the same bits for
// every number of stages and for both schedules, and those of one device with
// FitOptions::gradient_accumulation_steps.
//
// On a cluster each stage is a task. Every task is the same program, which calls fit() with its own
// server. The jobs "chief" and "worker" in their order give the stages; several times as many tasks as
// stages are replicas of the pipeline, which train synchronously. fit() sets `train_steps`, `ps_job`,
// `strategy` and `tasks_per_replica` of the options.
struct Pipeline {
  // In this process.
  explicit Pipeline(PipelineOptions cut_) : cut(std::move(cut_)) {}
  // REQUIRES: the server outlives the strategy's use.
  Pipeline(Server& task, PipelineOptions cut_, ReplicaOptions options_ = {})
      : Pipeline(std::shared_ptr<Server>(std::shared_ptr<void>{}, &task), std::move(cut_),
                 std::move(options_)) {}
  Pipeline(std::shared_ptr<Server> task, PipelineOptions cut_, ReplicaOptions options_ = {})
      : server(std::move(task)), cut(std::move(cut_)), options(std::move(options_)) {}

  std::shared_ptr<Server> server;  // null: in this process
  PipelineOptions cut;
  ReplicaOptions options;
};

using Distribution =
    std::variant<OneDevice, Mirrored, MultiWorkerMirrored, ElasticMirrored, ParameterServer, Pipeline>;

// The strategy of this process by its environment: TF_CONFIG, as distributed TensorFlow reads it, or
// what mpirun, srun or torchrun say to the processes that they start
// (schema/environment/task_from_environment.h). Parameter servers, or workers that hold the variables
// where the cluster has no "ps"; one device for a process that was started alone. `server` gives what
// the environment does not: threads, timeouts, and credentials, before those that ACTORFLOW_CREDENTIALS
// names. ElasticMirrored in an elastic job. Throws failed_precondition if `server` is insecure although
// that variable is there, and what task_from_environment(), ElasticTask and Server throw.
Distribution distribution_from_environment(const ReplicaOptions& options = {.strategy = Synchronous{}},
                                           ServerOptions server = {});

// The same for a pipeline: of those tasks, or in this process.
Distribution pipeline_from_environment(const PipelineOptions& cut, const ReplicaOptions& options = {},
                                       ServerOptions server = {});

// False at tasks other than the chief, whose model has no trained weights after fit(): what would use
// them, such as evaluate(), predict() and save(), throws there. In an elastic job that is known after
// fit() only: false before.
bool is_chief(const Distribution& strategy);

// Calls `replica` for the tasks 0, 1, ... of a job of the cluster, each on a thread, and throws the
// first error of one of them, after which the others are stopped.
void run_on_threads(LocalCluster& cluster, int tasks, const std::function<void(int)>& replica);

}  // namespace actorflow
