// The progress of a job, on standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/jobs/engine/job_engine.h"

namespace actorflow {

// Of a stage that runs, until all is read and merged; none if nobody can say.
std::optional<double> seconds_left(const StageReport& report);

// For people, or an object of JSON.
std::string progress_line(const StageReport& report, bool as_json);

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
