// What jobs of processes meet: disks that fail or are full, and memory that is scarce.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "test/apps/support/job_cluster.h"
#include "test/support/sanitized.h"

namespace actorflow::test {

// See broken_disk/; the rules are of all processes that are started with this environment.
inline std::vector<std::string> broken_disk(const JobCluster& job, const std::string& rules,
                                            const std::string& file = "rules") {
  write_file(job.file(file), rules);
  return {"LD_PRELOAD=" ACTORFLOW_BROKEN_DISK, "BROKEN_DISK=" + job.file(file)};
}

inline std::string rule(const std::string& call, int error, const std::string& times = "") {
  return call + " " + std::to_string(error) + " " + times + "\n";
}

inline bool says(Process& process, const std::string& text) {
  return process.output().find(text) != std::string::npos;
}

// Whether small allocations can be made to fail: a sanitizer's allocator ends the program.
inline boost::test_tools::assertion_result can_be_scarce(boost::unit_test::test_unit_id) {
  return !sanitized;
}

// Both tasks of the job fail, and say with what error, and for which file.
inline void expect_end_of_bad_disk(JobCluster& job, int error, const std::string& file) {
  for (std::size_t task = 0; task < 2; ++task) {
    BOOST_TEST(job[task].wait() == 1, job[task].output());
    BOOST_TEST(says(job[task], std::strerror(error)), job[task].output());
    BOOST_TEST(says(job[task], job.file(file)), job[task].output());
  }
}

// Of three tasks all but the coordinator have little memory while they write files.
inline void expect_result_with_scarce_memory(JobCluster& job) {
  const std::vector<std::string> environment{"LD_PRELOAD=" ACTORFLOW_SCARCE_MEMORY,
                                             "SCARCE_MEMORY=/part-"};
  job.start(0, {});
  for (std::size_t task = 1; task < 3; ++task) job.start(task, {.environment = environment});
  BOOST_TEST(job.coordinator().wait() == 0, job.coordinator().output());
  job.expect_result();
}

}  // namespace actorflow::test
