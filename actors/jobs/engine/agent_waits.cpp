// What an agent says while the job's thread waits for parts that are of no use any more.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/jobs/engine/job_agent.h"

namespace actorflow {
namespace {

constexpr std::size_t most_parts_named = 5;

std::string names_of(const std::set<std::uint64_t>& parts) {
  std::vector<std::uint64_t> named(parts.begin(), parts.end());
  named.resize(std::min(named.size(), most_parts_named));
  const std::string more =
      parts.size() > named.size() ? fmt::format(" and {} more", parts.size() - named.size()) : "";
  return fmt::format("part{} {}{}", parts.size() == 1 ? "" : "s", fmt::join(named, ", "), more);
}

}  // namespace

double JobAgent::now() const { return seconds_of(order_.clock); }

// A function of the user's is not interrupted, and may take its time or never return.
void JobAgent::look_after_last_parts() {
  const auto stage = stages_.find(waiting_);
  const bool ends = stage != stages_.end() && stage->second.end;
  if (!ends && !abandoned_) return end_wait_.reset();
  if (!end_wait_->is_to_be_said(now())) return;
  const Status why = ends ? stage->second.end->status : Status();
  spdlog::warn("{}; waited {:.0f} s for {} at {}, whose function has yet to return",
               why.ok() ? ends ? "the stage has ended" : "the job has ended"
                        : fmt::format("the stage ends, because {}", why.message),
               end_wait_->seconds(now()), last_parts(), order_.mail->name_of(order_.mail->own()));
}

// By stage.
std::string JobAgent::last_parts() const {
  std::map<StageNumber, std::set<std::uint64_t>> parts;
  for (const auto& [id, attempt] : attempts_)
    if (abandoned_ || id.stage == waiting_) parts[id.stage].insert(id.part);
  std::vector<std::string> texts;
  for (const auto& [number, of_stage] : parts) {
    const auto stage = stages_.find(number);  // it may be forgotten already
    const StageSpec* const spec = stage == stages_.end() ? nullptr : stage->second.spec.get();
    texts.push_back(names_of(of_stage) + (spec ? fmt::format(" of {} of {}", spec->parts, spec->name)
                                               : fmt::format(" of stage run {}", number)));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace actorflow
