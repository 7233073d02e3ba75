#include "actors/ensembles/collect_bytes.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "actors/jobs/job.h"

namespace actorflow {
namespace {

// A piece of the bytes that a part has made.
struct Piece {
  std::int64_t part = 0, begin = 0, whole_bytes = 0;
  std::string bytes;
};

// The bytes in pieces; at least one piece.
std::vector<Piece> cut(std::int64_t part, const std::string& bytes, std::size_t piece_bytes) {
  std::vector<Piece> all;
  std::size_t begin = 0;
  do {
    all.push_back({part, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(bytes.size()),
                   bytes.substr(begin, piece_bytes)});
    begin += piece_bytes;
  } while (begin < bytes.size());
  return all;
}

// The size of a piece: one piece of each part is collected at once.
std::size_t piece_bytes_of(std::size_t parts) {
  constexpr std::size_t at_once = std::size_t{48} << 20, most = std::size_t{8} << 20;
  return std::clamp<std::size_t>(at_once / std::max<std::size_t>(parts, 1), 1, most);
}

// One partition of a collection, as a collection of one part.
template <class Pipe>
struct OnePartition {
  using Record = typename Pipe::Record;
  static constexpr bool is_cheap = false;

  Pipe all;
  std::size_t number;

  template <class Next>
  void run(Part& part, std::size_t, Next&& next) const {
    all.run(part, number, next);
  }
  SourceFacts facts() const {
    SourceFacts facts = all.facts();
    facts.parts = [] { return std::size_t{1}; };
    facts.inputs = [inputs = facts.inputs, number = number](std::size_t) { return inputs(number); };
    return facts;
  }
  void describe(PlanStage& plan) const { all.describe(plan); }
};

template <class Pipe>
Collection<OnePartition<Pipe>> one_partition(const Collection<Pipe>& all, std::size_t number) {
  return all.with(OnePartition<Pipe>{all.pipe(), number});
}

// The bytes of all parts, put together from the pieces that have come.
class Wholes {
 public:
  explicit Wholes(std::size_t parts) : parts_(parts) {}

  void add(const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      std::string& whole = parts_[static_cast<std::size_t>(piece.part)];
      whole.resize(static_cast<std::size_t>(piece.whole_bytes));
      std::ranges::copy(piece.bytes, whole.begin() + piece.begin);
    }
  }
  std::size_t largest() const {
    std::size_t bytes = 0;
    for (const std::string& whole : parts_) bytes = std::max(bytes, whole.size());
    return bytes;
  }
  std::vector<std::string> take() { return std::move(parts_); }

 private:
  std::vector<std::string> parts_;
};

}  // namespace

std::vector<std::string> collect_bytes(Job& job, std::size_t parts,
                                       const std::function<std::string(std::size_t)>& make) {
  const std::size_t piece_bytes = piece_bytes_of(parts);
  std::vector<std::int64_t> numbers(parts);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto kept = job.from(numbers, parts)
                        .flat_map([make, piece_bytes](std::int64_t part) {
                          return cut(part, make(static_cast<std::size_t>(part)), piece_bytes);
                        })
                        .cache();
  Wholes wholes(parts);
  wholes.add(kept.filter([](const auto& piece) { return piece.begin == 0; }).collect());
  if (wholes.largest() <= piece_bytes) return wholes.take();
  // partition_by() deals pieces out in turn, so that partition `round` has one piece of each part, and
  // each round reads no others.
  const std::size_t rounds = (wholes.largest() - 1) / piece_bytes;
  const auto later = kept.filter([](const auto& piece) { return piece.begin > 0; }).partition_by(rounds);
  for (std::size_t round = 0; round < rounds; ++round) wholes.add(one_partition(later, round).collect());
  return wholes.take();
}

}  // namespace actorflow
