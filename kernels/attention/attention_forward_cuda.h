// Attention on a GPU. For .cu files in a build with CUDA.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/attention/attention_launch.h"

namespace actorflow::attention {

template <class T, int columns>
struct ForwardTiles {
  Tile<T, columns> query, key, value;
  Tile<T, tile> weights;
};

// The maximum of the scores so far, and the sum of exp(score - maximum), of one query.
template <class Arithmetic>
struct RunningSoftmax {
  using T = typename Arithmetic::Value;
  T maximum = -std::numeric_limits<T>::infinity(), sum = 0;

  // Turns further scores into exponentials. Returns the factor for what was summed up before.
  __device__ T add(T (&scores)[Arithmetic::columns]) {
    T largest = maximum;
#pragma unroll
    for (int j = 0; j < Arithmetic::columns; ++j) largest = std::fmax(largest, scores[j]);
    largest = combine_in_row<Arithmetic>(largest, [](T a, T b) { return std::fmax(a, b); });
    if (largest == -std::numeric_limits<T>::infinity()) largest = 0;  // of a row that is not there
    T mine = 0;
#pragma unroll
    for (int j = 0; j < Arithmetic::columns; ++j) mine += scores[j] = std::exp(scores[j] - largest);
    const T factor = std::exp(maximum - largest);
    sum = sum * factor + combine_in_row<Arithmetic>(mine, [](T a, T b) { return a + b; });
    maximum = largest;
    return factor;
  }
};

template <class Arithmetic, int columns, class T = typename Arithmetic::Value>
__global__ void __launch_bounds__(threads, blocks_at_a_time<T, columns>)
    forward_kernel(AttentionForward<T> f) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& tiles = *reinterpret_cast<ForwardTiles<T, columns>*>(memory);
  const AttentionSize s = f.size;
  const BlockPlace place(s, s.queries);
  const HeadRows<const T> key(s, f.key, s.keys, place.example, place.head),
      value(s, f.value, s.keys, place.example, place.head);
  load_tile<Arithmetic>({s, f.query, s.queries, place.example, place.head}, place.first, tiles.query);
  RunningSoftmax<Arithmetic> softmax[Arithmetic::rows];
  typename Arithmetic::template Sums<columns> output;
  const T scale = static_cast<T>(s.scale());
  const std::int64_t last_query = std::min(place.first + tile, s.queries) - 1;
  for (std::int64_t first_key = 0; first_key < s.visible(last_query); first_key += tile) {
    __syncthreads();  // before the tiles are overwritten
    load_tile<Arithmetic>(key, first_key, tiles.key);
    load_tile<Arithmetic>(value, first_key, tiles.value);
    __syncthreads();
    T scores[Arithmetic::rows][Arithmetic::columns], factors[Arithmetic::rows];
    Arithmetic::multiply_rows(tiles.query, tiles.key, scores);
#pragma unroll
    for (int i = 0; i < Arithmetic::rows; ++i) {
      const int visible = visible_from(s, place.first + Arithmetic::row(i), first_key);
#pragma unroll
      for (int j = 0; j < Arithmetic::columns; ++j)
        scores[i][j] =
            Arithmetic::column(j) < visible ? scores[i][j] * scale : -std::numeric_limits<T>::infinity();
      factors[i] = softmax[i].add(scores[i]);
    }
    output.for_each([&](int i, int, T& sum) { sum *= factors[i]; });
    store_weights<Arithmetic>(scores, tiles.weights);
    output.add_product(tiles.weights, tiles.value);
  }
#pragma unroll
  for (int i = 0; i < Arithmetic::rows; ++i) {
    const std::int64_t query = place.first + Arithmetic::row(i);
    if (Arithmetic::column(0) == 0 && query < s.queries)
      f.logsumexp[place.row(s, query)] = softmax[i].maximum + std::log(softmax[i].sum);
  }
  output.for_each([&](int i, int, T& sum) { sum /= softmax[i].sum; });
  store_sums<Arithmetic>(output, {s, f.output, s.queries, place.example, place.head}, place.first);
}

template <class Arithmetic, class T>
void run_on_cuda(OpContext& c, AttentionForward<T> f) {
  f.size.fours = in_fours(f.size.width, f.query, f.key, f.value);
  with_columns(c, f.size.width, [&]<int columns>() {
    launch_tiles<ForwardTiles<T, columns>>(c.device(), f.size, f.size.queries,
                                           forward_kernel<Arithmetic, columns>, f);
  });
}

}  // namespace actorflow::attention
