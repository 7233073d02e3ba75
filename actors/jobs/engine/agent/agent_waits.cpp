// What an agent says while the job's thread waits: for parts that are of no use any more, or for the
// program of the first task.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/engine/agent/job_agent.h"

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

void JobAgent::note_first_program(StageNumber begun) {
  if (leaving_) return;
  const bool is_nearer = begun > std::exchange(first_at_, begun);
  if (waiting_ <= begun) return first_wait_.reset();
  if (!first_wait_)
    first_wait_.emplace(now());
  else if (is_nearer)
    first_wait_->restart(now());
}

// It is there, or look_after_coordinator() would wait for it. A job whose stages are all over has lost
// nothing while its program goes on at the first task: that wait has no bound.
void JobAgent::look_after_first_program() {
  if (!first_wait_ || lost_wait_ || (waiting_ == 0 && !leaving_)) return;
  const std::string why = why_first_is_waited_for();
  if (!leaving_ && first_wait_->is_over(now(), order_.program_patience))
    give_up({Code::unavailable, why + ": see what it does before this stage, or give it more time with "
                                      "--program_timeout_ms"},
            false);
  else if (first_wait_->is_to_be_said(now()))
    spdlog::warn("{}", why);
}

std::string JobAgent::why_first_is_waited_for() const {
  const double waited = first_wait_->seconds(now());
  const std::string first = order_.mail->name_of(JobMail::coordinator_task);
  // Its program may have done so already, and wait for another task.
  if (leaving_) return fmt::format("waited {:.0f} s: the job has yet to end at {}", waited, first);
  return fmt::format(
      "{}: waited {:.0f} s for {}, which is there: but its program has come to {} of the job, not to "
      "run "
      "{}",
      stages_.at(waiting_).spec->name, waited, first,
      first_at_ == 0 ? "no stage" : fmt::format("stage run {}", first_at_), waiting_);
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
