#include "actors/epoch_fence.h"

#include <algorithm>

#include "dataflow/state_ops.h"

namespace actorflow {

EpochFence::EpochFence(Graph& graph, const std::vector<std::string>& devices, const std::string& home) {
  graph.name_scope("fencing_epoch", [&] {
    wanted_ = graph.placeholder(DType::int64, {}, "wanted");
    for (const auto& device : devices)
      graph.on(device, [&] {
        known_.push_back(graph.add(read_epoch_op(), {}, {}, "known"));
        raised_.push_back(graph.add(raise_epoch_op(), {wanted_}, {}, "raised"));
      });
    at_home_ = graph.on(home, [&] { return graph.add(read_epoch_op(), {}, {}, "at_home"); });
  });
}

std::int64_t EpochFence::raise(Session& session) const {
  std::int64_t highest = session.epoch();
  for (const auto& epoch : session.run(known_)) highest = std::max(highest, epoch.scalar<std::int64_t>());
  const std::int64_t next = highest + 1;
  session.run(std::vector<Output>{}, {{wanted_, Tensor::scalar(next)}}, raised_);
  session.set_epoch(next);
  return next;
}

std::int64_t EpochFence::join(Session& session) const {
  const auto epoch = session.run(at_home_).scalar<std::int64_t>();
  session.set_epoch(epoch);
  return epoch;
}

}  // namespace actorflow
