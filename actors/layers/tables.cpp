// Layers that look up trained vectors.
#include "actors/layers/checks.h"
#include "actors/layers/layers.h"

namespace actorflow {

Layer embedding(std::int64_t rows, std::int64_t width, const Initializer& initial) {
  expect_positive("embedding", "rows", rows);
  expect_positive("embedding", "width", width);
  return {"embedding", [=](LayerScope& scope, Output ids) {
            expect_ids(ids);
            return embedding_lookup(scope.weight("table", {rows, width}, initial), ids);
          }};
}

Layer tied_embedding(std::int64_t rows, std::int64_t width, const Initializer& initial) {
  expect_positive("tied_embedding", "rows", rows);
  expect_positive("tied_embedding", "width", width);
  return {"tied_embedding", [=](LayerScope& scope, Output x) {
            const Variable table = scope.weight("table", {rows, width}, initial);
            if (!is_floating(x.dtype())) {
              expect_ids(x);
              return embedding_lookup(table, x);
            }
            const Output flat = matmul(reshape(x, {-1, width}), table, false, true);
            return reshape(flat, with_last(x.shape(), rows));
          }};
}

Layer position_embedding(const Initializer& initial) {
  return {"position_embedding", [initial](LayerScope& scope, Output x) {
            expect_rank(x, 3, "[batch, length, width]");
            const Shape all = batch_of(x.shape());
            return x + scope.weight("table", {all[1], all[2]}, initial);
          }};
}

}  // namespace actorflow
