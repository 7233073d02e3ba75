// The election in a simulation: what must hold while its tasks are killed and cut off, whoever leads.
#pragma once

#include <map>
#include <set>
#include <string>

#include "actors/simulation/simulation_test.h"
#include "election.h"

namespace election {

// Who has won each term.
struct Terms {
  std::map<std::int64_t, std::set<std::string>> winners;

  bool has_one_leader_each() const {
    for (const auto& [term, names] : winners)
      if (names.size() > 1) return false;
    return true;
  }
  std::size_t count() const { return winners.size(); }
  std::string newest() const { return *winners.rbegin()->second.begin(); }
};

// Five nodes elect, lose a leader that is cut off and then one that dies, while random faults happen.
inline void elect(bool remembers) {
  Terms terms;
  SimCluster sim({{"node", 5}});
  auto run = sim.start([&](SimTask& task) {
    run_node(
        task.server(),
        {.won = [&terms](std::int64_t term, const std::string& who) { terms.winners[term].insert(who); },
         .remembers = remembers});
  });
  sim.always(
      "each term has one leader", [&] { return terms.has_one_leader_each(); }, SimCluster::each_event);
  sim.apply(RandomFaults{.count = 4,
                         .until = 3s,
                         .longest = 500ms,
                         .kinds = {FaultKind::kill, FaultKind::partition, FaultKind::delay,
                                   FaultKind::lossy, FaultKind::power}});
  sim.eventually(
      "there is a leader", [&] { return terms.count() > 0; }, 10s);
  sim.now().isolate(terms.newest(), 3s);
  const auto before = terms.count();
  sim.eventually(
      "another one is elected", [&] { return terms.count() > before; }, 20s);
  sim.at(8s).call([&] {
    const std::string leader = terms.newest();
    sim.now().kill(leader);
    sim.at(sim.elapsed() + 1s).restart(leader);
  });
  sim.run_for(20s);
  run.stop();
}

}  // namespace election
