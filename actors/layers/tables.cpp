// Layers that look up trained vectors.
#include "actors/layers/checks.h"
#include "actors/layers/layers.h"

namespace actorflow {

Layer embedding(std::int64_t rows, std::int64_t width, const Initializer& initial) {
  return embedding(rows, width, EmbeddingLayerOptions{.initial = initial});
}

Layer embedding(std::int64_t rows, std::int64_t width, const EmbeddingLayerOptions& options) {
  expect_positive("embedding", "rows", rows);
  expect_positive("embedding", "width", width);
  return {
      "embedding", [=](LayerScope& scope, Output ids) {
        expect_ids(ids);
        if (options.mask_zero) expect_rank(ids, 2, "[batch, length]");
        const Output y = embedding_lookup(scope.weight("table", {rows, width}, options.initial), ids);
        if (options.mask_zero) scope.set_mask(y, ids != 0);
        return y;
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
