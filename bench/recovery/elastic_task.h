// A task of the elastic job whose recovery is measured: it trains a small model by all-reduce as long as
// the job is there, and writes to standard output when it has made a step.
#pragma once

namespace actorflow::bench {

// The first line of a process, "# <pid>"; the others are those of recovery_task.h.
constexpr char process_mark = '#';

// Is a task of the launcher that has started this process. Returns the exit status.
int run_elastic_recovery_task();

}  // namespace actorflow::bench
