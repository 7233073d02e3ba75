// Updating 1,000 rows of an embedding table of 1,000,000 x 64, as a batch of 1,000 ids does, on one
// thread: against the dense update of the table, which a gradient that is not sparse would take, and
// against the dense update of as many rows as a table of their own, which is what the rows would cost if
// they lay side by side in the cache.
#include <functional>

#include "bench/harness.h"
#include "bench/kernels/filled.h"
#include "kernels/update/sparse_update.h"

namespace actorflow::bench {
namespace {

constexpr std::int64_t batch = 1000, width = 64;

VariableState table_of(std::int64_t rows) {
  VariableState table{filled({rows, width}), {}};
  make_slots(Adagrad{}, table, cpu_device());
  return table;
}

SparseGradient rows_of(std::int64_t rows) {
  std::vector<std::int64_t> indices(batch);
  for (std::int64_t i = 0; i < batch; ++i)
    indices[static_cast<std::size_t>(i)] = i * i * 7919 % rows;  // here and there, some twice
  return {{filled({batch, width}), Tensor::of<std::int64_t>({batch}, indices)}};
}

double microseconds_of_dense(VariableState& table, const Tensor& gradient) {
  return 1e6 * seconds_of([&] { apply_gradient(Adagrad{}, table, gradient, cpu_device()); });
}

// Against the dense update of a table of so many rows.
Measurement sparse_against(std::int64_t rows, std::int64_t dense_rows) {
  VariableState sparse = table_of(rows), dense = table_of(dense_rows);
  const SparseGradient gradient = rows_of(rows);
  const Tensor dense_gradient = filled({dense_rows, width});
  return in_turn(
      9,
      [&] {
        return 1e6 *
               seconds_of([&] { apply_sparse_gradient(Adagrad{}, sparse, gradient, cpu_device()); });
      },
      [&] { return microseconds_of_dense(dense, dense_gradient); });
}

std::int64_t table_rows(bool quick) { return quick ? 10'000 : 1'000'000; }

Measurement against_table(bool quick) { return sparse_against(table_rows(quick), table_rows(quick)); }
Measurement against_rows(bool quick) { return sparse_against(table_rows(quick), batch); }

}  // namespace

std::vector<Benchmark> embedding_benchmarks() {
  return {
      {"embeddings/update_1000_of_1M_rows", "us", "the dense update of the table", at_most(0.01),
       against_table},
      {"embeddings/update_1000_rows", "us", "the dense update of 1,000 rows", at_most(8), against_rows},
  };
}

}  // namespace actorflow::bench
