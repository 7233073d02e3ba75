#include "bench/scale/all_reduce.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace actorflow::bench {
namespace {

class Ranks {
 public:
  Ranks(const SchedulePlan& plan, double bytes, const HostNetwork& network, double sum_growth)
      : slice_bytes_(bytes / slices_of(plan)),
        sum_growth_(sum_growth),
        costs_(network.measured()),
        ports_(plan.hosts.size()) {
    for (std::size_t host = 0; host < plan.hosts.size(); ++host)
      for (int i = 0; i < plan.hosts[host]; ++i)
        ranks_.push_back({make_schedule(plan, static_cast<int>(ranks_.size())), host});
  }

  double run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) advance(rank);
    while (!under_way_.empty()) {
      const Message message = under_way_.top();
      under_way_.pop();
      move_on(message);
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
    std::size_t host = 0;
    std::size_t next = 0;
    double busy_until = 0;  // its processor
    std::unordered_map<std::size_t, int> unread{};  // messages that have come, by sender
  };
  struct Port {
    double sending_until = 0, receiving_until = 0;
  };
  struct Message {
    double time = 0;
    std::size_t from = 0, to = 0;
    double bytes = 0;
    enum class At { sending_port, receiving_port, receiver } at = At::receiver;

    bool operator<(const Message& other) const { return time > other.time; }  // the first on top
  };

  Port& port_of(std::size_t rank) { return ports_[ranks_[rank].host]; }
  const LinkCost& cost_between(std::size_t a, std::size_t b) const {
    return ranks_[a].host == ranks_[b].host ? costs_.host : costs_.network;
  }
  double bytes_of(const ScheduleStep& step) const {
    double bytes = 0;
    for (const Piece& piece : step.pieces)
      bytes += slice_bytes_ * (is_unfinished(piece, static_cast<int>(ranks_.size())) ? sum_growth_ : 1);
    return bytes;
  }

  // A message leaves its port while it arrives at the other, a latency later.
  void move_on(Message message) {
    const LinkCost& cost = costs_.network;
    const double port_time = message.bytes * cost.per_byte_of_port;
    switch (message.at) {
      case Message::At::sending_port: {
        double& sending_until = port_of(message.from).sending_until;
        message.time = std::max(message.time, sending_until);
        sending_until = message.time + port_time;
        message.time += cost.latency;
        message.at = Message::At::receiving_port;
        return under_way_.push(message);
      }
      case Message::At::receiving_port: {
        double& receiving_until = port_of(message.to).receiving_until;
        message.time = receiving_until = std::max(message.time, receiving_until) + port_time;
        message.at = Message::At::receiver;
        return under_way_.push(message);
      }
      case Message::At::receiver:
        arrive(message);
    }
  }

  void arrive(const Message& message) {
    Rank& rank = ranks_[message.to];
    handle(rank, message.time, cost_between(message.from, message.to), message.bytes);
    ++rank.unread[message.from];
    advance(message.to);
  }

  // Each end of a message bears a half of what it costs.
  static void handle(Rank& rank, double time, const LinkCost& cost, double bytes) {
    rank.busy_until = std::max(rank.busy_until, time) + (cost.per_message + cost.per_byte * bytes) / 2;
  }

  void advance(std::size_t number) {
    Rank& rank = ranks_[number];
    for (; rank.next < rank.steps.size(); ++rank.next) {
      const ScheduleStep& step = rank.steps[rank.next];
      if (step.action == ScheduleStep::Action::send) {
        send(number, rank, step);
      } else if (step.action == ScheduleStep::Action::add) {
        rank.busy_until += costs_.per_added_byte * sum_growth_ * slice_bytes_ *
                           static_cast<double>(step.pieces.size() - 1);
      } else {
        int& unread = rank.unread[static_cast<std::size_t>(step.peer)];
        if (unread == 0) return;
        --unread;
      }
    }
  }

  void send(std::size_t from, Rank& rank, const ScheduleStep& step) {
    const double bytes = bytes_of(step);
    const auto to = static_cast<std::size_t>(step.peer);
    const LinkCost& cost = cost_between(from, to);
    handle(rank, 0, cost, bytes);
    if (&cost == &costs_.network)
      under_way_.push({rank.busy_until, from, to, bytes, Message::At::sending_port});
    else
      under_way_.push({rank.busy_until + cost.latency, from, to, bytes, Message::At::receiver});
  }

  const double slice_bytes_, sum_growth_;
  const CostModel costs_;
  std::vector<Rank> ranks_;
  std::vector<Port> ports_;  // of the hosts
  std::priority_queue<Message> under_way_;
};

}  // namespace

CostModel HostNetwork::measured() const {
  CostModel model;
  const double latency = 1e-9 * static_cast<double>(links.latency.count()) * (1 + links.jitter / 2);
  const auto of_message = links.message_cost + links.delivery_cost;  // each goes alone
  model.network = {.latency = latency,
                   .per_message = 2e-9 * static_cast<double>(of_message.count()),
                   .per_byte = 2e-9 * links.byte_cost_ns,
                   .per_byte_of_port = 1 / links.bytes_per_second};
  model.per_added_byte = 1 / added_per_second;
  return model;
}

HostRuns host_runs(const HostSizes& hosts) {
  return {.runs = hosts,
          .ranks = std::accumulate(hosts.begin(), hosts.end(), 0),
          .hosts = static_cast<int>(hosts.size()),
          .largest = std::ranges::max(hosts)};
}

double simulate_all_reduce(const AllReducePlan& plan, const HostSizes& hosts, std::int64_t bytes,
                           const HostNetwork& network, double sum_growth) {
  const SchedulePlan schedule{.ranks = host_runs(hosts).ranks,
                              .algorithm = plan.algorithm,
                              .chunks = plan.chunks,
                              .hosts = hosts};
  return Ranks(schedule, static_cast<double>(bytes), network, sum_growth).run();
}

}  // namespace actorflow::bench
