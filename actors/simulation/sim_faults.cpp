// What becomes of a simulated cluster when a fault happens.
#include <algorithm>

#include "actors/simulation/seeds.h"
#include "actors/simulation/sim_cluster_impl.h"

namespace actorflow {

using namespace std::chrono_literals;

void SimCluster::Impl::add(const Fault& fault) {
  faults.push_back(fault);
  if (auto* scope = SeedScope::current()) scope->asked(fault);
  if (options.only && std::ranges::find(*options.only, fault) == options.only->end()) return;
  ++planned;
  if (fault.kind == FaultKind::restart) machine(fault.task).expect_restart();
  world.at(World::beginning + fault.at, [this, fault] { happen(fault); });
}

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

template <class Faults, class T>
void SimCluster::Impl::set_during(const Fault& fault, Faults& present, T Faults::*of,
                                  std::type_identity_t<T> value) {
  during(
      fault, [&] { present.*of = value; }, [&present, of] { present.*of = Faults{}.*of; });
}

LinkFaults& SimCluster::Impl::links_of(const Fault& fault) {
  const auto place = [this](const TaskName& name) {
    return name.job.empty() ? SimNetwork::anywhere : machine(name).track();
  };
  return network.link_faults(place(fault.task), place(fault.other));
}

DiskFaults& SimCluster::Impl::disk_of(const Fault& fault) {
  return storage.files().faults(fault.task.job.empty() ? outside : machine(fault.task).track());
}

void SimCluster::Impl::lose_power(const Fault& fault) {
  std::vector<Machine*> lost;
  const bool all = fault.task.job.empty();
  for (const auto& machine : machines) {
    if (!machine->running() || (!all && machine->name() != fault.task)) continue;
    machine->kill();
    machine->expect_restart();
    lost.push_back(machine.get());
  }
  if (all)
    storage.files().lose_power();
  else
    storage.files().lose_power_of(machine(fault.task).track());
  world.after(fault.duration, [lost] {
    for (auto* machine : lost) machine->restart();
  });
}

// The network counts how often two machines are cut off.
void SimCluster::Impl::cut(const Fault& fault) {
  const TrackId a = machine(fault.task).track(), b = machine(fault.other).track();
  if (fault.kind == FaultKind::partition) {
    network.separate(a, b);
    return world.after(fault.duration, [this, a, b] { network.reconnect(a, b); });
  }
  network.cut_off(a, b);
  world.after(fault.duration, [this, a, b] { network.let_through(a, b); });
}

void SimCluster::Impl::happen(const Fault& fault) {
  ++happened[fault.kind];
  log.line(fault.to_string());
  world.trace().instant(world.elapsed(), outside, fault.to_string());
  const auto track = [&] { return machine(fault.task).track(); };
  const auto by = [&](Duration usual) { return fault.by == 0ns ? usual : fault.by; };
  switch (fault.kind) {
    case FaultKind::kill:
      return machine(fault.task).kill();
    case FaultKind::restart:
      return machine(fault.task).restart();
    case FaultKind::pause:
      return during(
          fault, [&] { world.pause(track(), true); }, [this, t = track()] { world.pause(t, false); });
    case FaultKind::partition:
    case FaultKind::partition_oneway:
      return cut(fault);
    case FaultKind::delay:
      return set_during(fault, links_of(fault), &LinkFaults::delay, by(FaultSizes::delay));
    case FaultKind::lossy:
      return set_during(fault, links_of(fault), &LinkFaults::loss, FaultSizes::loss);
    case FaultKind::duplicate:
      return set_during(fault, links_of(fault), &LinkFaults::duplication, FaultSizes::duplication);
    case FaultKind::late:
      return set_during(fault, links_of(fault), &LinkFaults::late, FaultSizes::late);
    case FaultKind::slow:
      return during(
          fault, [&] { world.slow_down(track(), FaultSizes::slow_factor); },
          [this, t = track()] { world.slow_down(t, 1); });
    case FaultKind::clock:
      return during(
          fault, [&] { world.set_clock_ahead(track(), by(FaultSizes::clock)); },
          [this, t = track()] { world.set_clock_ahead(t, 0ns); });
    case FaultKind::disk_full:
      return set_during(fault, disk_of(fault), &DiskFaults::full, true);
    case FaultKind::disk_errors:
      return set_during(fault, disk_of(fault), &DiskFaults::failures, FaultSizes::disk_errors);
    case FaultKind::disk_slow:
      return set_during(fault, disk_of(fault), &DiskFaults::slowness, FaultSizes::disk_slow_factor);
    case FaultKind::disk_torn:
      return set_during(fault, disk_of(fault), &DiskFaults::torn, FaultSizes::torn);
    case FaultKind::power:
      return lose_power(fault);
  }
}

}  // namespace actorflow
