// y = f(x + bias) on a GPU, with the bias of the element's column. For .cu files in a build with CUDA.
#pragma once

#include "kernels/loops/packs.h"

namespace actorflow {

template <class F, class T>
struct BiasPacks {
  const T *x, *bias;
  T* y;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t column) const {
    Pack<T, n> sums = load_pack<n>(x + i), added = {};
    if (bias) added = load_pack<n>(bias + column);
#pragma unroll
    for (int k = 0; k < n; ++k) sums.values[k] = F()(sums.values[k] + added.values[k]);
    store_pack(y + i, sums);
  }
};

// y may be x; without a bias it is a null pointer.
template <class F, class T>
void add_bias_on_cuda(Device& device, Rows size, const T* x, const T* bias, T* y) {
  launch_packs(device, size, in_fours(size.columns, x, bias, y), BiasPacks<F, T>{x, bias, y});
}

}  // namespace actorflow
