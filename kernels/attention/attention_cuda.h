// Attention on a GPU: a block of threads takes 32 queries, or for the gradients of key and value 32
// keys, and goes over the tiles of the other side, so that nothing of the size [queries, keys] is in
// memory. Dao et al., FlashAttention (2022). All sums have an order that follows from the shapes. For
// .cu files in a build with CUDA.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "kernels/attention/plain_arithmetic.h"
#include "kernels/attention/tensor_cores.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/loops/warp_rows.h"
#include "kernels/ops.h"

namespace actorflow {
namespace attention {

// Which tile of which head a block of threads computes.
struct BlockPlace {
  std::int64_t example, head, first;

  __device__ BlockPlace(const AttentionSize& s, std::int64_t rows) {
    const std::int64_t block = blockIdx.x, tiles = (rows + tile - 1) / tile;
    example = block / tiles / s.heads;
    head = block / tiles % s.heads;
    first = block % tiles * tile;
  }
  // Of a tensor [batch, queries, heads].
  __device__ std::int64_t row(const AttentionSize& s, std::int64_t query) const {
    return (example * s.queries + query) * s.heads + head;
  }
};

// How many of the keys from `first_key` on a query looks at; none if it is not there.
__device__ inline int visible_from(const AttentionSize& s, std::int64_t query, std::int64_t first_key) {
  return query < s.queries ? static_cast<int>(std::min<std::int64_t>(s.visible(query) - first_key, tile))
                           : 0;
}

// How many blocks a multiprocessor is to have at a time. With more registers per thread than that allows
// the compiler would fetch further ahead, but too few threads would be there to wait for memory.
template <class T, int columns>
inline constexpr int blocks_at_a_time = sizeof(T) > 4 || columns > 64 ? 4
                                        : columns > 32                ? 6
                                                                      : 8;

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
      f.logarithms[place.row(s, query)] = softmax[i].maximum + std::log(softmax[i].sum);
  }
  output.for_each([&](int i, int, T& sum) { sum /= softmax[i].sum; });
  store_sums<Arithmetic>(output, {s, f.output, s.queries, place.example, place.head}, place.first);
}

template <class T, int columns>
struct BackwardTiles {
  Tile<T, columns> query, gradient, key, value;
  Tile<T, tile> weights;
  T logarithms[tile], along[tile];  // of the queries
};

// What the gradients of one head are computed of. `along` [batch, queries, heads] has the sums of the
// output's gradient times the output, less the logarithm's gradient.
template <class Arithmetic>
struct HeadBackward {
  using T = typename Arithmetic::Value;
  AttentionSize size;
  BlockPlace place;
  HeadRows<const T> query, gradient, key, value;
  const T *logarithms, *along;
  const T scale;

  __device__ HeadBackward(const AttentionBackward<T>& b, const T* along_rows, const BlockPlace& at)
      : size(b.size),
        place(at),
        query(size, b.query, size.queries, at.example, at.head),
        gradient(size, b.gradient, size.queries, at.example, at.head),
        key(size, b.key, size.keys, at.example, at.head),
        value(size, b.value, size.keys, at.example, at.head),
        logarithms(b.logarithms),
        along(along_rows),
        scale(static_cast<T>(size.scale())) {}

  template <int columns>
  __device__ void load_queries(std::int64_t first, BackwardTiles<T, columns>& tiles) const {
    load_tile<Arithmetic>(query, first, tiles.query);
    load_tile<Arithmetic>(gradient, first, tiles.gradient);
    if (threadIdx.x >= tile) return;
    const std::int64_t mine = first + threadIdx.x;
    const bool there = mine < size.queries;
    tiles.logarithms[threadIdx.x] = there ? logarithms[place.row(size, mine)] : T(0);
    tiles.along[threadIdx.x] = there ? along[place.row(size, mine)] : T(0);
  }
  template <int columns>
  __device__ void load_keys(std::int64_t first, BackwardTiles<T, columns>& tiles) const {
    load_tile<Arithmetic>(key, first, tiles.key);
    load_tile<Arithmetic>(value, first, tiles.value);
  }

  // The weight that a query gives a key that it looks at.
  __device__ T weight(T score, T logarithm) const { return std::exp(score * scale - logarithm); }
  // The gradient of a score before its scaling.
  __device__ T score_gradient(T weight, T weight_gradient, T along_row) const {
    return weight * (weight_gradient - along_row) * scale;
  }
};

template <class Arithmetic, int columns, class T = typename Arithmetic::Value>
__global__ void __launch_bounds__(threads, blocks_at_a_time<T, columns>)
    query_gradient_kernel(AttentionBackward<T> b, const T* along) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& tiles = *reinterpret_cast<BackwardTiles<T, columns>*>(memory);
  const HeadBackward<Arithmetic> head(b, along, BlockPlace(b.size, b.size.queries));
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
      const T logarithm = tiles.logarithms[row], along_row = tiles.along[row];
