// Products of tiles by tensor cores, whose factors are float32 rounded to tf32. For .cu files in a build
// with CUDA. The places of a thread's elements are those of the instruction mma.m16n8k8 (NVIDIA, PTX
// ISA, Matrix Fragments for mma.m16n8k8).
#pragma once

#include "kernels/attention/tf32.h"
#include "kernels/attention/tiles.h"

namespace actorflow::attention {

// A warp has 16 rows of a product. Thread `lane` of it has two of them, and two neighbouring columns of
// each 8.
struct TensorCores {
  using Value = float;
  static constexpr int lanes = 4, rows = 2, columns = tile / lanes;

  static __device__ int warp_row() { return static_cast<int>(threadIdx.x) / 32 * 16; }
  static __device__ int y() { return static_cast<int>(threadIdx.x) % 32 / lanes; }
  static __device__ int x() { return static_cast<int>(threadIdx.x) % lanes; }
  static __device__ int row(int i) { return warp_row() + y() + 8 * i; }
  static __device__ int column(int j) { return j / 2 * 8 + 2 * x() + j % 2; }
  static __device__ float to_factor(float value) { return to_tf32(value); }

  // The part of a matrix that this thread gives for a product: of this warp's rows, the columns from k
  // to k + 7.
  template <int width>
  static __device__ Tf32Left left(const Tile<float, width>& a, int k) {
    return {{a.row(row(0))[k + x()], a.row(row(1))[k + x()], a.row(row(0))[k + x() + 4],
             a.row(row(1))[k + x() + 4]}};
  }

  // The sums over the width of a row of a times one of b.
  template <int width>
  static __device__ void multiply_rows(const Tile<float, width>& a, const Tile<float, width>& b,
                                       float (&sums)[rows][columns]) {
    Tf32Sums parts[columns / 2] = {};
#pragma unroll 4
    for (int k = 0; k < width; k += 8) {
      const Tf32Left of_a = left(a, k);
#pragma unroll
      for (int part = 0; part < columns / 2; ++part) {
        const float* of_b = b.row(8 * part + y()) + k + x();
        add_tf32_product(of_a, {{of_b[0], of_b[4]}}, parts[part]);
      }
    }
#pragma unroll
    for (int j = 0; j < columns; ++j)
#pragma unroll
      for (int i = 0; i < rows; ++i) sums[i][j] = parts[j / 2].values[2 * i + j % 2];
  }

  // Sums [32, width]: this thread has its rows, and two neighbouring columns of each 8.
  template <int width>
  struct Sums {
    Tf32Sums parts[width / 8] = {};

    // Adds weights [32, 32] times b. Of the weights only rows of this warp are read.
    __device__ void add_product(const Tile<float, tile>& weights, const Tile<float, width>& b) {
#pragma unroll
      for (int k = 0; k < tile; k += 8) {
        const Tf32Left of_weights = left(weights, k);
        const float *upper = b.row(k + x()) + y(), *lower = b.row(k + x() + 4) + y();
#pragma unroll
        for (int part = 0; part < width / 8; ++part)
          add_tf32_product(of_weights, {{upper[8 * part], lower[8 * part]}}, parts[part]);
      }
    }

    // Calls use(i, column, sum) for this thread's sums.
    template <class Use>
    __device__ void for_each(const Use& use) {
#pragma unroll
      for (int part = 0; part < width / 8; ++part)
#pragma unroll
        for (int e = 0; e < 4; ++e) use(e / 2, 8 * part + 2 * x() + e % 2, parts[part].values[e]);
    }
  };
};

}  // namespace actorflow::attention
