// How a task learns that there is nothing left for it to do.
#pragma once

namespace actorflow {

// Ends the program of a task that was still catching up when the coordinator ended the job well. No
// std::exception, so that no handler of the job's keeps it.
struct JobIsOver {};

}  // namespace actorflow
