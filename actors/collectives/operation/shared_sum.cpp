#include "actors/collectives/operation/shared_sum.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point taken("a sum that another rank has made of a slice is taken from its page");

// A look takes a small part of the time of adding these.
constexpr std::size_t bytes_per_look = 256;

class SharedSum {
 public:
  SharedSum(Board& board, const CollectiveCall& call, std::span<const Bytes> parts, SumStage stage,
            std::span<std::byte> out, Team* team)
      : board_(board), call_(call), parts_(parts), stage_(stage), out_(out), team_(team) {
    for (int slice = 0; slice < static_cast<int>(parts.size()); ++slice)
      if (board.slice(slice).size > 0) missing_ |= std::uint64_t{1} << slice;
  }

  void run() {
    if (take_shown()) return;
    if (is_missing(board_.rank())) make(board_.rank());
    // Ranks that are at work began when this one did, and are about to show what they have made.
    for (std::size_t looks = board_.slice(board_.rank()).size / bytes_per_look; looks > 0; --looks)
      if (take_shown()) return;
    while (!take_shown()) make(next());
  }

 private:
  bool is_missing(int slice) const { return (missing_ >> slice & 1) != 0; }

  // Ranks of even and of odd numbers meet from two sides. REQUIRES: a slice is missing.
  int next() const {
    const int ranks = static_cast<int>(parts_.size()), step = board_.rank() % 2 == 0 ? ranks - 1 : 1;
    int slice = board_.rank();
    while (!is_missing(slice)) slice = (slice + step) % ranks;
    return slice;
  }

  void make(int slice) {
    const auto [begin, size] = board_.slice(slice);
    std::array<Bytes, Board::most_ranks> of_slice;
    std::ranges::transform(parts_, of_slice.begin(), [begin = begin, size = size](Bytes part) {
      return part.subspan(begin, size);
    });
    const std::span<std::byte> sum = board_.place_for_sum(slice);
    reduce_in_order(call_, std::span(of_slice).first(parts_.size()), stage_, sum, team_);
    board_.show_sum(slice);
    put(slice, sum);
  }

  // True once all are there.
  bool take_shown() {
    for (int slice = 0; slice < static_cast<int>(parts_.size()); ++slice) {
      const Bytes sum = is_missing(slice) ? board_.sum_of_slice(slice) : Bytes();
      if (sum.empty()) continue;
      put(slice, sum);
      taken.hit();
    }
    return missing_ == 0;
  }

  void put(int slice, Bytes sum) {
    std::memcpy(out_.data() + board_.slice(slice).begin, sum.data(), sum.size());
    missing_ &= ~(std::uint64_t{1} << slice);
  }

  Board& board_;
  const CollectiveCall& call_;
  const std::span<const Bytes> parts_;
  const SumStage stage_;
  const std::span<std::byte> out_;
  Team* const team_;
  std::uint64_t missing_ = 0;  // bit s: slice s
};

}  // namespace

void reduce_together(Board& board, const CollectiveCall& call, std::span<const Bytes> parts,
                     SumStage stage, std::span<std::byte> out, Team* team) {
  SharedSum(board, call, parts, stage, out, team).run();
}

}  // namespace actorflow
