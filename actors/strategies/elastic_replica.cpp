#include "actors/strategies/elastic_replica.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "actors/client/session.h"
#include "actors/runtime/runtime.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/train/replicate.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// A vote is a message to each rank and back. So often a wish is heard, whatever the steps take.
constexpr std::chrono::milliseconds between_votes{200};
constexpr std::int64_t most_steps_between_votes = 10'000;

bool has_session(MonitoredSession& session) {
  try {
    session.session();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

ElasticReplica::ElasticReplica(ElasticTask& task, const ReplicaOptions& options, Server& server,
                               Graph& graph, const std::vector<std::string>& tasks, int replica)
    : task_(task), server_(server), graph_(graph), is_first_(replica == 0) {
  check_elastic(options);
  graph.on(tasks.at(static_cast<std::size_t>(replica)), [&] {
    graph.name_scope("elastic", [&] {
      const auto variables = graph.variables();
      bytes_ = graph.placeholder(DType::uint8, {Shape::unknown}, "bytes");
      assigned_ = assign_state(bytes_, variables);
      read_ = read_state(graph, variables);
      own_vote_ = graph.placeholder(DType::int64, {2}, "own_vote");
      vote_ = all_reduce(own_vote_, {tasks, GroupLife::continues}, "elastic/vote",
                         {.reduction = ReduceOp::max});
    });
  });
}

ElasticReplica::~ElasticReplica() { task_.link().on_over(nullptr); }

bool ElasticReplica::give_state() {
  end_steps();
  if (!is_first_ || task_.state().step < 0) return false;
  Session(server_.target(), graph_)
      .run(std::vector<Output>{}, {{bytes_, task_.state().bytes}}, {assigned_});
  return true;
}

bool ElasticReplica::begin_steps() {
  task_.link().on_over(nullptr);
  return !is_over();
}

void ElasticReplica::end_steps() {
  task_.link().on_over([this] { server_.stop("the world is over: " + task_.link().why()); });
}

bool ElasticReplica::survives(const std::function<void()>& step) {
  try {
    if (is_over()) return false;
    step();
    return true;
  } catch (const Error& error) {
    const bool job_is_over = server_.stopping() && !is_over();
    if (!is_preemption(error.code()) || job_is_over || !server_.replaced().empty()) throw;
    spdlog::info("{}: a step was lost: {}", server_.name().to_string(), error.what());
    return false;
  }
}

// The vote is a step of its own, between two steps of training: its failure leaves no update half done.
bool ElasticReplica::all_leave(Session& session, std::int64_t step, bool interrupted) {
  if (step < next_vote_) return false;
  const bool wish = interrupted || task_.link().change_is_wanted();
  const std::vector<std::int64_t> own{wish, is_first_ ? steps_to_next_vote(step) : 0};
  const Tensor votes = session.run(vote_, {{own_vote_, Tensor::of<std::int64_t>({2}, own)}});
  next_vote_ = step + votes.values<std::int64_t>()[1];
  return votes.values<std::int64_t>()[0] != 0;
}

// The first replica's measure of time, which all follow.
std::int64_t ElasticReplica::steps_to_next_vote(std::int64_t step) {
  const auto now = server_.runtime()->clock().now();
  const std::int64_t made = last_vote_ < 0 ? 0 : step - last_vote_;
  const auto took = std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::milliseconds>(now - voted_at_).count());
  last_vote_ = step;
  voted_at_ = now;
  return std::clamp<std::int64_t>(made * between_votes.count() / took, 1, most_steps_between_votes);
}

void ElasticReplica::keep_state(MonitoredSession& session) {
  if (!has_session(session)) return;
  const Output step = global_step(graph_);
  const auto values = Session(server_.target(), graph_).run({step, read_});
  task_.state() = {.step = values[0].scalar<std::int64_t>(), .bytes = values[1]};
}

}  // namespace actorflow
