// The end of processes that tasks have left behind.
#pragma once

namespace actorflow {

// Kills all children of this process, and theirs, which become ours where it is their subreaper; until
// there are none, for 2 s at most.
void kill_leftovers();

}  // namespace actorflow
