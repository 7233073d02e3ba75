#include "apps/training/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "dataflow/error.h"
#include "schema/json.h"

namespace actorflow {

std::string to_json(const TrainReport& report) {
  return json_object({
      {"test_accuracy", report.test_accuracy},
      {"loss", report.loss},
      {"global_step", report.global_step},
      {"examples_per_second", report.examples_per_second},
      {"train_seconds", report.train_seconds},
      {"mode", report.mode},
      {"staleness_mean", report.staleness_mean},
      {"staleness_max", report.staleness_max},
      {"max_lead", report.max_lead},
      {"dropped_gradients", report.dropped_gradients},
      {"weights_hash", fmt::format("{:016x}", report.weights_hash)},
  });
}

void write_report(const std::string& path, const TrainReport& report) {
  if (path == "-") {
    std::cout << to_json(report) << std::flush;
    return;
  }
  std::ofstream file(path, std::ios::trunc);
  file << to_json(report) << std::flush;
  if (!file)
    throw Error(Code::unavailable,
                "the report cannot be written to " + path + ": " + std::strerror(errno));
}

}  // namespace actorflow
