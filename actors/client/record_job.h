// Records what all tasks of a running job do, from inside or outside of it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "dataflow/graph/job_trace.h"

namespace actorflow {

struct RecordJobOptions {
  // At most max_record_milliseconds. Recorded is what begins and ends within it: at least two steps.
  std::chrono::milliseconds time{100};
  std::vector<std::string> device_filters = {};  // tasks that are left alone match none; empty: all
  std::string credentials = {};                  // SessionOptions::credentials
  std::chrono::milliseconds connect_timeout{60'000};
};

// Asks every task of the cluster of the server at `target` to record what it does, and puts the records
// on one clock, whose 0 is the begin. Steps go on as they would have. Each task is asked for its clock a
// few times; the fastest answer bounds how far that is from the clock here. Where one difference is
// within the bounds of all tasks, as on one machine, it is taken for all. Throws as Session does:
// unavailable if a task is not there or is being recorded already.
JobTrace record_job(const std::string& target, const RecordJobOptions& options = {});

// Writes to_chrome_trace() to a file. Throws Error if that fails.
void write_chrome_trace(const JobTrace& trace, const std::string& path);

}  // namespace actorflow
