// Tiles of matrices in a GPU's shared memory. For .cu files in a build with CUDA.
//
// A block of 64 threads works on tiles of 32 rows. How they multiply two of them is an Arithmetic
// (plain_arithmetic.h, tensor_cores.h). It says which elements of a product [32, 32] a thread has: those
// of the rows row(i) and the columns column(j). A row belongs to `lanes` neighbouring threads of a warp.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/loops/packs.h"

namespace actorflow::attention {

inline constexpr int tile = 32, threads = 64;

// Rows of `columns` elements, each a pack of four longer, so that rows begin in different banks.
template <class T, int columns>
struct Tile {
  static constexpr int stride = columns + 4;
  alignas(widest_access) T values[tile * stride];

  __device__ const T* row(int i) const { return values + i * stride; }
  __device__ T* row(int i) { return values + i * stride; }
};

// The rows of one head of a tensor [batch, length, heads, width].
template <class T>
struct HeadRows {
  T* first;
  std::int64_t length, stride;
  int width;
  bool fours;  // whether rows can be read in packs of four

  __device__ HeadRows(const AttentionSize& s, T* tensor, std::int64_t rows, std::int64_t example,
                      std::int64_t head)
      : first(tensor + (example * rows * s.heads + head) * s.width),
        length(rows),
        stride(s.heads * s.width),
        width(static_cast<int>(s.width)),
        fours(s.fours) {}
};

// Loads the rows from `first` on in packs, as the arithmetic takes them; zeros where there are none, and
// beyond the width. A few packs are asked for before the first of them is stored: each waits for memory,
// but takes registers meanwhile.
template <class Arithmetic, int n, class T, int columns>
__device__ void load_tile_of_packs(const HeadRows<const T>& from, std::int64_t first,
                                   Tile<T, columns>& to) {
  constexpr int row_packs = columns / n, mine = tile * row_packs / threads;
  constexpr int at_a_time = 4;
#pragma unroll 1
  for (int begun = 0; begun < mine; begun += at_a_time) {
    const auto place = [begun](int k) { return static_cast<int>(threadIdx.x) + (begun + k) * threads; };
    Pack<T, n> packs[at_a_time];
#pragma unroll
    for (int k = 0; k < at_a_time; ++k) {
      const int row = place(k) / row_packs, column = place(k) % row_packs * n;
      const bool there = first + row < from.length && column < from.width;
      packs[k] = there ? load_pack<n>(from.first + (first + row) * from.stride + column) : Pack<T, n>{};
    }
#pragma unroll
    for (int k = 0; k < at_a_time; ++k) {
#pragma unroll
      for (int e = 0; e < n; ++e) packs[k].values[e] = Arithmetic::to_factor(packs[k].values[e]);
      store_pack(to.row(place(k) / row_packs) + place(k) % row_packs * n, packs[k]);
    }
  }
}

template <class Arithmetic, class T, int columns>
__device__ void load_tile(const HeadRows<const T>& from, std::int64_t first, Tile<T, columns>& to) {
  from.fours ? load_tile_of_packs<Arithmetic, 4>(from, first, to)
             : load_tile_of_packs<Arithmetic, 1>(from, first, to);
}

// Stores a product's elements of this thread, and waits for those of its warp.
template <class Arithmetic, class T>
__device__ void store_weights(const T (&from)[Arithmetic::rows][Arithmetic::columns],
                              Tile<T, tile>& to) {
#pragma unroll
  for (int i = 0; i < Arithmetic::rows; ++i)
#pragma unroll
    for (int j = 0; j < Arithmetic::columns; ++j)
      to.row(Arithmetic::row(i))[Arithmetic::column(j)] = Arithmetic::to_factor(from[i][j]);
  __syncwarp();
}

// Stores the rows of a head from `first` on, as far as they are there.
template <class Arithmetic, class Sums>
__device__ void store_sums(Sums& sums, const HeadRows<typename Arithmetic::Value>& to,
                           std::int64_t first) {
  sums.for_each([&](int i, int column, auto sum) {
    const std::int64_t row = first + Arithmetic::row(i);
    if (row < to.length && column < to.width) to.first[row * to.stride + column] = sum;
  });
}

// Combines what the threads of a row have; all get the result.
template <class Arithmetic, class T, class Combine>
__device__ T combine_in_row(T value, Combine combine) {
#pragma unroll
  for (int distance = Arithmetic::lanes / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(~0U, value, distance));
  return value;
}

}  // namespace actorflow::attention
