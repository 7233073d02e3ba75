// What becomes of a simulated cluster when a fault happens.
#include <algorithm>

#include "actors/simulation/sim_cluster_impl.h"

namespace actorflow {

using namespace std::chrono_literals;

void SimCluster::Impl::during(const Fault& fault, const std::function<void()>& begin,
                              std::function<void()> end) {
  const auto [a, b] = std::minmax(fault.task, fault.other);
  int& present = lasting[{fault.kind, a, b}];
  ++present;
  begin();
  world.after(fault.duration, [&present, end = std::move(end)] {
    if (--present == 0) end();
  });
}

void SimCluster::Impl::change_links(const Fault& fault, double LinkModel::*probability, double value) {
  const auto set = [this, probability](double to) {
    LinkModel model = network.model();
    model.*probability = to;
    network.set_model(model);
  };
  during(
      fault, [&] { set(value); }, [this, set, probability] { set(options.links.*probability); });
}

void SimCluster::Impl::lose_power(const Fault& fault) {
  std::vector<Machine*> lost;
  for (const auto& machine : machines) {
    if (!machine->running()) continue;
    machine->kill();
    machine->expect_restart();
    lost.push_back(machine.get());
  }
  storage.files().lose_power();
  world.after(fault.duration, [lost] {
    for (auto* machine : lost) machine->restart();
  });
}

void SimCluster::Impl::happen(const Fault& fault) {
  ++happened[fault.kind];
  log.line(fault.to_string());
  world.trace().instant(world.elapsed(), outside, fault.to_string());
  const auto track = [&](const TaskName& name) { return machine(name).track(); };
  switch (fault.kind) {
    case FaultKind::kill:
      return machine(fault.task).kill();
    case FaultKind::restart:
      return machine(fault.task).restart();
    case FaultKind::pause:
      return during(
          fault, [&] { world.pause(track(fault.task), true); },
          [this, t = track(fault.task)] { world.pause(t, false); });
    case FaultKind::partition:
      return during(
          fault, [&] { network.separate(track(fault.task), track(fault.other)); },
          [this, a = track(fault.task), b = track(fault.other)] { network.reconnect(a, b); });
    case FaultKind::delay:
      return during(
          fault, [&] { network.delay(track(fault.task), FaultSizes::delay); },
          [this, t = track(fault.task)] { network.delay(t, 0ns); });
    case FaultKind::slow:
      return during(
          fault, [&] { world.slow_down(track(fault.task), FaultSizes::slow_factor); },
          [this, t = track(fault.task)] { world.slow_down(t, 1); });
    case FaultKind::lossy:
      return change_links(fault, &LinkModel::loss, FaultSizes::loss);
    case FaultKind::duplicate:
      return change_links(fault, &LinkModel::duplication, FaultSizes::duplication);
    case FaultKind::late:
      return change_links(fault, &LinkModel::late, FaultSizes::late);
    case FaultKind::disk_full:
      return during(
          fault, [&] { storage.files().set_capacity(0); },
          [this] { storage.files().set_capacity(~std::uint64_t{0}); });
    case FaultKind::disk_errors:
      return during(
          fault, [&] { storage.files().set_failures(FaultSizes::disk_errors); },
          [this] { storage.files().set_failures(0); });
    case FaultKind::power:
      return lose_power(fault);
  }
}

}  // namespace actorflow
