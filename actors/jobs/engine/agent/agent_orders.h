// What the job's thread tells the agent of its task, and what the agent begins with.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/jobs/messages/job_mail.h"
#include "actors/jobs/slices/job_tools.h"
#include "actors/jobs/slices/kept_records.h"
#include "actors/runtime/clock.h"

namespace actorflow {

// How a stage has ended, for the job's thread.
struct StageEnd {
  Status status;
  bool begins_anew = false;  // the coordinator runs the job from its beginning
  std::vector<PartOutcome> outcomes;
  std::uint64_t skipped_records = 0;
  bool job_is_over = false;  // all of it has ended, well
};

// job's thread -> agent: take part in this stage.
struct BeginStage {
  StageNumber number = 0;
  std::shared_ptr<const StageSpec> spec;
  std::shared_ptr<KeptRecords> kept;  // null if the stage keeps nothing
  std::function<void(StageEnd)> reply;
};
// The stage's records are not kept any more.
struct ForgetStage {
  StageNumber number = 0;
};
// Asks the coordinator for the description of the job. The answer comes with the coordinator's; it is
// empty if the job has ended already.
struct AwaitJob {
  std::string build;
  std::function<void(Status, std::optional<JobTerms>)> reply;
};
// The answer comes when the coordinator has ended the job.
struct AwaitJobEnd {
  std::function<void(Status, bool begins_anew)> reply;
};

// The job has ended: parts that still run are given up. The answer comes when none runs any more.
struct AbandonParts {
  std::function<void(bool)> reply;
};

struct AgentOrder {
  JobMailRef mail;
  std::shared_ptr<KeptStages> kept;
  JobTools tools;
  std::size_t slots = 1;  // parts at a time
  std::size_t memory_bytes = 0;
  Clock& clock;
  // How long the agent waits for a coordinator that is gone.
  std::chrono::milliseconds patience;
  std::uint64_t number;  // tells the agent from those of the task's other jobs
  // How long the agent waits for the coordinating task's program to come to a stage; the wait begins
  // anew when it comes to an earlier one.
  std::chrono::milliseconds program_patience{600'000};
};

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::BeginStage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::ForgetStage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AwaitJob)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AwaitJobEnd)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AbandonParts)
