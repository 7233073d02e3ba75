// What the ranks of a collective operation have to agree on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/values/dtype.h"

namespace actorflow {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  all_to_all,
  barrier,
};
enum class ReduceOp : std::uint8_t { sum, average, min, max, product };

// What becomes of a reduction's numbers on their way. bfloat16: half the bytes of float32. Each rank's
// are rounded to the nearest bfloat16, what is reduced of them in float32 is rounded once more, and
// every rank has the same bits, with every algorithm.
enum class ReduceCompression : std::uint8_t { none, bfloat16 };

// How the bytes travel (README.md). The results are the same.
enum class Algorithm : std::uint8_t { automatic, direct, doubling, rabenseifner, ring };

std::string_view to_string(CollectiveKind kind);  // "all_reduce"
std::string_view to_string(Algorithm algorithm);
std::string_view to_string(ReduceOp reduction);  // "sum"
std::string_view to_string(ReduceCompression compression);
// Throw invalid_argument that lists the names.
ReduceOp parse_reduction(std::string_view name);
ReduceCompression parse_compression(std::string_view name);

// One rank's view of an operation. Fields that the kind does not have keep their defaults.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::all_reduce;
  DType dtype = DType::invalid;
  // The dimensions. Of gathers and all-to-alls without the first one, which each rank has for itself.
  std::vector<std::int64_t> dims{};
  ReduceOp reduction = ReduceOp::sum;
  double prescale = 1, postscale = 1;  // factors before and after
  int root = 0;                        // of a broadcast
  // Of a reduce-scatter: the rows that each rank gets; empty: as equal as possible. Of several tensors
  // that are reduced as one: the elements of each.
  std::vector<std::int64_t> splits{};
  ReduceCompression compression = ReduceCompression::none;

  // The bytes of an element on its way.
  std::size_t element_bytes() const;
  // "all_reduce float32[2,3] sum".
  std::string to_string() const;
  bool operator==(const CollectiveCall&) const = default;
};

// Throws invalid_argument for a dtype with which the operation cannot calculate, that it cannot move, or
// not compress, for scales and averages of integers, for a root that is no rank, and for splits that are
// not the rows.
void check_call(const CollectiveCall& call, int ranks);

// The first difference between two ranks' calls, naming both values and both ranks; nothing if they are
// equal. "rank 0 has the shape [2,3], rank 2 the shape [3,2]".
std::optional<std::string> disagreement(const CollectiveCall& a, int rank_a, const CollectiveCall& b,
                                        int rank_b);

}  // namespace actorflow
