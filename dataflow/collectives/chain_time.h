// How long an all-reduce takes whose sums travel in chunks, by the cost model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataflow/collectives/cost.h"

namespace actorflow {

// Sums pass stops one after the other, and then the results: hosts, whose ranks divide the chunks among
// themselves, or single ranks.
class ChainTime {
 public:
  // The stops are the ranks of a ring.
  static ChainTime of_ring(const HostRuns& hosts, const CostModel& model);
  // They are the hosts.
  static ChainTime of_hosts(const HostRuns& hosts, const CostModel& model);

  // `sum_growth`: how many times the bytes of a contribution an unfinished sum has.
  double seconds(std::int64_t bytes, int chunks, double sum_growth) const;

 private:
  struct Stop {
    int owners;
    const LinkCost* before;  // from the stop before
    const LinkCost* after;   // to the next one; the last one's is the first
  };
  // What a stop's processors and its port need for a chunk of each owner.
  struct Load {
    double processor = 0, port = 0;
    double time() const { return processor > port ? processor : port; }
  };

  ChainTime(const HostRuns& hosts, const CostModel& model, std::vector<Stop> stops);
  bool is_last(std::size_t stop) const { return stop + 1 == stops_.size(); }
  bool passes_results_on(std::size_t stop) const;
  // The bytes of a chunk, complete and as an unfinished sum.
  struct Chunk {
    double complete, unfinished;
  };
  void pass_on(const Stop& stop, double bytes, int chunks, Load& load) const;
  Load sums_at(std::size_t stop, double bytes, int chunks) const;
  Load results_at(std::size_t stop, double bytes, int chunks) const;
  double hop(const Stop& stop, double bytes) const;
  double flow(std::size_t stop, double first, const Chunk& chunk, int chunks) const;
  double exchange(const Stop& stop, double bytes) const;
  double rest(std::size_t stop, double bytes, int chunks) const;

  const HostRuns& hosts_;
  const CostModel& model_;
  const std::vector<Stop> stops_;
  const double passes_;  // of a host; more than one where its ranks do not follow each other
};

}  // namespace actorflow
