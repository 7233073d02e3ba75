// The progress of a job, on standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/jobs/engine/job_engine.h"

namespace actorflow {

// An estimate of how long a running stage still takes, until all is read and merged; none if there is no
// basis for one.
std::optional<double> seconds_left(const StageReport& report);

// A line about the stage's progress, for people or as an object of JSON.
std::string progress_line(const StageReport& report, bool as_json);

// Writes a line when a stage has ended, and every two seconds while it runs.
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
