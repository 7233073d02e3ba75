// Products of tiles by multiplications and additions, for all floating types. For .cu files in a build
// with CUDA.
#pragma once

#include "kernels/attention/tiles.h"

namespace actorflow::attention {

// Thread (y, x), y and x below 8, has the rows y + 8 i and the columns x + 8 j of a product, i and j
// below 4: neighbouring threads read different banks of the memory, or the same word.
template <class T>
struct PlainArithmetic {
  using Value = T;
  static constexpr int lanes = 8, rows = tile / lanes, columns = tile / lanes;

  static __device__ int y() { return static_cast<int>(threadIdx.x) / lanes; }
  static __device__ int x() { return static_cast<int>(threadIdx.x) % lanes; }
  static __device__ int row(int i) { return y() + lanes * i; }
  static __device__ int column(int j) { return x() + lanes * j; }
  static __device__ T to_factor(T value) { return value; }

  // The sums over the width of a row of a times one of b.
  template <int width>
  static __device__ void multiply_rows(const Tile<T, width>& a, const Tile<T, width>& b,
                                       T (&sums)[rows][columns]) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j) sums[i][j] = 0;
#pragma unroll 4
    for (int k = 0; k < width; k += 4) {
      Pack<T, 4> of_a[rows], of_b[columns];
#pragma unroll
      for (int i = 0; i < rows; ++i) of_a[i] = load_pack<4>(a.row(row(i)) + k);
#pragma unroll
      for (int j = 0; j < columns; ++j) of_b[j] = load_pack<4>(b.row(column(j)) + k);
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) sums[i][j] += of_a[i].values[e] * of_b[j].values[e];
    }
  }

  // Sums [32, width]: this thread has its rows, and in each group of 32 columns the four that begin with
  // 4 x.
  template <int width>
  struct Sums {
    static constexpr int groups = width / tile;
    T values[rows][groups][4];

    __device__ Sums() : values() {}

    // Adds weights [32, 32] times b. Of the weights only rows of this warp are read.
    __device__ void add_product(const Tile<T, tile>& weights, const Tile<T, width>& b) {
#pragma unroll 2
      for (int k = 0; k < tile; k += 4) {
        Pack<T, 4> w[rows];
#pragma unroll
        for (int i = 0; i < rows; ++i) w[i] = load_pack<4>(weights.row(row(i)) + k);
#pragma unroll
        for (int e = 0; e < 4; ++e)
#pragma unroll
          for (int group = 0; group < groups; ++group) {
            const Pack<T, 4> of_b = load_pack<4>(b.row(k + e) + group * tile + 4 * x());
#pragma unroll
            for (int i = 0; i < rows; ++i)
#pragma unroll
              for (int c = 0; c < 4; ++c) values[i][group][c] += w[i].values[e] * of_b.values[c];
          }
      }
    }

    // Calls use(i, column, sum) for this thread's sums.
    template <class Use>
    __device__ void for_each(const Use& use) {
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int group = 0; group < groups; ++group)
#pragma unroll
          for (int c = 0; c < 4; ++c) use(i, group * tile + 4 * x() + c, values[i][group][c]);
    }
  };
};

}  // namespace actorflow::attention
