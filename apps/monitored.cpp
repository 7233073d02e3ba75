// Fits a line in a monitored session: distributed TensorFlow's MonitoredTrainingSession in C++.
//
//   monitored                                  in one process
//   monitored --checkpoint_dir DIR             saves, and goes on from there when it is run again
//   TF_CONFIG='{...}' monitored ...            as one task of a cluster: a replica, or a parameter
//   server
#include <algorithm>
#include <iostream>

#include "actors/actorflow.h"
#include "apps/cli/cluster_flags.h"
#include "apps/cli/program.h"
#include "schema/environment/task_from_environment.h"

using namespace actorflow;

namespace {

// Trains y = w x + b on y = 3 x + 2. Parameters are on the ps tasks, if there are any.
void fit(Server& server, const TaskConfig& task, const std::string& checkpoint_dir) {
  Graph g;
  Variable step, w, b;
  Output x, loss;
  TrainOp train;
  const auto jobs = task.cluster.jobs();
  const int ps_tasks = std::ranges::count(jobs, "ps") > 0 ? task.cluster.num_tasks("ps") : 0;
  g.on(replica_device_setter(ps_tasks, "ps", task.task.to_string()), [&] {
    step = global_step(g);
    w = g.variable("w", g.constant(0.0F));
    b = g.variable("b", g.constant(0.0F));
    x = g.placeholder(DType::float32, {Shape::unknown}, "x");
    loss = mean(square(x * w + b - (x * 3 + 2)));
    train = minimize(g, loss, {w, b}, step, Sgd{0.1});
  });

  MonitoredOptions options;
  options.is_chief = task.replica <= 0;
  options.checkpoint_dir = checkpoint_dir;
  options.save_checkpoint = {.steps = 100};
  options.hooks = {stop_at_step(500), nan_tensor(loss),
                   logging_tensor({{"loss", loss}, {"w", w}, {"b", b}}, {.steps = 100})};
  MonitoredSession session(server, g, options);
  while (!session.should_stop()) session.run(train, {{x, Tensor::of<float>({3}, {-1, 0.5, 2})}});
  session.close();
  const auto values = session.session().run({w, b});
  std::cout << "y = " << values[0].scalar<float>() << " x + " << values[1].scalar<float>() << "\n";
}

int run(const std::string& checkpoint_dir) {
  if (const auto found = task_from_environment()) {
    const TaskConfig& task = *found;
    ServerOptions options;
    options.cluster = task.cluster;
    options.job = task.task.job;
    options.task = task.task.index;
    if (!checkpoint_dir.empty())  // so that this process replaces the task's earlier ones
      options.start_number = take_start_number(posix_storage(), checkpoint_dir, task.task);
    Server server(options);
    if (task.replica < 0) {
      server.join();
      throw_if_failed(server);
      return success;
    }
    try {
      fit(server, task, checkpoint_dir);
    } catch (const Error& error) {  // the others end with it, too
      if (task.is_chief()) server.fail_cluster(error.status());
      throw;
    }
    if (task.is_chief()) server.shutdown_cluster("training is complete");
    return success;
  }
  Server server = Server::local();
  TaskConfig task;
  task.cluster = server.cluster();
  task.task = server.name();
  fit(server, task, checkpoint_dir);
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Fits a line in a monitored session", "monitored");
  std::string checkpoint_dir;
  program.option("--checkpoint-dir,--checkpoint_dir", checkpoint_dir,
                 "Folder to save to and restore from");
  return run_program(program, argc, argv, [&] { return run(checkpoint_dir); });
}
