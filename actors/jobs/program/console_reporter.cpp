#include "actors/jobs/program/console_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "schema/json.h"

namespace actorflow {
namespace {

constexpr double interval_s = 2;
constexpr double bytes_per_kib = 1 << 10, bytes_per_mib = 1 << 20;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();  // null in JSON

double quotient(std::uint64_t a, std::uint64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

// By bytes, if it is known how many there are: not of compressed files, and samples pass over most. What
// an earlier run has made is not read.
double share_read(const StageReport& report) {
  if (report.parts == report.resumed) return 1;
  const double to_read =
      static_cast<double>(report.input_bytes) * quotient(report.parts - report.resumed, report.parts);
  const auto read = static_cast<double>(report.bytes_read);
  if (report.stage == 0 || to_read == 0 || read > to_read)
    return quotient(report.done - std::min(report.done, report.resumed), report.parts - report.resumed);
  return read / to_read;
}

// Of what was read and put aside so far, since all that is put aside is read once more.
double share_merged(const StageReport& report) {
  const std::uint64_t read = std::max<std::uint64_t>(1, report.bytes_read),
                      merged = std::min(report.bytes_merged, report.bytes_put_aside);
  return quotient(read + merged, read + report.bytes_put_aside);
}

// So that what a small job has read does not read as nothing.
std::string amount(double bytes) {
  return bytes > 0 && bytes < bytes_per_mib ? fmt::format("{:.0f} KiB", std::ceil(bytes / bytes_per_kib))
                                            : fmt::format("{:.0f} MiB", bytes / bytes_per_mib);
}
std::string amount(std::uint64_t bytes) { return amount(static_cast<double>(bytes)); }

std::string time_left(const StageReport& report) {
  const auto seconds = seconds_left(report);
  return seconds ? fmt::format(", about {:.0f} s left", *seconds) : "";
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
  text += fmt::format("; {} records, {} in {:.1f} s", report.records_read, amount(report.bytes_read),
                      report.seconds);
  if (report.seconds > 0)
    text += fmt::format(", {}/s", amount(static_cast<double>(report.bytes_read) / report.seconds));
  if (report.bytes_shuffled > 0) text += fmt::format(", {} shuffled", amount(report.bytes_shuffled));
  if (report.bytes_spilled > 0)
    text += fmt::format(", {} put aside on disk", amount(report.bytes_spilled));
  if (report.is_last) return text;
  if (report.bytes_put_aside > 0)
    text += fmt::format(", {:.0f} of {:.0f} MiB merged",
                        static_cast<double>(report.bytes_merged) / bytes_per_mib,
                        static_cast<double>(report.bytes_put_aside) / bytes_per_mib);
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
                                  {"bytes_shuffled", number(report.bytes_shuffled)},
                                  {"bytes_put_aside", number(report.bytes_put_aside)},
                                  {"bytes_merged", number(report.bytes_merged)},
                                  {"bytes_spilled", number(report.bytes_spilled)},
                                  {"bytes_in_memory", number(report.bytes_in_memory)},
                                  {"seconds", report.seconds},
                                  {"busy_seconds", report.busy_seconds},
                                  {"seconds_left", seconds_left(report).value_or(unknown)},
                                  {"ended", number(report.is_last)}});
  std::erase(text, '\n');
  return text;
}

}  // namespace

// What is still to be read will be put aside as what was read so far.
std::optional<double> seconds_left(const StageReport& report) {
  const double done = share_read(report) * share_merged(report);
  if (report.is_last || done <= 0 || done >= 1) return std::nullopt;
  return report.seconds / done * (1 - done);
}

std::string progress_line(const StageReport& report, bool as_json) {
  return as_json ? json(report) : line(report);
}

void ConsoleReporter::report(const StageReport& report) {
  if (report.stage != stage_) printed_at_ = 0;
  stage_ = report.stage;
  if (!report.is_last && report.seconds - printed_at_ < interval_s) return;
  printed_at_ = report.seconds;
  fmt::print(stderr, "{}\n", progress_line(report, json_));
}

}  // namespace actorflow
