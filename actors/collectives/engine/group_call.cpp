#include "actors/collectives/engine/group_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace actorflow {
namespace {

using Kind = CollectiveKind;

}  // namespace

void describe(GroupCall& call) {
  if (call.call.kind == Kind::barrier) return;
  const auto dims = call.own.tensor.shape().dims();
  call.call.dtype = call.own.tensor.dtype();
  const bool rows_vary = call.call.kind == Kind::all_gather || call.call.kind == Kind::all_to_all;
  call.call.dims.assign(dims.begin() + (rows_vary && !dims.empty() ? 1 : 0), dims.end());
}

void check(const GroupCall& call, int ranks) {
  check_call(call.call, ranks);
  if (call.call.kind != Kind::all_gather && call.call.kind != Kind::all_to_all) return;
  const Tensor& own = call.own.tensor;
  if (own.shape().rank() == 0) throw invalid_argument("expected 1 dimension or more, got a scalar");
  if (call.call.kind == Kind::all_gather) return;
  const auto& splits = call.own.splits;
  const bool fits = std::ssize(splits) == ranks && std::ranges::min(splits) >= 0 &&
                    std::accumulate(splits.begin(), splits.end(), std::int64_t{0}) == own.shape()[0];
  if (!fits)
    throw invalid_argument(
        fmt::format("expected a split for each of {} ranks, together {} rows, got [{}]", ranks,
                    own.shape()[0], fmt::join(splits, ",")));
}

void answer(const GroupCall& call, CollectiveResult result) {
  if (call.reply) call.reply(std::move(result));
}

}  // namespace actorflow
