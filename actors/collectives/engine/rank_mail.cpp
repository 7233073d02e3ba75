#include "actors/collectives/engine/rank_mail.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/core/tell_incarnation.h"

namespace actorflow {

RankMail::RankMail(TaskRef task, std::vector<TaskId> members, UnheardNews& news,
                   std::vector<std::string> hosts)
    : task_(std::move(task)),
      members_(std::move(members)),
      news_(news),
      hosts_by_program_(std::move(hosts)),
      rank_(rank_of(task_->own)) {
  if (rank_ < 0)
    throw invalid_argument(fmt::format("{} is not among the ranks of the group: {}",
                                       task_->self.name.to_string(), fmt::join(member_names(), " ")));
  for (const auto member : members_)
    if (std::ranges::count(members_, member) > 1)
      throw invalid_argument(
          fmt::format("{} is there twice in a group", task_->name_of(member).to_string()));
}

int RankMail::rank_of(TaskId member) const {
  const auto found = std::ranges::find(members_, member);
  return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

// Within a process, tasks have no such memory.
bool RankMail::shares_memory() const {
  return !task_->all_in_this_process() &&
         std::ranges::all_of(members_, [this](TaskId member) { return task_->on_this_machine(member); });
}

std::vector<std::string> RankMail::hosts() const {
  if (!hosts_by_program_.empty()) return hosts_by_program_;
  if (task_->all_in_this_process()) return std::vector<std::string>(members_.size());
  std::vector<std::string> hosts;
  for (const auto member : members_) hosts.push_back(task_->hosts[static_cast<std::size_t>(member)]);
  return hosts;
}

std::string RankMail::name_of(int rank) const {
  return fmt::format("rank {} ({})", rank,
                     task_->name_of(members_[static_cast<std::size_t>(rank)]).to_string());
}

std::vector<std::string> RankMail::member_names() const {
  std::vector<std::string> names;
  for (const auto member : members_) names.push_back(task_->name_of(member).to_string());
  return names;
}

void RankMail::refuse_claim(int sender, int claimed) const {
  const bool is_rank = claimed >= 0 && claimed < size();
  throw invalid_argument(
      fmt::format("{} has sent a message as {}, expected its own rank", name_of(sender),
                  is_rank ? name_of(claimed) : fmt::format("rank {}, which there is not", claimed)));
}

void RankMail::begin_life(std::uint64_t life, std::vector<std::uint64_t> incarnations) {
  life_ = life;
  incarnations_ = std::move(incarnations);
  for (int rank = 0; rank < size(); ++rank) tell_still_there(*task_, rank_in_life(rank));
}

void RankMail::post(int rank, const std::string& type, Tensor content, Tensor payload) const {
  ActorMessage letter{.to = collectives_name,
                      .from = collectives_name,
                      .type = type,
                      .request = life_,
                      .content = std::move(content),
                      .payload = std::move(payload),
                      .status = {}};
  if (life_ == 0) return tell(*task_, member(rank), std::move(letter));
  tell_incarnation(*task_, rank_in_life(rank), std::move(letter));
}

}  // namespace actorflow
