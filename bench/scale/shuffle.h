// The shuffle of a map/reduce job among simulated tasks: the production actors of a job, on a modelled
// network, in virtual time. A record stands for a block of records: it is a few bytes of this process,
// but takes the network's time of all of them. Functions take no time, and disks are not modelled: what
// is left is the network, and what the tasks say to each other.
#pragma once

#include <cstdint>

#include "actors/simulation/link_model.h"

namespace actorflow::bench {

struct ShuffleJob {
  int tasks = 10;
  int threads = 2;  // of each
  // Each part has a block for each partition.
  int parts = 1000, partitions = 1000;
  double bytes = 1e12;  // of all blocks
  LinkModel links{};
};

struct ShuffleTimes {
  double job_s = 0;             // virtual, until the first task knows that all is done
  double coordinator_busy = 0;  // the fractions of it in which a task handles messages: the first,
  double other_busy = 0;        // and the last
  double messages = 0;          // between tasks
  double simulated_in_s = 0;    // real time, the start of the cluster included
  double peak_mib = 0;          // of this process
};

// Throws what the job throws.
ShuffleTimes simulate(const ShuffleJob& job);

}  // namespace actorflow::bench
