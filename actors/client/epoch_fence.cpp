#include "actors/client/epoch_fence.h"

#include <algorithm>

#include "dataflow/graph/state_ops.h"

namespace actorflow {

EpochFence::EpochFence(Graph& graph, const std::vector<std::string>& devices,
                       const std::string& global_step_device) {
  graph.name_scope("fencing_epoch", [&] {
    wanted_ = graph.placeholder(DType::int64, {}, "wanted");
    for (const auto& device : devices)
      graph.on(device, [&] {
        known_.push_back(graph.add(read_epoch_op(), {}, {}, "known"));
        auto& raised = device == global_step_device ? raised_at_global_step_ : raised_;
        raised.push_back(graph.add(raise_epoch_op(), {wanted_}, {}, "raised"));
      });
    at_global_step_ = graph.on(global_step_device,
                               [&] { return graph.add(read_epoch_op(), {}, {}, "at_global_step"); });
  });
}

std::int64_t EpochFence::highest(Session& session) const {
  std::int64_t highest = session.fencing_epoch();
  for (const auto& epoch : session.run(known_))
    highest = std::max(highest, epoch.scalar<std::int64_t>());
  return highest;
}

void EpochFence::raise_to(std::int64_t epoch, Session& session, const std::vector<Output>& tasks) const {
  if (!tasks.empty()) session.run(std::vector<Output>{}, {{wanted_, Tensor::scalar(epoch)}}, tasks);
}

std::int64_t EpochFence::raise(Session& session) const {
  const std::int64_t next = highest(session) + 1;
  raise_to(next, session, raised_);
  raise_to(next, session, raised_at_global_step_);
  session.set_fencing_epoch(next);
  return next;
}

std::int64_t EpochFence::join(Session& session) const {
  const auto epoch = session.run(at_global_step_).scalar<std::int64_t>();
  session.set_fencing_epoch(epoch);
  return epoch;
}

std::int64_t EpochFence::close(Session& session, std::int64_t above) const {
  const std::int64_t odd = (std::max(highest(session), above) + 1) | 1;
  raise_to(odd, session, raised_at_global_step_);
  raise_to(odd, session, raised_);
  session.set_fencing_epoch(odd);
  return odd;
}

void EpochFence::open(Session& session) const {
  const std::int64_t even = session.fencing_epoch() + 1;
  raise_to(even, session, raised_);
  raise_to(even, session, raised_at_global_step_);
  session.set_fencing_epoch(even);
}

bool EpochFence::join_if_open(Session& session) const {
  const auto epoch = session.run(at_global_step_).scalar<std::int64_t>();
  if (epoch % 2 != 0) return false;
  session.set_fencing_epoch(epoch);
  return true;
}

bool EpochFence::is_current(Session& session) const {
  return session.run(at_global_step_).scalar<std::int64_t>() == session.fencing_epoch();
}

}  // namespace actorflow
