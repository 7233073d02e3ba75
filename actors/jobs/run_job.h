// Running a job by its name: on the tasks of a cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/jobs/context/job_options.h"

namespace actorflow {

class Job;
class Server;

using JobFunction = std::function<void(Job&)>;
// The jobs of a program, by name.
using JobTable = std::map<std::string, JobFunction>;
// Is called with the job before its function; what it returns lives as long as the function runs.
using JobWatch = std::function<std::shared_ptr<void>(Job&)>;

// Runs a job on all tasks of the server's cluster, each of which calls this with the same table. The
// first task of the cluster (ClusterSpec::all_tasks) says which job, with which parameters and sizes;
// the others wait for it, do their share, and return when the job has ended. Each task reads its input
// where it runs parts, so all see the same files, and the output folder, under the same names. Memory,
// threads and the folder for what does not fit are each task's own.
//
// Returns the counters. Throws the error of the job, on each task; unavailable if the first task is not
// there for the time that the server's messages are kept (ServerOptions::connect_timeout_ms). A task
// that is lost does not fail the job: its parts run elsewhere. One that comes later, or again, takes
// part from then on. At the end of a job that ends well the first task waits until those that are there
// have their shares of its datasets (job_share.h), as long as these come on; then until all others know
// that it has ended, 5 s at most. One that comes later than that and had a share throws unavailable. If
// the first task is lost, the others wait for the one in its place, and begin anew.
std::map<std::string, std::int64_t> run_job(Server& server, const JobTable& jobs,
                                            const std::string& name, const JobOptions& options,
                                            const JobWatch& watch = {});

// Throws invalid_argument, naming those that there are.
JobFunction find_job(const JobTable& jobs, const std::string& name);
// Calls the function, and checks that it has asked for all of its parameters.
void run_function(Job& job, const JobFunction& function);

}  // namespace actorflow
