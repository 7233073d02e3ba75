#include "bench/scale/all_reduce.h"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace actorflow::bench {
namespace {

class Ranks {
 public:
  Ranks(const SchedulePlan& plan, double bytes, const LinkModel& links, double added_per_second)
      : slice_bytes_(bytes / slices_of(plan)),
        latency_(1e-9 * static_cast<double>(links.latency.count()) * (1 + links.jitter / 2)),
        message_cost_(1e-9 * static_cast<double>(links.message_cost.count())),
        byte_cost_(1e-9 * links.byte_cost_ns),
        wire_(1 / links.bytes_per_second),
        add_(1 / added_per_second) {
    for (int rank = 0; rank < plan.ranks; ++rank) ranks_.push_back({make_schedule(plan, rank)});
  }

  double run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) advance(rank);
    while (!under_way_.empty()) {
      const Message message = under_way_.top();
      under_way_.pop();
      message.has_port ? arrive(message) : take_port(message);
    }
    double end = 0;
    for (const Rank& rank : ranks_) {
      if (rank.next < rank.steps.size()) throw std::logic_error("a rank waits for ever");
      end = std::max(end, rank.busy_until);
    }
    return end;
  }

 private:
  struct Rank {
    RankSchedule steps;
    std::size_t next = 0;
    double busy_until = 0;  // its processor
    double sending_until = 0, receiving_until = 0;
    std::unordered_map<int, int> unread{};  // messages that have come, by sender
  };
  struct Message {
    double time = 0;
    int from = 0;
    std::size_t to = 0;
    double bytes = 0;
    bool has_port = false;  // the receiver's has taken all of it

    bool operator<(const Message& other) const { return time > other.time; }  // the first on top
  };

  double bytes_of(const ScheduleStep& step) const {
    return slice_bytes_ * static_cast<double>(step.pieces.size());
  }

  void take_port(Message message) {
    double& receiving_until = ranks_[message.to].receiving_until;
    receiving_until = std::max(message.time, receiving_until) + message.bytes * wire_;
    message.time = receiving_until;
    message.has_port = true;
    under_way_.push(message);
  }

  void arrive(const Message& message) {
    Rank& rank = ranks_[message.to];
    handle(rank, message.time, message.bytes);
    ++rank.unread[message.from];
    advance(message.to);
  }

  void handle(Rank& rank, double time, double bytes) const {
    rank.busy_until = std::max(rank.busy_until, time) + message_cost_ + byte_cost_ * bytes;
  }

  void advance(std::size_t number) {
    Rank& rank = ranks_[number];
    for (; rank.next < rank.steps.size(); ++rank.next) {
      const ScheduleStep& step = rank.steps[rank.next];
      if (step.action == ScheduleStep::Action::send) {
        send(number, rank, step);
      } else if (step.action == ScheduleStep::Action::add) {
        rank.busy_until += add_ * slice_bytes_ * static_cast<double>(step.pieces.size() - 1);
      } else {
        int& unread = rank.unread[step.peer];
        if (unread == 0) return;
        --unread;
      }
    }
  }

  // A message leaves its port while it arrives at the other, a latency later.
  void send(std::size_t from, Rank& rank, const ScheduleStep& step) {
    const double bytes = bytes_of(step);
    handle(rank, 0, bytes);
    const double begin = std::max(rank.busy_until, rank.sending_until);
    rank.sending_until = begin + bytes * wire_;
    under_way_.push(
        {begin + latency_, static_cast<int>(from), static_cast<std::size_t>(step.peer), bytes});
  }

  const double slice_bytes_, latency_, message_cost_, byte_cost_, wire_, add_;
  std::vector<Rank> ranks_;
  std::priority_queue<Message> under_way_;
};

}  // namespace

double simulate_all_reduce(const SchedulePlan& plan, std::int64_t bytes, const LinkModel& links,
                           double added_per_second) {
  return Ranks(plan, static_cast<double>(bytes), links, added_per_second).run();
}

}  // namespace actorflow::bench
