// What the job's thread tells the coordinator of its job, and what the coordinator begins with.
#pragma once

#include <atomic>
#include <caf/allowed_unsafe_message_type.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/jobs/engine/disk_pause.h"
#include "actors/jobs/engine/job_report.h"
#include "actors/jobs/engine/journal/job_journal.h"
#include "actors/jobs/messages/job_mail.h"
#include "actors/runtime/clock.h"

namespace actorflow {

// Run the stage.
struct CoordinateStage {
  StageNumber number = 0;
  std::uint32_t in_plan = 0;
  std::shared_ptr<const StageSpec> spec;
};

// Tell the tasks that the job has ended. If it ended well, the tasks that are there first get what they
// alone keep. The answer comes when all tasks have heard of the end, or are gone.
struct EndJob {
  Status status;
  std::function<void()> reply;
};

struct CoordinatorOrder {
  JobMailRef mail;
  std::map<StageNumber, JobHistory::Stage> history;  // of earlier runs
  JobTerms terms;
  std::string build;
  std::string job = {};  // its name, for error messages
  std::shared_ptr<const std::atomic<bool>> stopped;
  Clock& clock;
  JobReporter* reporter = nullptr;
  std::uint64_t skip_bad_records = 0;
  unsigned max_attempts = most_attempts;
  // How long an attempt that cannot run is tried again, and how long the owner of a part is waited for.
  // Both waits begin anew, a number of times, when a task that they concern comes or is lost.
  std::chrono::milliseconds patience{60'000};
  // How long the program of an owner that is there is waited for; the wait begins anew when the program
  // comes to a later stage.
  std::chrono::milliseconds program_patience{600'000};
};

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::CoordinateStage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::EndJob)
