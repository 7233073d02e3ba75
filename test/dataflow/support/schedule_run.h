// Carries out the schedules of all ranks without any bytes: what each rank has, from whom it has heard,
// and at what time by the cost model of ranks on one host.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataflow/collectives/cost.h"

namespace actorflow::test {

class ScheduleRun {
 public:
  ScheduleRun(const SchedulePlan& plan, double bytes, const CostModel& model)
      : plan_(plan), slice_bytes_(bytes / std::max(1, slices_of(plan))), model_(model) {
    for (int rank = 0; rank < plan.ranks; ++rank) {
      const auto own = contributions(plan, rank);
      ranks_.push_back({make_schedule(plan, rank), 0, {own.begin(), own.end()}, {rank}, 0});
    }
  }

  // Throws if a rank waits for ever, does what it cannot, gets something else than it expects, adds in
  // another order than that of ranks, lacks a result, or is done without having heard of all.
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < plan_.ranks; ++rank)
        while (advance(rank)) moved = true;
    }
    for (int rank = 0; rank < plan_.ranks; ++rank) check_end(rank);
    for (const auto& [way, messages] : on_the_way_)
      expect(messages.empty(), "nobody receives a message");
  }
  double seconds() const { return std::ranges::max_element(ranks_, {}, &Rank::time)->time; }

 private:
  struct Rank {
    RankSchedule steps;
    std::size_t next = 0;
    std::set<Piece> has;
    std::set<int> heard;
    double time = 0;
  };
  struct Sent {
    std::vector<Piece> pieces;
    std::set<int> heard;
    double there = 0;
  };

  static void expect(bool holds, const std::string& otherwise) {
    if (!holds) throw std::runtime_error(otherwise);
  }

  bool advance(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (rank.next == rank.steps.size()) return false;
    const ScheduleStep& step = rank.steps[rank.next];
    switch (step.action) {
      case ScheduleStep::Action::send:
        send(number, rank, step);
        break;
      case ScheduleStep::Action::receive:
        if (!receive(number, rank, step)) return false;
        break;
      case ScheduleStep::Action::add:
        add(rank, step);
        break;
    }
    ++rank.next;
    return true;
  }

  void send(int number, Rank& rank, const ScheduleStep& step) {
    expect(step.peer != number && step.peer >= 0 && step.peer < plan_.ranks,
           "a message to no other rank");
    for (const Piece& piece : step.pieces)
      expect(rank.has.contains(piece), "sends what it does not have");
    const LinkCost& link = model_.host;
    rank.time +=
        link.per_message + link.per_byte * slice_bytes_ * static_cast<double>(step.pieces.size());
    on_the_way_[{number, step.peer}].push_back({step.pieces, rank.heard, rank.time + link.latency});
  }

  bool receive(int number, Rank& rank, const ScheduleStep& step) {
    auto& queue = on_the_way_[{step.peer, number}];
    if (queue.empty()) return false;
    expect(queue.front().pieces == step.pieces, "gets other pieces than it expects");
    rank.has.insert(step.pieces.begin(), step.pieces.end());
    rank.heard.insert(queue.front().heard.begin(), queue.front().heard.end());
    rank.time = std::max(rank.time, queue.front().there);
    queue.pop_front();
    return true;
  }

  void add(Rank& rank, const ScheduleStep& step) {
    const auto& parts = step.pieces;
    expect(parts.front().first == 0, "a sum begins with rank 0");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      expect(rank.has.contains(parts[i]), "adds what it does not have");
      if (i == 0) continue;
      expect(parts[i].slice == parts[0].slice, "adds different slices");
      expect(parts[i].first == parts[i - 1].last + 1 && parts[i].first == parts[i].last,
             "adds in another order than that of ranks");
    }
    rank.time += model_.per_added_byte * slice_bytes_ * static_cast<double>(parts.size() - 1);
    rank.has.insert({parts[0].slice, 0, parts.back().last});
  }

  void check_end(int number) const {
    const Rank& rank = ranks_[static_cast<std::size_t>(number)];
    expect(rank.next == rank.steps.size(), "rank " + std::to_string(number) + " waits for ever");
    for (const Piece& piece : results(plan_, number)) expect(rank.has.contains(piece), "lacks a result");
    expect(static_cast<int>(rank.heard.size()) == plan_.ranks, "is done before all have entered");
  }

  const SchedulePlan plan_;
  const double slice_bytes_;
  const CostModel model_;
  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, std::deque<Sent>> on_the_way_;
};

}  // namespace actorflow::test
