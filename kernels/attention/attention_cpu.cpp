#include "kernels/attention/attention_cpu.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/devices/team.h"
#include "kernels/loops/elementary.h"
#include "kernels/loops/reduce_run.h"
#include "kernels/loops/vectorised.h"
#include "kernels/products/onednn_batch_matmul.h"
#include "kernels/products/plain_batch_matmul.h"

namespace actorflow {

// The products of the heads' matrices.
struct CpuAttention::Products {
  OneDnnBatchMatMul onednn;

  void multiply(const BatchMatMulShape& shape, const float* a, const float* b, float* output,
                Allocator& allocator) const {
    onednn.multiply(shape, {a, b}, output, allocator);
  }
  void multiply(const BatchMatMulShape& shape, const double* a, const double* b, double* output,
                Allocator&) const {
    multiply_plainly(shape, a, b, output);
  }
};

namespace {

// The weights of all heads that are in the cache at a time; more where that would be fewer queries than
// products are fast with.
constexpr std::int64_t weights_at_a_time = 1 << 16, least_queries = 32;

// Some queries of one example.
struct Block {
  std::int64_t example, first, queries;
};

std::int64_t queries_at_a_time(const AttentionSize& size) {
  const std::int64_t in_cache = weights_at_a_time / (size.heads * size.keys);
  return std::min(std::max(in_cache, least_queries), size.queries);
}

template <class Body>
void for_each_block(const AttentionSize& size, std::int64_t example, const Body& body) {
  const std::int64_t most = queries_at_a_time(size);
  for (std::int64_t first = 0; first < size.queries; first += most)
    body(Block{example, first, std::min(most, size.queries - first)});
}

// Calls body(example) for all examples, on several threads if some are free.
template <class Body>
void for_each_example(OpContext& c, const AttentionSize& size, const Body& body) {
  constexpr std::int64_t worth_a_thread = 1 << 18;  // multiplications
  const std::int64_t work = size.heads * size.queries * size.keys * size.width;
  const std::int64_t wanted = size.batch * std::min(work, worth_a_thread) / worth_a_thread;
  share_out(c.team(), Shares(size.batch, wanted, 64), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t example = first; example < last; ++example) body(example);
  });
}

// Where the rows of the heads' matrices begin.
struct HeadStrides {
  std::int64_t head, row;
};

// Of [rows, heads, width], as tensors have them.
HeadStrides by_row(const AttentionSize& s) { return {s.width, s.row_stride()}; }
// Of [heads, rows, width], as products take them.
HeadStrides by_head(const AttentionSize& s, std::int64_t rows) { return {rows * s.width, s.width}; }

// to = factor from, for all heads.
template <class T>
void copy_heads(const AttentionSize& s, std::int64_t rows, T factor, const T* from,
                HeadStrides from_strides, T* to, HeadStrides to_strides) {
  vectorised([=] {
    for (std::int64_t head = 0; head < s.heads; ++head)
      for (std::int64_t row = 0; row < rows; ++row) {
        const T* source = from + head * from_strides.head + row * from_strides.row;
        T* target = to + head * to_strides.head + row * to_strides.row;
#pragma GCC ivdep
        for (std::int64_t j = 0; j < s.width; ++j) target[j] = factor * source[j];
      }
  });
}

// Rows of a tensor, from `from` on, to the heads' matrices.
template <class T>
void gather_heads(const AttentionSize& s, std::int64_t rows, T factor, const T* from, T* to) {
  copy_heads(s, rows, factor, from, by_row(s), to, by_head(s, rows));
}

// The way back.
template <class T>
void scatter_heads(const AttentionSize& s, std::int64_t rows, T factor, const T* from, T* to) {
  copy_heads(s, rows, factor, from, by_head(s, rows), to, by_row(s));
}

// Turns a row of scores into weights, and returns its logsumexp.
template <class T>
T softmax_of_row(std::int64_t visible, std::int64_t keys, T* row) {
  const T maximum = reduce_run<MaxReducer<T>>(row, visible);
#pragma GCC ivdep
  for (std::int64_t j = 0; j < visible; ++j) row[j] = elementary::exp(row[j] - maximum);
  const double sum = reduce_run<SumReducer<T>>(row, visible);
  const T scale = static_cast<T>(1 / sum);
  for (std::int64_t j = 0; j < visible; ++j) row[j] *= scale;
  std::fill(row + visible, row + keys, T(0));
  return maximum + static_cast<T>(std::log(sum));
}

