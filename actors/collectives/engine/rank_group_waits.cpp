// Who waits for whom: the leader asks all ranks, and gives whoever has asked it the same answer.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

#include "actors/collectives/engine/rank_group.h"

namespace actorflow {

using namespace rank_messages;
using namespace std::chrono_literals;

namespace {

// A survey may have begun just before, and ticks come every second.
constexpr auto longest_question = 3s;

// Whether it tells of each of so many ranks, and of no other.
bool is_of_ranks(const GroupWaits& waits, int ranks) {
  const auto has = [ranks](std::int32_t rank) { return rank >= 0 && rank < ranks; };
  return std::ssize(waits.ranks) == ranks && std::ssize(waits.last) == ranks &&
         std::ranges::all_of(waits.operations, [&](const GroupWaits::Operation& operation) {
           return std::ranges::all_of(operation.waiting, has) &&
                  std::ranges::all_of(operation.missing, has);
         });
}

}  // namespace

void RankGroup::ask_waits(WaitsReply reply) {
  if (!broken_.ok()) return reply(broken_, {});
  if (!is_open())
    return reply(
        {Code::failed_precondition, fmt::format("not all ranks have opened the group '{}'", name_)}, {});
  questions_.emplace(++last_question_, Question{std::move(reply), now()});
  mail_.to_leader(AskWaits{mail_.rank(), last_question_});
}

void RankGroup::on_ask_waits(const AskWaits& message) {
  if (!mail_.leads()) return;
  if (survey_) return survey_->askers.push_back(message);
  survey_.emplace(SurveyOfRanks{++last_survey_, now(), {}, {message}});
  survey_->accounts.resize(static_cast<std::size_t>(mail_.size()));
  mail_.to_all(Survey{last_survey_});
}

void RankGroup::on_survey(const Survey& message) {
  mail_.to_leader(Account{mail_.rank(), message.survey, account()});
}

RankAccount RankGroup::account() const {
  RankAccount account{.in_flight = {}, .used = {}, .joined_for = {}, .last = last_done()};
  for (const auto& [name, use] : names_.used()) account.used.push_back({name, use});
  for (const NamedOperation& named : names_.all()) {
    if (named.idle() || named.use().of_zeros) continue;
    const NamedOperation::Use& use = named.use();
    account.in_flight.push_back(
        {named.name(), named.used(), use.call.call.to_string(), seconds_since(use.since)});
  }
  if (joined_) account.joined_for = seconds_since(joined_since_);
  return account;
}

void RankGroup::on_account(const Account& message) {
  if (!survey_ || survey_->number != message.survey) return;
  survey_->accounts[static_cast<std::size_t>(message.rank)] = message.account;
  if (std::ranges::all_of(survey_->accounts, [](const auto& account) { return account.has_value(); }))
    end_survey();
}

void RankGroup::end_survey() {
  const SurveyOfRanks survey = *std::exchange(survey_, {});
  std::vector<std::string> ranks;
  for (int rank = 0; rank < mail_.size(); ++rank) ranks.push_back(mail_.name_of(rank));
  const GroupWaits waits = waits_of(std::move(ranks), survey.accounts);
  for (const auto& asker : survey.askers) mail_.to(asker.rank, Waits{asker.question, waits});
}

void RankGroup::on_waits(const Waits& message) {
  if (!is_of_ranks(message.waits, mail_.size()))
    throw invalid_argument(fmt::format("{} has told who waits in a group of other ranks than '{}'",
                                       mail_.name_of(leading_rank), name_));
  if (const auto question = questions_.extract(message.question))
    question.mapped().reply({}, message.waits);
}

void RankGroup::end_late_questions() {
  while (!questions_.empty() && now() - questions_.begin()->second.since >= longest_question) {
    const auto question = questions_.extract(questions_.begin());
    question.mapped().reply({Code::unavailable, mail_.name_of(leading_rank) +
                                                    ", which knows who waits for whom, does not answer"},
                            {});
  }
}

void RankGroup::answer_questions(const Status& why) {
  while (!questions_.empty()) questions_.extract(questions_.begin()).mapped().reply(why, {});
}

}  // namespace actorflow
