// What a coordinator says of the progress of its stage.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "actors/jobs/engine/coordinator/job_coordinator.h"

namespace actorflow {
namespace {

constexpr double slow_seconds = 2;

}  // namespace

// The bytes that a part reads, and their share, and the key that has most of them; of a shuffle those of
// the heaviest partitions and of the heaviest key of each part are known alone.
std::string JobCoordinator::input_of(const StageState& stage, std::size_t part) const {
  const std::uint64_t all = stage.spec->input_bytes;
  std::uint64_t bytes = stage.spec->part_bytes ? stage.spec->part_bytes(part) : 0;
  std::map<std::string, std::uint64_t> keys;
  if (stage.spec->inputs)
    for (const auto& set : stage.spec->inputs(part)) {
      if (set.of_one_part) continue;
      const StageState& read = stages_.at(set.stage);
      if (const auto heavy = read.heavy_partitions.find(set.index); heavy != read.heavy_partitions.end())
        bytes += heavy->second;
      if (const auto heavy = read.heavy_keys.find(set.index); heavy != read.heavy_keys.end())
        for (const auto& [key, of_key] : heavy->second) keys[key] += of_key;
    }
  if (bytes == 0 || all == 0) return "";
  const double share = static_cast<double>(bytes) / static_cast<double>(all);
  const auto most = std::ranges::max_element(keys, {}, [](const auto& key) { return key.second; });
  return fmt::format(", which reads {:.1f} MB or more, {:.0f} % of the stage's input{}",
                     static_cast<double>(bytes) / 1e6, 100 * share,
                     most != keys.end() && most->second > bytes / 2
                         ? fmt::format(", most of it of the key {}", most->first)
                         : "");
}

void JobCoordinator::report(bool is_last) {
  if (!order_.reporter) return;
  const StageState& stage = stages_.at(current_);
  StageReport report;
  report.stage = stage.in_plan;
  report.name = stage.spec->name;
  report.parts = stage.tracker.parts();
  report.done = stage.tracker.made() + stage.tracker.lost();  // what is lost still counts, or runs again
  report.running = stage.tracker.runs().size();
  report.failed = stage.failed;
  report.backups = stage.backups;
  report.resumed = stage.resumed;
  report.not_whole = not_whole_;
  report.tasks = 0;
  for (const auto& part : stage.parts) report += part.work;
  for (const auto& task : tasks_) {
    report.tasks += task.incarnation != 0;
    if (!task.progress) continue;
    if (task.progress->stage == current_) report += task.progress->work;
    report.bytes_in_memory += task.progress->bytes_in_memory;
  }
  for (const auto& [agent, spent] : spent_) {
    if (spent.stage == current_) report.busy_seconds += spent.busy_seconds;
    report.bytes_spilled += spent.bytes_spilled;
  }
  report.input_bytes = stage.spec->input_bytes;
  report.seconds = now() - stage.began;
  if (const auto oldest = stage.tracker.oldest_run(); oldest && now() - oldest->began > slow_seconds)
    report.slowest = fmt::format("part {} at {} since {:.0f} s{}", oldest->attempt.part,
                                 order_.mail->name_of(oldest->task), now() - oldest->began,
                                 input_of(stage, oldest->attempt.part));
  report.is_last = is_last;
  order_.reporter->report(report);
}

}  // namespace actorflow