#pragma unroll
      for (int j = 0; j < Arithmetic::columns; ++j) {
        const T weight = Arithmetic::column(j) < visible ? head.weight(scores[i][j], logarithm) : T(0);
        scores[i][j] = head.score_gradient(weight, weight_gradients[i][j], along_row);
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
    key_gradient_kernel(AttentionBackward<T> b, const T* along) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& tiles = *reinterpret_cast<BackwardTiles<T, columns>*>(memory);
  const HeadBackward<Arithmetic> head(b, along, BlockPlace(b.size, b.size.keys));
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
      const T logarithm = tiles.logarithms[column], along_row = tiles.along[column];
#pragma unroll
      for (int i = 0; i < Arithmetic::rows; ++i) {
        weights[i][j] = Arithmetic::row(i) < visible ? head.weight(weights[i][j], logarithm) : T(0);
        gradients[i][j] = head.score_gradient(weights[i][j], gradients[i][j], along_row);
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

// Launches a block for each tile of `rows` rows of each head.
template <class Tiles, class... Parameters, class... Arguments>
void launch_tiles(Device& device, const AttentionSize& s, std::int64_t rows,
                  void (*kernel)(Parameters...), const Arguments&... arguments) {
  const std::int64_t blocks = s.batch * s.heads * ((rows + tile - 1) / tile);
  if (blocks > std::numeric_limits<int>::max())
    throw Error(Code::resource_exhausted, "attention of " + std::to_string(s.batch) + " examples with " +
                                              std::to_string(s.heads) +
                                              " heads is too large for one launch on a GPU");
  constexpr std::size_t taken_without_asking = 48 << 10;
  if (sizeof(Tiles) > taken_without_asking)
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sizeof(Tiles))),
               "take shared memory for attention");
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "prefer shared memory for attention");
  kernel<<<static_cast<unsigned>(blocks), threads, sizeof(Tiles), cuda_stream(device)>>>(arguments...);
  check_cuda(cudaGetLastError(), "launch an attention");
}

template <class T>
void sum_along_rows(Device& device, const AttentionBackward<T>& b, T* along) {
  const std::int64_t width = b.size.width;
  launch_rows(device, b.size.batch * b.size.queries * b.size.heads, [=] __device__(std::int64_t row) {
    double sum = 0;
    for (std::int64_t j = row * width + threadIdx.x; j < (row + 1) * width; j += warp)
      sum += static_cast<double>(b.gradient[j] * b.output[j]);
    sum = sum_in_warp(sum);
    if (threadIdx.x == 0)
      along[row] = static_cast<T>(sum) - (b.logarithm_gradient ? b.logarithm_gradient[row] : T(0));
  });
}

// Calls use.operator()<columns>() with a number of columns that suffices for a row.
template <class Use>
void with_columns(OpContext& c, std::int64_t width, const Use& use) {
  if (width <= 32) return use.template operator()<32>();
  if (width <= 64) return use.template operator()<64>();
  if (width <= widest_attention_on_gpu) return use.template operator()<widest_attention_on_gpu>();
  c.fail("heads of a width up to " + std::to_string(widest_attention_on_gpu) +
             ", as attention on a GPU takes them; use more heads or a CPU",
         "heads of width " + std::to_string(width));
}

// Whether a kernel was compiled for GPUs that multiply tf32.
template <class... Parameters>
bool has_tf32(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes;
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "ask for the properties of a kernel");
  return attributes.ptxVersion >= 80;
}

template <class Arithmetic, class T>
void run_on_cuda(OpContext& c, AttentionForward<T> f) {
  f.size.fours = in_fours(f.size.width, f.query, f.key, f.value);
  with_columns(c, f.size.width, [&]<int columns>() {
    launch_tiles<ForwardTiles<T, columns>>(c.device(), f.size, f.size.queries,
                                           forward_kernel<Arithmetic, columns>, f);
  });
}

template <class Arithmetic, class T>
void run_on_cuda(OpContext& c, AttentionBackward<T> b) {
  b.size.fours = in_fours(b.size.width, b.gradient, b.query, b.key, b.value);
  const AttentionSize& s = b.size;
  const DeviceScratch<T> along(c.device(), s.batch * s.queries * s.heads);
  sum_along_rows(c.device(), b, along.data());
  with_columns(c, s.width, [&]<int columns>() {
    using Tiles = BackwardTiles<T, columns>;
    const T* const sums = along.data();
    launch_tiles<Tiles>(c.device(), s, s.queries, query_gradient_kernel<Arithmetic, columns>, b, sums);
    launch_tiles<Tiles>(c.device(), s, s.keys, key_gradient_kernel<Arithmetic, columns>, b, sums);
  });
}

}  // namespace attention

// As CpuAttention. Factors of float32 are rounded to tf32 if the precision allows it.
class CudaAttention {
 public:
  explicit CudaAttention(Precision precision) : rounds_(precision != Precision::float32) {}

  // Of AttentionForward or AttentionBackward.
  template <template <class> class Task, class T>
  void run(OpContext& c, const Task<T>& task) const {
    using namespace attention;
    if constexpr (std::is_same_v<T, float>)
      if (rounds_ && has_tf32(forward_kernel<TensorCores, 32>)) return run_on_cuda<TensorCores>(c, task);
    run_on_cuda<PlainArithmetic<T>>(c, task);
  }

 private:
  const bool rounds_;
};

}  // namespace actorflow
