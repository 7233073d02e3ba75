// The shuffle of a map/reduce job among simulated tasks: the production actors of a job, on a modelled
// network, in virtual time. A record stands for a block of records: it is a few bytes of this process,
// but takes the network's time of all of them, and to make or to read it takes a core of its task a time
// by its bytes. Disks are not modelled.
#pragma once

#include "actors/simulation/link_model.h"

namespace actorflow::bench {

struct ShuffleJob {
  int tasks = 10;
  // Each part has a block for each partition.
  int parts = 1000, partitions = 1000;
  double bytes = 1e12;               // of all blocks
  double computed_per_second = 1e9;  // bytes that a core makes, or reads
  int cores = 2;                     // of each task
  LinkModel links{};

  double block_bytes() const { return bytes / parts / partitions; }
  // How long the tasks compute if they share the parts evenly.
  double computing_s() const { return 2 * bytes / tasks / cores / computed_per_second; }
};

struct ShuffleTimes {
  double job_s = 0;  // virtual, until all blocks are read
  // The fractions of the time in which a task handles messages: the first, which coordinates, and the
  // last.
  double coordinator_busy = 0, other_busy = 0;
  // Of what a task would make or read if all shared it evenly: the parts that the first one made, the
  // most that one made, and the most blocks that one read.
  double first_made = 0, most_made = 0, most_read = 0;
  double messages = 0;        // between tasks
  double simulated_in_s = 0;  // real time, the start of the cluster included
  double peak_mib = 0;        // of this process
};

// Throws what the job throws.
ShuffleTimes simulate(const ShuffleJob& job);

}  // namespace actorflow::bench
