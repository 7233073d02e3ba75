#include "actors/ensembles/collect_bytes.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "actors/jobs/job.h"

namespace actorflow {
namespace {

// Of what a part has made.
struct Piece {
  std::int64_t part = 0, number = 0, pieces = 0;
  std::string bytes;
};

// One piece at least.
std::vector<Piece> cut(std::int64_t part, const std::string& bytes, std::size_t piece_bytes) {
  const auto pieces = static_cast<std::int64_t>(
      std::max<std::size_t>(1, (bytes.size() + piece_bytes - 1) / piece_bytes));
  std::vector<Piece> all;
  for (std::int64_t number = 0; number < pieces; ++number)
    all.push_back({part, number, pieces,
                   bytes.substr(static_cast<std::size_t>(number) * piece_bytes, piece_bytes)});
  return all;
}

// One of each part come at once.
std::size_t piece_bytes_of(std::size_t parts) {
  constexpr std::size_t at_once = std::size_t{48} << 20, most = std::size_t{8} << 20;
  return std::clamp<std::size_t>(at_once / std::max<std::size_t>(parts, 1), 1, most);
}

}  // namespace

std::vector<std::string> collect_bytes(Job& job, std::size_t parts,
                                       const std::function<std::string(std::size_t)>& make) {
  std::vector<std::int64_t> numbers(parts);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto kept = job.from(numbers, parts)
                        .flat_map([make, piece_bytes = piece_bytes_of(parts)](std::int64_t part) {
                          return cut(part, make(static_cast<std::size_t>(part)), piece_bytes);
                        })
                        .cache();
  std::vector<std::string> whole(parts);
  std::int64_t pieces = 1;
  for (std::int64_t number = 0; number < pieces; ++number) {
    const auto is_next = [number](const auto& piece) { return piece.number == number; };
    for (const Piece& piece : kept.filter(is_next).collect()) {
      whole[static_cast<std::size_t>(piece.part)] += piece.bytes;
      pieces = std::max(pieces, piece.pieces);
    }
  }
  return whole;
}

}  // namespace actorflow
