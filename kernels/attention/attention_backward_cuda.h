// The gradient of attention on a GPU. For .cu files in a build with CUDA.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/attention/attention_launch.h"
#include "kernels/loops/warp_rows.h"

namespace actorflow::attention {

template <class T, int columns>
struct BackwardTiles {
  Tile<T, columns> query, gradient, key, value;
  Tile<T, tile> weights;
  T logsumexp[tile], deltas[tile];  // of the queries
};

// The inputs of one head's backward pass. `deltas` [batch, queries, heads] are the sums of the output's
// gradient times the output, less the gradient of the logsumexp.
template <class Arithmetic>
struct HeadBackward {
  using T = typename Arithmetic::Value;
  AttentionSize size;
  BlockPlace place;
  HeadRows<const T> query, gradient, key, value;
  const T *logsumexp, *deltas;
  const T scale;

  __device__ HeadBackward(const AttentionBackward<T>& b, const T* of_rows, const BlockPlace& at)
      : size(b.size),
        place(at),
        query(size, b.query, size.queries, at.example, at.head),
        gradient(size, b.gradient, size.queries, at.example, at.head),
        key(size, b.key, size.keys, at.example, at.head),
        value(size, b.value, size.keys, at.example, at.head),
        logsumexp(b.logsumexp),
        deltas(of_rows),
        scale(static_cast<T>(size.scale())) {}

  template <int columns>
  __device__ void load_queries(std::int64_t first, BackwardTiles<T, columns>& tiles) const {
    load_tile<Arithmetic>(query, first, tiles.query);
    load_tile<Arithmetic>(gradient, first, tiles.gradient);
    if (threadIdx.x >= tile) return;
    const std::int64_t mine = first + threadIdx.x;
    const bool there = mine < size.queries;
    tiles.logsumexp[threadIdx.x] = there ? logsumexp[place.row(size, mine)] : T(0);
    tiles.deltas[threadIdx.x] = there ? deltas[place.row(size, mine)] : T(0);
  }
  template <int columns>
  __device__ void load_keys(std::int64_t first, BackwardTiles<T, columns>& tiles) const {
    load_tile<Arithmetic>(key, first, tiles.key);
    load_tile<Arithmetic>(value, first, tiles.value);
  }

  // The weight that a query gives a key that it looks at.
  __device__ T weight(T score, T logsumexp_of_row) const {
    return std::exp(score * scale - logsumexp_of_row);
  }
  // The gradient of a score before its scaling.
  __device__ T score_gradient(T weight, T weight_gradient, T delta) const {
    return weight * (weight_gradient - delta) * scale;
  }
};

template <class Arithmetic, int columns, class T = typename Arithmetic::Value>
__global__ void __launch_bounds__(threads, blocks_at_a_time<T, columns>)
    query_gradient_kernel(AttentionBackward<T> b, const T* deltas) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& tiles = *reinterpret_cast<BackwardTiles<T, columns>*>(memory);
  const HeadBackward<Arithmetic> head(b, deltas, BlockPlace(b.size, b.size.queries));
  const AttentionSize& s = head.size;
  const BlockPlace& place = head.place;
  head.load_queries(place.first, tiles);
  typename Arithmetic::template Sums<columns> sums;
  const std::int64_t last_query = std::min(place.first + tile, s.queries) - 1;
  for (std::int64_t first_key = 0; first_key < s.visible(last_query); first_key += tile) {
    __syncthreads();
    head.load_keys(first_key, tiles);
    __syncthreads();
    T scores[Arithmetic::rows][Arithmetic::columns],
        weight_gradients[Arithmetic::rows][Arithmetic::columns];
    Arithmetic::multiply_rows(tiles.query, tiles.key, scores);
    Arithmetic::multiply_rows(tiles.gradient, tiles.value, weight_gradients);
#pragma unroll
    for (int i = 0; i < Arithmetic::rows; ++i) {
      const int row = Arithmetic::row(i), visible = visible_from(s, place.first + row, first_key);
      const T logsumexp = tiles.logsumexp[row], delta = tiles.deltas[row];
#pragma unroll
      for (int j = 0; j < Arithmetic::columns; ++j) {
        const T weight = Arithmetic::column(j) < visible ? head.weight(scores[i][j], logsumexp) : T(0);
        scores[i][j] = head.score_gradient(weight, weight_gradients[i][j], delta);
      }
    }
    store_weights<Arithmetic>(scores, tiles.weights);
    sums.add_product(tiles.weights, tiles.key);
  }
  store_sums<Arithmetic>(sums, {s, b.query_gradient, s.queries, place.example, place.head}, place.first);
}

