// How the ranks of a group reach each other, on whichever task they are.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/collectives/engine/rank_messages.h"
#include "actors/collectives/engine/unheard_news.h"
#include "actors/core/task_context.h"
#include "actors/named/message_type.h"

namespace actorflow {

// The name of the actor that takes part in groups for its task.
inline constexpr const char* collectives_name = "actorflow.collectives";

// Belongs to an actor.
class RankMail {
 public:
  // `hosts`: of the ranks, as the program says; none: by the addresses of their tasks. Throws
  // invalid_argument if our task is no member, or a member is there twice. REQUIRES: `news` outlives
  // this.
  RankMail(TaskRef task, std::vector<TaskId> members, UnheardNews& news,
           std::vector<std::string> hosts = {});

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(members_.size()); }
  bool leads() const { return rank_ == leading_rank; }
  const TaskRef& task() const { return task_; }
  // The rank of a task; -1: it is no member.
  int rank_of(TaskId member) const;
  TaskId member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  // Whether all are on this machine, and may share memory.
  bool shares_memory() const;
  // The host of each rank. By addresses, tasks of one process are on one host.
  std::vector<std::string> hosts() const;
  const std::vector<std::string>& hosts_by_program() const { return hosts_by_program_; }
  // "rank 2 (/job:worker/task:2)".
  std::string name_of(int rank) const;
  std::vector<std::string> member_names() const;
  // Throws invalid_argument, naming both ranks, if a message of the rank `sender` speaks in the name of
  // another rank.
  template <class M>
  void expect_from(int sender, const M& message) const {
    if (const int claimed = rank_messages::claimed_rank(message, sender); claimed != sender)
      refuse_claim(sender, claimed);
  }

  // 0: the group is not open.
  std::uint64_t life() const { return life_; }
  // From now on messages are for these incarnations of the ranks' tasks, which the leader has heard of:
  // a connection with one of them that has broken is made again.
  void begin_life(std::uint64_t life, std::vector<std::uint64_t> incarnations);
  // The rank's task, as it was when the life began.
  Sender rank_in_life(int rank) const {
    return {member(rank), incarnations_[static_cast<std::size_t>(rank)]};
  }

  template <class M>
  void to(int rank, const M& message, Tensor payload = {}) const {
    post(rank, message_type<M>(), to_payload(message), std::move(payload));
  }
  template <class M>
  void to_leader(const M& message) const {
    to(leading_rank, message);
  }
  template <class M>
  void to_all(const M& message) const {
    for (int rank = 0; rank < size(); ++rank) to(rank, message);
  }
  template <class M>
  void to_others(const M& message) const {
    for (int rank = 0; rank < size(); ++rank)
      if (rank != rank_) to(rank, message);
  }
  // Tells another rank that the group is over.
  void tell_end(int rank, const Status& why) const {
    to(rank, rank_messages::Broken{why, news_.number_for(rank_in_life(rank))});
  }

 private:
  [[noreturn]] void refuse_claim(int sender, int claimed) const;
  void post(int rank, const std::string& type, Tensor content, Tensor payload) const;

  TaskRef task_;
  std::vector<TaskId> members_;
  UnheardNews& news_;
  std::vector<std::string> hosts_by_program_;
  int rank_;
  std::uint64_t life_ = 0;
  std::vector<std::uint64_t> incarnations_;
};

// Calls handler(M) if the message is an M; returns whether it is.
template <class M, class Handler>
bool take_if(const ActorMessage& message, Handler&& handler) {
  if (message.type != message_type<M>()) return false;
  handler(from_payload<M>(message.content));
  return true;
}

}  // namespace actorflow
