// Other engines as baselines of jobs, and as judges of what jobs have made.
#pragma once

#include <string>

namespace actorflow::bench {

// Seconds that `peer`, a Python package, takes for the job of jobs_peers.py of that name; `arguments`:
// "name=value name=value". Throws Skipped if $ACTORFLOW_PYTHON, or else python3, lacks the package.
double seconds_of_peer(const std::string& peer, const std::string& job, const std::string& arguments);

// Throws runtime_error if job_judges.py finds that what the job has made is wrong. Does nothing where
// Python lacks the package that judges it, since the plain loops have judged, too.
void expect_judged(const std::string& package, const std::string& job, const std::string& arguments);

}  // namespace actorflow::bench