// Calls body(head, row of the block, the row of a matrix [heads, queries of the block, keys]).
template <class T, class Body>
void for_each_row_of_weights(const AttentionSize& s, const Block& block, T* matrix, const Body& body) {
  for (std::int64_t head = 0; head < s.heads; ++head)
    for (std::int64_t row = 0; row < block.queries; ++row, matrix += s.keys) body(head, row, matrix);
}

// What is there once for each row of a head, such as the logsumexp, at [example, query, head].
std::int64_t place_of_row(const AttentionSize& s, const Block& block, std::int64_t head,
                          std::int64_t row) {
  return (block.example * s.queries + block.first + row) * s.heads + head;
}

template <class T>
void scores_to_weights(const AttentionForward<T>& f, const Block& block, T* weights) {
  vectorised([&] {
    for_each_row_of_weights(f.size, block, weights, [&](std::int64_t head, std::int64_t row, T* scores) {
      f.logsumexp[place_of_row(f.size, block, head, row)] =
          softmax_of_row(f.size.visible(block.first + row), f.size.keys, scores);
    });
  });
}

// Turns scores into weights by the logsumexp that the forward pass has left.
template <class T>
void recompute_weights(const AttentionBackward<T>& b, const Block& block, T* weights) {
  vectorised([&] {
    const AttentionSize& s = b.size;
    for_each_row_of_weights(s, block, weights, [&](std::int64_t head, std::int64_t row, T* scores) {
      const std::int64_t visible = s.visible(block.first + row);
      const T logsumexp = b.logsumexp[place_of_row(s, block, head, row)];
#pragma GCC ivdep
      for (std::int64_t j = 0; j < visible; ++j) scores[j] = elementary::exp(scores[j] - logsumexp);
      std::fill(scores + visible, scores + s.keys, T(0));
    });
  });
}

// Turns gradients of weights into those of scores: (g - sum(g w) + l) w, where the sum of a row is that
// of the output's gradient times the output, and l the gradient of its logsumexp.
template <class T>
void differentiate_softmax(const AttentionBackward<T>& b, const Block& block, const T* weights,
                           T* gradients) {
  vectorised([&] {
    const AttentionSize& s = b.size;
    for_each_row_of_weights(s, block, gradients, [&](std::int64_t head, std::int64_t row, T* g) {
      const std::int64_t at = place_of_row(s, block, head, row), first = at * s.width;
      double sum = b.logsumexp_gradient ? -static_cast<double>(b.logsumexp_gradient[at]) : 0;
      for (std::int64_t j = first; j < first + s.width; ++j)
        sum += static_cast<double>(b.gradient[j] * b.output[j]);
      const T delta = static_cast<T>(sum);
      const T* w = weights + (g - gradients);
#pragma GCC ivdep
      for (std::int64_t j = 0; j < s.keys; ++j) g[j] = (g[j] - delta) * w[j];
    });
  });
}

template <class T>
class Scratch {
 public:
  Scratch(OpContext& c, std::int64_t elements)
      : memory_(c.scratch(static_cast<std::size_t>(elements) * sizeof(T))),
        next_(static_cast<T*>(memory_->data())) {}
  T* take(std::int64_t elements) { return std::exchange(next_, next_ + elements); }

 private:
  BufferRef memory_;
  T* next_;
};

template <class T>
void add(std::int64_t count, const T* terms, T* sums) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) sums[i] += terms[i];
  });
}

template <class T, class Products>
void forward(OpContext& c, const Products& products, const AttentionForward<T>& f) {
  const AttentionSize& s = f.size;
  const std::int64_t keys = s.heads * s.keys * s.width, most = queries_at_a_time(s),
                     queries = s.heads * most * s.width, weights = s.heads * most * s.keys;
  for_each_example(c, s, [&](std::int64_t example) {
    Scratch<T> scratch(c, 2 * keys + queries + weights);
    T *const k = scratch.take(keys), *const v = scratch.take(keys), *const q = scratch.take(queries),
             *const w = scratch.take(weights), *const o = q;
    Allocator& allocator = c.device().allocator();
    const std::int64_t of_queries = example * s.queries * s.row_stride(),
                       of_keys = example * s.keys * s.row_stride();
    gather_heads(s, s.keys, T(1), f.key + of_keys, k);
    gather_heads(s, s.keys, T(1), f.value + of_keys, v);
    for_each_block(s, example, [&](const Block& block) {
      const std::int64_t m = block.queries, first = of_queries + block.first * s.row_stride();
      gather_heads(s, m, static_cast<T>(s.scale()), f.query + first, q);
      products.multiply({s.heads, m, s.width, s.keys, false, true, false, false}, q, k, w, allocator);
      scores_to_weights(f, block, w);
      products.multiply({s.heads, m, s.keys, s.width, false, false, false, false}, w, v, o, allocator);
      scatter_heads(s, m, T(1), o, f.output + first);
    });
  });
}

