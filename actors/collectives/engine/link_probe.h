// What the leader of a group measures when it opens: how long messages to another rank take.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "actors/runtime/clock.h"
#include "dataflow/collectives/link_cost.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// Rounds of messages, each of which begins when all messages of the one before are answered. Messages
// are numbered from 0 on. Belongs to an actor.
class LinkProbe {
 public:
  // Sends a message that the other rank answers by its number, once it has read the payload.
  using Send = std::function<void(std::uint32_t number, const Tensor& payload)>;

  // `large` is the payload of large messages.
  explicit LinkProbe(Tensor large) : large_(std::move(large)) {}

  // Sends the first messages.
  void begin(Clock::time_point now, const Send& send);
  // Takes an answer, which may come twice, and sends what follows. True once all is measured.
  bool answered(std::uint32_t number, Clock::time_point now, const Send& send);
  // The medians of what was measured so far.
  LinkTimes times() const;

 private:
  enum class Round : std::uint8_t { small, burst, large };
  static constexpr std::size_t rounds = 11;

  Round round() const;

  const Tensor large_;
  std::size_t round_ = 0;
  std::uint32_t next_ = 0;
  std::set<std::uint32_t> awaited_;
  Clock::time_point begun_{};
  std::array<std::vector<double>, 3> seconds_;  // by kind of round
};

}  // namespace actorflow
