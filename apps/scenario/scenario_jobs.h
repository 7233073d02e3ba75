// The map/reduce jobs that scenarios run: the project's own, and one that counts what it does, each with
// its parameters and, where it reads no texts, a small input that is made.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "actors/jobs/run_job.h"

namespace actorflow {

// Files by name.
using ScenarioFiles = std::map<std::string, std::vector<std::byte>>;

struct ScenarioJob {
  // Its files lie in a folder "input", and it writes into "output".
  std::map<std::string, std::string> parameters;
  // The same bytes each time; null: it reads texts, which the scenario names.
  ScenarioFiles (*input)() = nullptr;
};

// By name.
const JobTable& scenario_job_table();
// Throws UsageError, listing the names that there are, if there is no such job.
const ScenarioJob& find_scenario_job(const std::string& name);

}  // namespace actorflow
