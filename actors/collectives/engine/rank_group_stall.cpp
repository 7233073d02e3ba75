// Operations that wait for long: every rank says who lacks what, and what those did last.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "actors/collectives/engine/rank_group.h"

namespace actorflow {

using namespace rank_messages;
using namespace std::chrono_literals;

namespace {

// The others are asked, and a second later it is said what they have answered: within 10 s.
constexpr auto patience = 7s;

// What the leader leaves the ranks to answer it.
constexpr auto survey_time = 1s;

}  // namespace

void RankGroup::tick() {
  if (survey_ && now() - survey_->since >= survey_time) end_survey();
  end_late_questions();
  for (NamedOperation& named : names_.all()) {
    if (named.idle()) continue;
    NamedOperation::Use& use = named.use();
    if (use.asked) {
      report(named);
      use.asked.reset();
      use.next_report = now() + stall_report_interval;
    } else if (now() >= std::max(use.since + patience, use.next_report)) {
      use.asked.emplace();
      mail_.to_others(Inquire{named.of(), mail_.rank(), use.call.call.to_string()});
    }
  }
}

std::string RankGroup::last_done() const {
  if (last_name_.empty()) return "it has finished nothing in this group yet";
  return fmt::format("it finished {} '{}' {:.1f} s ago, and nothing since", to_string(last_kind_),
                     last_name_, seconds_since(last_time_));
}

void RankGroup::on_inquire(const Inquire& message) {
  NamedOperation& named = operation(message.of.name);
  const bool entered = named.used() >= message.of.use;
  mail_.to(message.rank, Standing{message.of, mail_.rank(), entered, last_done()});
  if (entered || now() < named.next_warning) return;
  named.next_warning = now() + stall_report_interval;
  spdlog::warn("{}: {} waits for {} '{}', which {} has not called; {}",
               mail_.task()->self.name.to_string(), mail_.name_of(message.rank), message.call,
               message.of.name, who(), last_done());
}

void RankGroup::on_standing(const Standing& message) {
  NamedOperation* const named = names_.find(message.of.name);
  if (!named || !named->in_flight(message.of.use)) return;
  if (auto& asked = named->use().asked) asked->emplace(message.rank, message);
}

void RankGroup::report(const NamedOperation& named) {
  const NamedOperation::Use& use = named.use();
  std::string missing;
  const auto add = [&](int rank, const std::string& what) {
    missing += fmt::format("; {} {}", mail_.name_of(rank), what);
  };
  for (int rank = 0; rank < mail_.size(); ++rank) {
    const auto standing = use.asked->find(rank);
    if (rank == mail_.rank()) continue;
    if (standing == use.asked->end())
      add(rank, "does not answer");
    else if (!standing->second.entered)
      add(rank, "has not called it: " + standing->second.last);
  }
  if (missing.empty()) missing = "; all ranks have called it, and their messages are under way";
  spdlog::warn("{}: {} '{}' has waited for {:.0f} s{}", mail_.task()->self.name.to_string(),
               use.call.call.to_string(), named.name(), seconds_since(use.since), missing);
}

}  // namespace actorflow
