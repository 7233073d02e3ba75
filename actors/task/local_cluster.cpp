#include "actors/runtime/threaded_runtime.h"
#include "actors/task/server_impl.h"

namespace actorflow {

LocalCluster::LocalCluster(const std::vector<Job>& jobs, int num_threads, const Extensions& extensions)
    : LocalCluster(jobs, std::make_shared<ThreadedRuntime>(
                             RuntimeOptions{.num_threads = num_threads, .extensions = extensions})) {}

LocalCluster::LocalCluster(const std::vector<Job>& jobs, const std::shared_ptr<Runtime>& runtime) {
  ClusterSpec::Jobs spec;
  for (const auto& job : jobs)
    for (int i = 0; i < job.tasks; ++i) spec[job.name][i] = job.name + "-" + std::to_string(i) + ":1";
  spec_ = ClusterSpec(std::move(spec));
  for (const auto& task : spec_.all_tasks()) {
    ServerOptions options;
    options.cluster = spec_;
    options.job = task.job;
    options.task = task.index;
    options.runtime = runtime;
    options.heartbeat_timeout_ms = 0;  // they live and die together
    auto impl = std::make_unique<Server::Impl>(std::move(options), Server::Impl::Peers::in_process);
    servers_.push_back(std::unique_ptr<Server>(new Server(std::move(impl))));
  }
}

LocalCluster::~LocalCluster() {
  for (const auto& server : servers_) server->impl_->all_end = true;
}

Server& LocalCluster::server(const std::string& job, int task) {
  spec_.address({job, task});  // throws
  for (const auto& server : servers_)
    if (server->name() == TaskName{job, task}) return *server;
  throw Error(Code::internal, "a task of the cluster has no server");
}

}  // namespace actorflow
