#include "actors/jobs/console_reporter.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "schema/json.h"

namespace actorflow {
namespace {

constexpr double interval_s = 2;
constexpr double mib = 1 << 20;

// By what was read of the input, if that is known; else by parts.
std::string time_left(const StageReport& report) {
  const double done =
      report.input_bytes > 0
          ? static_cast<double>(report.bytes_read) / static_cast<double>(report.input_bytes)
          : static_cast<double>(report.done) / static_cast<double>(report.parts);
  if (done <= 0 || done >= 1) return "";
  return fmt::format(", about {:.0f} s left", report.seconds / done * (1 - done));
}

std::string line(const StageReport& report) {
  std::string text =
      fmt::format("stage {} ({}): {} of {} parts", report.stage, report.name, report.done, report.parts);
  if (!report.is_last) text += fmt::format(", {} running", report.running);
  if (report.tasks > 1) text += fmt::format(" on {} tasks", report.tasks);
  if (report.resumed > 0) text += fmt::format(", {} of an earlier run", report.resumed);
  if (report.not_whole > 0) text += fmt::format(", {} damaged and made again", report.not_whole);
  if (report.failed > 0) text += fmt::format(", {} failed", report.failed);
  if (report.backups > 0) text += fmt::format(", {} run twice", report.backups);
  text += fmt::format("; {} records, {:.0f} MiB in {:.1f} s", report.records_read,
                      static_cast<double>(report.bytes_read) / mib, report.seconds);
  if (report.seconds > 0)
    text += fmt::format(", {:.0f} MiB/s", static_cast<double>(report.bytes_read) / mib / report.seconds);
  if (report.bytes_spilled > 0)
    text +=
        fmt::format(", {:.0f} MiB put aside on disk", static_cast<double>(report.bytes_spilled) / mib);
  if (report.is_last) return text;
  if (!report.slowest.empty()) text += ", slowest: " + report.slowest;
  return text + time_left(report);
}

std::string json(const StageReport& report) {
  const auto number = [](auto value) { return static_cast<std::int64_t>(value); };
  std::string text = json_object({{"stage", number(report.stage)},
                                  {"name", report.name},
                                  {"parts", number(report.parts)},
                                  {"done", number(report.done)},
                                  {"running", number(report.running)},
                                  {"failed", number(report.failed)},
                                  {"backups", number(report.backups)},
                                  {"resumed", number(report.resumed)},
                                  {"not_whole", number(report.not_whole)},
                                  {"tasks", number(report.tasks)},
                                  {"slowest", report.slowest},
                                  {"records_read", number(report.records_read)},
                                  {"bytes_read", number(report.bytes_read)},
                                  {"input_bytes", number(report.input_bytes)},
                                  {"bytes_spilled", number(report.bytes_spilled)},
                                  {"bytes_in_memory", number(report.bytes_in_memory)},
                                  {"seconds", report.seconds},
                                  {"busy_seconds", report.busy_seconds},
                                  {"ended", number(report.is_last)}});
  std::erase(text, '\n');
  return text;
}

}  // namespace

void ConsoleReporter::report(const StageReport& report) {
  if (report.stage != stage_) printed_at_ = 0;
  stage_ = report.stage;
  if (!report.is_last && report.seconds - printed_at_ < interval_s) return;
  printed_at_ = report.seconds;
  fmt::print(stderr, "{}\n", json_ ? json(report) : line(report));
}

}  // namespace actorflow
