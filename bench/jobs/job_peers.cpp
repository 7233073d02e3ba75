#include "bench/jobs/job_peers.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "bench/harness.h"
#include "bench/jobs/job_files.h"
#include "bench/program.h"

namespace actorflow::bench {
namespace {

std::string python() {
  const char* chosen = std::getenv("ACTORFLOW_PYTHON");
  return chosen && *chosen ? chosen : "python3";
}

bool has(const std::string& package) {
  return std::system(fmt::format("{} -c 'import {}' >/dev/null 2>&1", python(), package).c_str()) == 0;
}

std::string script(const std::string& name, const std::string& arguments) {
  return fmt::format("{} {}/jobs/{} {}", python(), ACTORFLOW_BENCH_SCRIPTS, name, arguments);
}

}  // namespace

double seconds_of_peer(const std::string& peer, const std::string& job, const std::string& arguments) {
  if (!has(peer))
    throw Skipped(fmt::format("{} has no {} (ACTORFLOW_PYTHON names another)", python(), peer));
  return std::stod(output_of(script(
      "jobs_peers.py", fmt::format("{} {} {} {} 2>/dev/null", peer, job, job_threads, arguments))));
}

void expect_judged(const std::string& package, const std::string& job, const std::string& arguments) {
  if (!has(package)) return;
  run_command(script("job_judges.py", fmt::format("{} {}", job, arguments)));
}

}  // namespace actorflow::bench