// The matrices of one example's gradient, [heads, rows, width], and those of a block of its queries.
template <class T, class Products>
class ExampleGradient {
 public:
  ExampleGradient(OpContext& c, const Products& products, const AttentionBackward<T>& b,
                  std::int64_t example)
      : c_(c),
        products_(products),
        b_(b),
        example_(example),
        scratch_(c, 5 * keys() + 2 * queries() + 2 * weights()) {}

  void run() {
    const AttentionSize& s = b_.size;
    gather_heads(s, s.keys, T(1), b_.key + of_keys(), k_);
    gather_heads(s, s.keys, T(1), b_.value + of_keys(), v_);
    std::fill_n(dk_, keys(), T(0));
    std::fill_n(dv_, keys(), T(0));
    for_each_block(s, example_, [&](const Block& block) { add_block(block); });
    scatter_heads(s, s.keys, T(1), dk_, b_.key_gradient + of_keys());
    scatter_heads(s, s.keys, T(1), dv_, b_.value_gradient + of_keys());
  }

 private:
  std::int64_t keys() const { return b_.size.heads * b_.size.keys * b_.size.width; }
  std::int64_t queries() const { return b_.size.heads * queries_at_a_time(b_.size) * b_.size.width; }
  std::int64_t weights() const { return b_.size.heads * queries_at_a_time(b_.size) * b_.size.keys; }
  std::int64_t of_keys() const { return example_ * b_.size.keys * b_.size.row_stride(); }
  std::int64_t of_queries() const { return example_ * b_.size.queries * b_.size.row_stride(); }

  void multiply(std::int64_t m, std::int64_t k, std::int64_t n, bool transpose_a, bool transpose_b,
                const T* a, const T* b, T* output) {
    products_.multiply({b_.size.heads, m, k, n, transpose_a, transpose_b, false, false}, a, b, output,
                       c_.device().allocator());
  }

  void add_block(const Block& block) {
    const AttentionSize& s = b_.size;
    const std::int64_t m = block.queries, first = of_queries() + block.first * s.row_stride();
    const T scale = static_cast<T>(s.scale());
    gather_heads(s, m, scale, b_.query + first, q_);
    gather_heads(s, m, T(1), b_.gradient + first, g_);
    multiply(m, s.width, s.keys, false, true, q_, k_, w_);
    recompute_weights(b_, block, w_);
    multiply(s.keys, m, s.width, true, false, w_, g_, term_);
    add(keys(), term_, dv_);
    multiply(m, s.width, s.keys, false, true, g_, v_, dw_);
    differentiate_softmax(b_, block, w_, dw_);
    multiply(s.keys, m, s.width, true, false, dw_, q_, term_);
    add(keys(), term_, dk_);
    multiply(m, s.keys, s.width, false, false, dw_, k_, q_);
    scatter_heads(s, m, scale, q_, b_.query_gradient + first);
  }

  OpContext& c_;
  const Products& products_;
  const AttentionBackward<T>& b_;
  const std::int64_t example_;
  Scratch<T> scratch_;
  // After `scratch_`, of which they are parts.
  T *const k_ = scratch_.take(keys()), *const v_ = scratch_.take(keys()),
           *const dk_ = scratch_.take(keys()), *const dv_ = scratch_.take(keys()),
           *const term_ = scratch_.take(keys()), *const q_ = scratch_.take(queries()),
           *const g_ = scratch_.take(queries()), *const w_ = scratch_.take(weights()),
           *const dw_ = scratch_.take(weights());
};

template <class T, class Products>
void backward(OpContext& c, const Products& products, const AttentionBackward<T>& b) {
  for_each_example(c, b.size, [&](std::int64_t example) {
    ExampleGradient<T, Products>(c, products, b, example).run();
  });
}

}  // namespace

CpuAttention::CpuAttention(Precision) : products_(std::make_unique<Products>()) {}

CpuAttention::~CpuAttention() = default;

void CpuAttention::run(OpContext& c, const AttentionForward<float>& f) const {
  forward(c, *products_, f);
}

void CpuAttention::run(OpContext& c, const AttentionForward<double>& f) const {
  forward(c, *products_, f);
}

void CpuAttention::run(OpContext& c, const AttentionBackward<float>& b) const {
  backward(c, *products_, b);
}

void CpuAttention::run(OpContext& c, const AttentionBackward<double>& b) const {
  backward(c, *products_, b);
}

}  // namespace actorflow
