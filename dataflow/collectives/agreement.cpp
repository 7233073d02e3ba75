#include "dataflow/collectives/agreement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <numeric>

#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

constexpr std::array<std::string_view, 6> kind_names{"all_reduce", "reduce_scatter", "all_gather",
                                                     "broadcast",  "all_to_all",     "barrier"};
constexpr std::array<std::string_view, 5> reduction_names{"sum", "average", "min", "max", "product"};

constexpr std::array<std::string_view, 6> algorithm_names{"automatic",    "direct", "doubling",
                                                          "rabenseifner", "ring",   "hierarchical"};

constexpr std::array<std::string_view, 2> compression_names{"none", "bfloat16"};

std::string text(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

bool without_first(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all;
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

std::string list_text(const std::vector<std::int64_t>& numbers) {
  return "[" + joined(numbers, ",", [](std::int64_t n) { return std::to_string(n); }) + "]";
}

std::string shape_text(const CollectiveCall& call) {
  if (!without_first(call.kind)) return list_text(call.dims);
  return call.dims.empty() ? "[?]" : "[?," + list_text(call.dims).substr(1);
}

void check_splits(const CollectiveCall& call, int ranks) {
  if (call.kind != CollectiveKind::reduce_scatter) return;
  if (call.dims.empty()) throw invalid_argument("expected 1 dimension or more to scatter, got a scalar");
  if (call.splits.empty()) return;
  const bool fits =
      std::ssize(call.splits) == ranks && std::ranges::min(call.splits) >= 0 &&
      std::accumulate(call.splits.begin(), call.splits.end(), std::int64_t{0}) == call.dims[0];
  if (!fits)
    throw invalid_argument("expected a split for each of " + std::to_string(ranks) +
                           " ranks, together " + std::to_string(call.dims[0]) + " rows, got " +
                           list_text(call.splits));
}

}  // namespace

std::string_view to_string(CollectiveKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }
std::string_view to_string(ReduceOp reduction) {
  return reduction_names[static_cast<std::size_t>(reduction)];
}

std::string_view to_string(Algorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

ReduceOp parse_reduction(std::string_view name) {
  for (std::size_t i = 0; i < reduction_names.size(); ++i)
    if (reduction_names[i] == name) return static_cast<ReduceOp>(i);
  throw invalid_argument("expected the reduction sum, average, min, max or product, got '" +
                         std::string(name) + "'");
}

std::string_view to_string(ReduceCompression compression) {
  return compression_names[static_cast<std::size_t>(compression)];
}

ReduceCompression parse_compression(std::string_view name) {
  for (std::size_t i = 0; i < compression_names.size(); ++i)
    if (compression_names[i] == name) return static_cast<ReduceCompression>(i);
  throw invalid_argument("expected the compression none or bfloat16, got '" + std::string(name) + "'");
}

std::size_t CollectiveCall::element_bytes() const {
  return compression == ReduceCompression::bfloat16 ? sizeof(std::uint16_t) : size_of(dtype);
}

bool CollectiveCall::rounds_sums() const {
  return compression != ReduceCompression::none || (reduces(kind) && is_short_floating(dtype));
}

std::string CollectiveCall::to_string() const {
  std::string all(actorflow::to_string(kind));
  if (kind == CollectiveKind::barrier) return all;
  all += " " + std::string(actorflow::to_string(dtype)) + shape_text(*this);
  if (reduces(kind)) all += " " + std::string(actorflow::to_string(reduction));
  if (compression != ReduceCompression::none)
    all += " as " + std::string(actorflow::to_string(compression));
  if (kind == CollectiveKind::broadcast) all += " from rank " + std::to_string(root);
  return all;
}

void check_call(const CollectiveCall& call, int ranks) {
  if (call.root < 0 || call.root >= ranks)
    throw invalid_argument("expected a root from 0 to " + std::to_string(ranks - 1) + ", got " +
                           std::to_string(call.root));
  if (call.dtype == DType::string) throw invalid_argument("strings do not travel between ranks");
  check_splits(call, ranks);
  if (call.compression != ReduceCompression::none &&
      (call.dtype != DType::float32 || !reduces(call.kind)))
    throw invalid_argument("what travels as " + std::string(to_string(call.compression)) +
                           " is float32 to reduce, got " + std::string(to_string(call.dtype)));
  const bool scales = call.prescale != 1 || call.postscale != 1;
  if (!reduces(call.kind) && !scales) return;
  const bool calculates =
      is_floating(call.dtype) || call.dtype == DType::int32 || call.dtype == DType::int64;
  if (!calculates)
    throw invalid_argument(
        "expected int32, int64, float16, bfloat16, float32 or float64 to reduce, got " +
        std::string(to_string(call.dtype)));
  if ((call.reduction == ReduceOp::average || scales) && !is_floating(call.dtype))
    throw invalid_argument("an average or a scaled sum is of floating-point numbers, got " +
                           std::string(to_string(call.dtype)) + "; take the sum");
}

std::optional<std::string> disagreement(const CollectiveCall& a, int rank_a, const CollectiveCall& b,
                                        int rank_b) {
  if (a == b) return {};
  const auto both = [&](std::string_view what, const std::string& of_a, const std::string& of_b) {
    return "rank " + std::to_string(rank_a) + " has the " + std::string(what) + " " + of_a + ", rank " +
           std::to_string(rank_b) + " the " + std::string(what) + " " + of_b;
  };
  if (a.kind != b.kind)
    return both("operation", std::string(to_string(a.kind)), std::string(to_string(b.kind)));
  if (a.dtype != b.dtype)
    return both("dtype", std::string(to_string(a.dtype)), std::string(to_string(b.dtype)));
  if (a.dims != b.dims) return both("shape", shape_text(a), shape_text(b));
  if (a.reduction != b.reduction)
    return both("reduction", std::string(to_string(a.reduction)), std::string(to_string(b.reduction)));
  if (a.splits != b.splits) return both("splits", list_text(a.splits), list_text(b.splits));
  if (a.root != b.root) return both("root", std::to_string(a.root), std::to_string(b.root));
  if (a.compression != b.compression)
    return both("compression", std::string(to_string(a.compression)),
                std::string(to_string(b.compression)));
  if (a.prescale != b.prescale) return both("prescale", text(a.prescale), text(b.prescale));
  return both("postscale", text(a.postscale), text(b.postscale));
}

}  // namespace actorflow