// The rows of the products are keys here, and the columns queries.
template <class Arithmetic, int columns, class T = typename Arithmetic::Value>
__global__ void __launch_bounds__(threads, blocks_at_a_time<T, columns>)
    key_value_gradient_kernel(AttentionBackward<T> b, const T* deltas) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& tiles = *reinterpret_cast<BackwardTiles<T, columns>*>(memory);
  const HeadBackward<Arithmetic> head(b, deltas, BlockPlace(b.size, b.size.keys));
  const AttentionSize& s = head.size;
  const BlockPlace& place = head.place;
  head.load_keys(place.first, tiles);
  typename Arithmetic::template Sums<columns> of_key, of_value;
  // With `causal` no query before the first key looks at one of these keys.
  for (std::int64_t first = s.causal ? place.first : 0; first < s.queries; first += tile) {
    __syncthreads();
    head.load_queries(first, tiles);
    __syncthreads();
    T weights[Arithmetic::rows][Arithmetic::columns], gradients[Arithmetic::rows][Arithmetic::columns];
    Arithmetic::multiply_rows(tiles.key, tiles.query, weights);
    Arithmetic::multiply_rows(tiles.value, tiles.gradient, gradients);
#pragma unroll
    for (int j = 0; j < Arithmetic::columns; ++j) {
      const int column = Arithmetic::column(j), visible = visible_from(s, first + column, place.first);
      const T logsumexp = tiles.logsumexp[column], delta = tiles.deltas[column];
#pragma unroll
      for (int i = 0; i < Arithmetic::rows; ++i) {
        weights[i][j] = Arithmetic::row(i) < visible ? head.weight(weights[i][j], logsumexp) : T(0);
        gradients[i][j] = head.score_gradient(weights[i][j], gradients[i][j], delta);
      }
    }
    store_weights<Arithmetic>(weights, tiles.weights);
    of_value.add_product(tiles.weights, tiles.gradient);
    __syncwarp();  // before the weights are overwritten
    store_weights<Arithmetic>(gradients, tiles.weights);
    of_key.add_product(tiles.weights, tiles.query);
  }
  store_sums<Arithmetic>(of_key, {s, b.key_gradient, s.keys, place.example, place.head}, place.first);
  store_sums<Arithmetic>(of_value, {s, b.value_gradient, s.keys, place.example, place.head},
                         place.first);
}

template <class T>
void compute_deltas(Device& device, const AttentionBackward<T>& b, T* deltas) {
  const std::int64_t width = b.size.width;
  launch_rows(device, b.size.batch * b.size.queries * b.size.heads, [=] __device__(std::int64_t row) {
    double sum = 0;
    for (std::int64_t j = row * width + threadIdx.x; j < (row + 1) * width; j += warp)
      sum += static_cast<double>(b.gradient[j] * b.output[j]);
    sum = sum_in_warp(sum);
    if (threadIdx.x == 0)
      deltas[row] = static_cast<T>(sum) - (b.logsumexp_gradient ? b.logsumexp_gradient[row] : T(0));
  });
}

template <class Arithmetic, class T>
void run_on_cuda(OpContext& c, AttentionBackward<T> b) {
  b.size.fours = in_fours(b.size.width, b.gradient, b.query, b.key, b.value);
  const AttentionSize& s = b.size;
  const DeviceScratch<T> deltas(c.device(), s.batch * s.queries * s.heads);
  compute_deltas(c.device(), b, deltas.data());
  with_columns(c, s.width, [&]<int columns>() {
    using Tiles = BackwardTiles<T, columns>;
    const T* const sums = deltas.data();
    launch_tiles<Tiles>(c.device(), s, s.queries, query_gradient_kernel<Arithmetic, columns>, b, sums);
    launch_tiles<Tiles>(c.device(), s, s.keys, key_value_gradient_kernel<Arithmetic, columns>, b, sums);
  });
}

}  // namespace actorflow::attention
