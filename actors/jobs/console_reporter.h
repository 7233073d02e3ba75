// The progress of a job, on standard error.
#pragma once

#include <cstdint>

#include "actors/jobs/engine/job_engine.h"

namespace actorflow {

// A line when a stage has ended, and every two seconds while it runs.
class ConsoleReporter final : public JobReporter {
 public:
  explicit ConsoleReporter(bool json) : json_(json) {}
  void report(const StageReport& report) override;

 private:
  const bool json_;
  std::uint32_t stage_ = ~std::uint32_t{0};
  double printed_at_ = 0;
};

}  // namespace actorflow
