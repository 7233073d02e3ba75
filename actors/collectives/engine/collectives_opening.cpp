// Opening groups: every rank says hello to the leader, who welcomes them when all are there.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/collectives/engine/collectives.h"
#include "actors/core/tell_incarnation.h"

namespace actorflow {

using namespace rank_messages;
using namespace std::chrono_literals;

namespace {

constexpr auto silence = 2s;

template <class M>
ActorMessage as_letter(const M& message, std::uint64_t life = 0) {
  return {.to = collectives_name,
          .from = collectives_name,
          .type = message_type<M>(),
          .request = life,
          .content = to_payload(message),
          .payload = {},
          .status = {}};
}

}  // namespace

void Collectives::say_hello(Member& member) {
  if (member.attempt == 0) {
    member.since = task_->clock->now();
    member.next_report = member.since + silence;
  }
  member.attempt = ++last_attempt_;
  const RankMail& mail = member.group->mail();
  const Hello hello{member.group->name(), member.attempt, mail.member_names(), mail.hosts_by_program()};
  keep_ticking();
  if (!mail.leads()) return mail.to_leader(hello);
  openings_.add(task_->as_sender(), hello);
  try_to_welcome(member);
}

bool Collectives::on_opening(const Sender& from, const ActorMessage& message) {
  return take_if<Hello>(message, [&](const Hello& hello) { on_hello(from, hello); }) ||
         take_if<Goodbye>(message, [&](const Goodbye& goodbye) { openings_.remove(from, goodbye); }) ||
         take_if<Welcome>(message, [&](const Welcome& welcome) { on_welcome(welcome); }) ||
         take_if<NotWelcome>(message, [&](const NotWelcome& no) { on_not_welcome(no); }) ||
         take_if<Heard>(message, [&](const Heard& heard) { news_.heard(from, heard.news); }) ||
         take_if<Probe>(message, [&](const Probe& probe) { on_probe(from, probe, message.payload); }) ||
         take_if<Probed>(message, [&](const Probed& answer) { on_probed(from, answer); });
}

// Before the news is taken: nobody comes between. What the link could not carry has no number.
void Collectives::confirm(const Sender& from, const ActorMessage& message) const {
  if (!message.status.ok()) return;
  const auto answer = [&](const auto& told) {
    if (told.news != 0) tell_incarnation(*task_, from, as_letter(Heard{told.news}));
  };
  take_if<NotWelcome>(message, answer) || take_if<Broken>(message, answer);
}

// A greeting that could not be taken: its rank is told, so that it does not wait for an answer.
void Collectives::refuse_opening(const Sender& from, const ActorMessage& message, const Status& why) {
  take_if<Hello>(message,
                 [&](const Hello& hello) {
                   openings_.remove(from, {hello.group, hello.attempt});
                   tell(*task_, from.task, as_letter(NotWelcome{hello.group, hello.attempt, why}));
                 }) ||
      take_if<Welcome>(message, [&](const Welcome& welcome) {
        on_not_welcome({welcome.group, welcome.attempt, why});
      });
}

// From a member of an open group it says that its program has begun anew.
void Collectives::on_hello(const Sender& from, const Hello& hello) {
  if (!openings_.add(from, hello)) return;
  const auto found = groups_.find(hello.group);
  if (found == groups_.end()) return;
  Member& member = found->second;
  if (member.attempt != 0) return try_to_welcome(member);
  member.group->break_up(
      {Code::aborted, fmt::format("{} has opened the group '{}' anew",
                                  task_->name_of(from.task).to_string(), hello.group)});
}

void Collectives::try_to_welcome(Member& member) {
  if (const auto why = difference(member)) return turn_away(member, {Code::invalid_argument, *why});
  if (member.group->mail().leads() && missing(member).empty() && !measures(member)) welcome(member);
}

// What a guest says otherwise than our program.
std::optional<std::string> Collectives::difference(const Member& member) {
  const RankMail& mail = member.group->mail();
  const auto members = mail.member_names();
  const auto& hosts = mail.hosts_by_program();
  const std::string us = task_->self.name.to_string();
  for (const auto& [task, guest] : openings_.of(member.group->name())) {
    if (!guest.waits) continue;
    const std::string them = task_->name_of(task).to_string();
    if (guest.members != members)
      return fmt::format("the group '{}' has {} ranks on {} ({}), and {} on {} ({})",
                         member.group->name(), members.size(), us, fmt::join(members, " "),
                         guest.members.size(), them, fmt::join(guest.members, " "));
    if (guest.hosts != hosts)
      return fmt::format(
          "the ranks of the group '{}' are on the hosts ({}) by {}, and on ({}) by {}: give all ranks "
          "the same CommunicatorOptions::hosts",
          member.group->name(), fmt::join(hosts, " "), us, fmt::join(guest.hosts, " "), them);
  }
  return {};
}

void Collectives::welcome(Member& member) {
  const RankMail& mail = member.group->mail();
  const std::string name = member.group->name();
  Welcome welcome{name, 0, task_->random->next() | 1,
                  std::vector<std::uint64_t>(static_cast<std::size_t>(mail.size())), costs_of(member)};
  member.welcomed = welcome.life;
  const auto guests = openings_.of(name);
  for (const auto& [task, guest] : guests)
    if (const int rank = mail.rank_of(task); rank >= 0)
      welcome.incarnations[static_cast<std::size_t>(rank)] = guest.incarnation;
  openings_.answered(name);
  for (const auto& [task, guest] : guests) {
    welcome.attempt = guest.attempt;
    if (const int rank = mail.rank_of(task); rank >= 0) mail.to(rank, welcome);
  }
}

// Everybody who waits, ourselves included. A leader that was stopped may find, behind what makes it
// welcome all and before its own welcome, that one is lost: those who are welcome are told, too, that
// the life does not begin. With another list of members a rank may have another leader.
void Collectives::turn_away(Member& member, const Status& why) {
  const std::string name = member.group->name();
  const auto guests = openings_.of(name);
  openings_.answered(name);
  const std::uint64_t life = std::exchange(member.welcomed, 0);
  for (const auto& [task, guest] : guests) {
    if (task == task_->own) continue;
    const auto news = [&, to = Sender{task, guest.incarnation}] { return news_.number_for(to); };
    if (guest.waits)
      tell(*task_, task, as_letter(NotWelcome{name, guest.attempt, why, news()}));
    else if (life != 0)
      tell(*task_, task, as_letter(Broken{why, news()}, life));
  }
  if (!member.group->mail().leads()) member.group->mail().to_leader(Goodbye{name, member.attempt});
  on_not_welcome({name, member.attempt, why});
}

// A rank that was there is not waited for: the leader tells all others, and whoever loses the leader
// knows it by itself. One that was never reached may still start; the ranks of a training, whose graphs
// open their groups, may come back.
void Collectives::lose_while_opening(Member& member, const PeerLost& lost) {
  const RankMail& mail = member.group->mail();
  const int rank = mail.rank_of(lost.task);
  if (rank < 0 || lost.incarnation == 0) return;
  const auto& guests = openings_.of(member.group->name());
  const auto guest = guests.find(lost.task);
  const bool has_said_hello = guest != guests.end() && guest->second.waits &&
                              lost.concerns({lost.task, guest->second.incarnation});
  if (mail.leads() ? !has_said_hello : rank != leading_rank) return;
  std::string why = fmt::format("the group '{}' cannot open: {} is lost: {}", member.group->name(),
                                mail.name_of(rank), lost.reason.message);
  if (const auto names = missing(member); mail.leads() && !names.empty())
    why += fmt::format("; it waited for {}", fmt::join(names, ", "));
  turn_away(member, {Code::unavailable, std::move(why)});
}

// The members that have not said hello.
std::vector<std::string> Collectives::missing(const Member& member) {
  const auto& guests = openings_.of(member.group->name());
  const RankMail& mail = member.group->mail();
  std::vector<bool> there(static_cast<std::size_t>(mail.size()));
  for (const auto& [task, guest] : guests)
    if (const int rank = mail.rank_of(task); rank >= 0 && guest.waits)
      there[static_cast<std::size_t>(rank)] = true;
  std::vector<std::string> names;
  for (int rank = 0; rank < mail.size(); ++rank)
    if (!there[static_cast<std::size_t>(rank)]) names.push_back(mail.name_of(rank));
  return names;
}

void Collectives::on_welcome(const Welcome& message) {
  const auto found = groups_.find(message.group);
  if (found == groups_.end() || found->second.attempt != message.attempt || message.attempt == 0) return;
  Member& member = found->second;
  member.attempt = member.welcomed = 0;
  member.group->open(message.life, message.incarnations, message.costs);
  if (const auto opened = std::exchange(member.opened, {})) opened({}, message.costs);
  std::vector<std::pair<Sender, ActorMessage>> others;
  for (auto& [from, early] : std::exchange(early_, {})) {
    if (early.request == message.life)
      member.group->take(from, early);
    else if (is_opening())
      others.emplace_back(from, std::move(early));
  }
  early_ = std::move(others);
  begin_again_for_late(member);
}

// Whoever said hello again after the welcome had been sent does not take it: a leader that was stopped
// for a while finds both before its own welcome.
void Collectives::begin_again_for_late(Member& member) {
  const RankMail& mail = member.group->mail();
  if (!mail.leads()) return;
  for (const auto& [task, guest] : openings_.of(member.group->name()))
    if (guest.waits && mail.rank_of(task) >= 0)
      member.group->break_up(
          {Code::aborted, fmt::format("{} has opened the group '{}' anew",
                                      task_->name_of(task).to_string(), member.group->name())});
}

void Collectives::on_not_welcome(const NotWelcome& message) {
  const auto found = groups_.find(message.group);
  if (found == groups_.end() || found->second.attempt != message.attempt || message.attempt == 0) return;
  Member& member = found->second;
  member.attempt = 0;
  member.group->break_up(message.why);
  if (const auto opened = std::exchange(member.opened, {})) opened(message.why, {});
}

std::string Collectives::why_not_open(const Member& member) {
  const RankMail& mail = member.group->mail();
  const auto names = missing(member);
  std::string whom = mail.name_of(leading_rank);
  if (mail.leads())
    whom = names.empty() ? "what messages cost" : fmt::format("{}", fmt::join(names, ", "));
  const std::chrono::duration<double> since = task_->clock->now() - member.since;
  return fmt::format("the group '{}' waits for {} since {:.0f} s", member.group->name(), whom,
                     since.count());
}

void Collectives::report_missing(Member& member) {
  const auto now = task_->clock->now();
  if (now < member.next_report) return;
  member.next_report = now + stall_report_interval;
  spdlog::warn("{}: {}", task_->self.name.to_string(), why_not_open(member));
}

}  // namespace actorflow
