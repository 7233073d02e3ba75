#include "actors/collectives/engine/link_probe.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace actorflow {
namespace {

constexpr std::uint32_t burst_messages = 8;

double median(std::vector<double> times) {
  if (times.empty()) return 0;
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

}  // namespace

// Each kind several times: one of them may have met another process on the core.
LinkProbe::Round LinkProbe::round() const {
  using enum Round;
  static constexpr std::array<Round, rounds> all{small, small, small, small, small, burst,
                                                 burst, burst, large, large, large};
  return all[round_];
}

void LinkProbe::begin(Clock::time_point now, const Send& send) {
  const std::uint32_t first = next_;
  next_ += round() == Round::burst ? burst_messages : 1;
  for (std::uint32_t number = first; number < next_; ++number) awaited_.insert(number);
  begun_ = now;
  for (std::uint32_t number = first; number < next_; ++number)
    send(number, round() == Round::large ? large_ : Tensor());
}

bool LinkProbe::answered(std::uint32_t number, Clock::time_point now, const Send& send) {
  if (awaited_.erase(number) == 0 || !awaited_.empty()) return false;
  seconds_[static_cast<std::size_t>(round())].push_back(
      std::chrono::duration<double>(now - begun_).count());
  if (++round_ == rounds) return true;
  begin(now, send);
  return false;
}

LinkTimes LinkProbe::times() const {
  return {.round_trip = median(seconds_[0]),
          .burst = median(seconds_[1]),
          .burst_messages = burst_messages,
          .large = median(seconds_[2]),
          .large_bytes = static_cast<std::int64_t>(large_.size_bytes())};
}

}  // namespace actorflow
