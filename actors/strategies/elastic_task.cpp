#include "actors/strategies/elastic_task.h"

#include <spdlog/spdlog.h>

#include <future>
#include <optional>
#include <utility>
#include <variant>

#include "dataflow/values/error.h"
#include "schema/environment/reserved_port.h"

namespace actorflow {

void check_elastic(const ReplicaOptions& options) {
  if (!is_all_reduce(options.strategy) || options.max_rollbacks > 0)
    throw invalid_argument(
        "the tasks of an elastic job train by all-reduce, and do not go back to a checkpoint for values "
        "that are not finite: leave out other strategies, and max_rollbacks");
  if (std::get<AllReduce>(options.strategy).sharded_optimizer)
    throw invalid_argument(
        "AllReduce::sharded_optimizer gives each task a part of the optimizer's state, and what a lost "
        "task had is gone, but an elastic job goes on with what the others have: leave out "
        "sharded_optimizer, or start a job whose tasks stay (MultiWorkerMirrored, `launch` without "
        "--min "
        "and --max), which goes on from its newest checkpoint");
}

ElasticTask::ElasticTask(ServerOptions server)
    : ElasticTask(ElasticLink::of_process(), std::move(server)) {}

ElasticTask::ElasticTask(std::shared_ptr<ElasticLink> link, ServerOptions server)
    : link_(std::move(link)), options_(std::move(server)) {}

// Processes of an earlier world are older by their number, should one of them still call.
ServerOptions ElasticTask::options_in(const ElasticWorld& world) const {
  ClusterSpec::Jobs jobs;
  for (const auto& address : world.addresses)
    jobs["worker"].emplace(static_cast<int>(jobs["worker"].size()), address);
  ServerOptions options = options_;
  options.cluster = ClusterSpec(std::move(jobs));
  options.job = "worker";
  options.task = world.rank;
  options.start_number = static_cast<std::uint32_t>(world.epoch);
  return options;
}

ReplicaEnd ElasticTask::run(const std::function<ReplicaEnd(Server&)>& train,
                            const std::atomic<bool>& interrupted) {
  std::future<void> farewell;  // of the world before
  while (true) {
    const ReservedPort port;
    const auto world = link_->next_world(state_.step, port.number(), interrupted);
    if (!world) {
      if (!interrupted) spdlog::info("the job is over: {}", link_->why());
      if (interrupted) link_->leave();
      return interrupted ? ReplicaEnd::interrupted : ReplicaEnd::left;
    }
    spdlog::info("world {}: rank {} of {}", world->epoch, world->rank, world->addresses.size());
    rank_ = world->rank;
    auto server = std::make_unique<Server>(options_in(*world));
    const ReplicaEnd end = train_with(*server, train);
    if (end == ReplicaEnd::interrupted || (interrupted && end == ReplicaEnd::left)) link_->leave();
    if (end != ReplicaEnd::world_over) return end;
    // Its last words may be to somebody who is gone: nobody has to wait for that.
    farewell = std::async(std::launch::async, [last = std::move(server)]() mutable { last.reset(); });
  }
}

// stop() knows the server as long as it trains.
ReplicaEnd ElasticTask::train_with(Server& server, const std::function<ReplicaEnd(Server&)>& train) {
  const auto use = [this](Server* present) {
    const std::lock_guard lock(mutex_);
    server_ = present;
  };
  struct Use {
    const decltype(use)& end;
    ~Use() { end(nullptr); }
  } const until_end{use};
  use(&server);
  return train(server);
}

void ElasticTask::stop(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (server_) server_->stop(reason);
}

}  // namespace actorflow
