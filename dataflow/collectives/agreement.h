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

// How the numbers of a reduction are encoded while they travel. bfloat16 takes half the bytes of
// float32: each rank's numbers are rounded to the nearest bfloat16 and reduced in float32, and the
// result is rounded once more. Every rank gets the same bits, with every algorithm.
enum class ReduceCompression : std::uint8_t { none, bfloat16 };

// The pattern of messages (README.md). It changes no bit of the result.
enum class Algorithm : std::uint8_t { automatic, direct, doubling, rabenseifner, ring, hierarchical };

std::string_view to_string(CollectiveKind kind);  // "all_reduce"
std::string_view to_string(Algorithm algorithm);
std::string_view to_string(ReduceOp reduction);  // "sum"
std::string_view to_string(ReduceCompression compression);
// The value of that name. Throw invalid_argument that lists the names.
ReduceOp parse_reduction(std::string_view name);
ReduceCompression parse_compression(std::string_view name);

// One rank's view of an operation. Fields that the kind does not have keep their defaults.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::all_reduce;
  DType dtype = DType::invalid;
  // The dimensions of a rank's tensor. Gathers and all-to-alls leave out the first one, in which ranks
  // may differ.
  std::vector<std::int64_t> dims{};
  ReduceOp reduction = ReduceOp::sum;
  double prescale = 1, postscale = 1;  // factors before and after
  int root = 0;                        // of a broadcast
  // Reduce-scatter: the number of rows that each rank gets; empty = as equal as possible. Several
  // tensors reduced as one: the number of elements of each.
  std::vector<std::int64_t> splits{};
  ReduceCompression compression = ReduceCompression::none;

  // Whether sums are made in float32, and rounded to 16 bits when they are complete.
  bool rounds_sums() const;
  // The bytes that one element takes while it travels, compressed or not.
  std::size_t element_bytes() const;
  // "all_reduce float32[2,3] sum".
  std::string to_string() const;
  bool operator==(const CollectiveCall&) const = default;
};

// Throws invalid_argument for a dtype that the operation cannot compute with, move or compress; for
// scales and averages of integers; for a root that is no rank; and for splits that do not add up to the
// rows.
void check_call(const CollectiveCall& call, int ranks);

// The first difference between two ranks' calls, naming both values and both ranks; nothing if they are
// equal. "rank 0 has the shape [2,3], rank 2 the shape [3,2]".
std::optional<std::string> disagreement(const CollectiveCall& a, int rank_a, const CollectiveCall& b,
                                        int rank_b);

}  // namespace actorflow
