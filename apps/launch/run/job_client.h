// What a user's other commands do with running jobs (job_socket.h).
#pragma once

#include <string>
#include <vector>

namespace actorflow {

// The jobs of this user on this machine, by the numbers of their launchers.
std::vector<std::string> running_jobs();

// Both throw not_found that names the running jobs.

// Ends the job and waits until its launcher has ended.
void stop_job(const std::string& job);
// Prints what the job prints from now on until it ends, and returns its exit status. SIGINT ends only
// this, with the status of an interrupt. Throws unavailable if the launcher is gone without a word.
// Takes SIGINT of the process, which must have one thread.
int follow_job(const std::string& job);

}  // namespace actorflow
