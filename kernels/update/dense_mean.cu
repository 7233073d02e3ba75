#include "kernels/update/dense_mean.h"

#include <cstdint>
#include <vector>

#ifdef __CUDACC__  // before row_update.h, which uses it
#include "kernels/update/sorted_rows.h"
#endif
#include "kernels/core/dtypes.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/update/row_update.h"

namespace actorflow::detail {
namespace {

// Adds the rows of a gradient, each divided by how many gradients have it.
template <class T>
void add_rows(const SparseGradient& gradient, const std::vector<std::int64_t>& holders, Tensor& dense) {
  const std::int64_t row = dense.shape()[0] == 0 ? 0 : dense.elements() / dense.shape()[0];
  T* to = dense.mutable_values<T>().data();
  for (const auto& rows : gradient) {
    const T* from = rows.values.values<T>().data();
    for (const auto index : rows.indices.values<std::int64_t>()) {
      const T divisor = static_cast<T>(holders[static_cast<std::size_t>(index)]);
      for (std::int64_t j = 0; j < row; ++j) to[index * row + j] += from[j] / divisor;
      from += row;
    }
  }
}

Tensor mean_on_host(const Tensor& like, std::span<const SparseGradient> gradients) {
  Tensor dense = Tensor::zeros(like.dtype(), like.shape());
  std::vector<std::int64_t> holders(static_cast<std::size_t>(like.shape()[0]));
  for (const auto& gradient : gradients) {
    std::vector<bool> has(holders.size());
    for (const auto& rows : gradient)
      for (const auto index : rows.indices.values<std::int64_t>())
        has[static_cast<std::size_t>(index)] = true;
    for (std::size_t i = 0; i < has.size(); ++i) holders[i] += has[i] ? 1 : 0;
  }
  for (const auto& gradient : gradients)
    like.dtype() == DType::float32 ? add_rows<float>(gradient, holders, dense)
                                   : add_rows<double>(gradient, holders, dense);
  return dense;
}

#ifdef ACTORFLOW_CUDA
template <class T>
void mean_on_cuda(std::span<const SparseGradient> gradients, Tensor& dense, Device& device) {
  const SortedRows sorted = sorted_rows(gradients, dense.shape()[0], device);
  const std::int64_t row = row_elements(dense.shape());
  launch(device, sorted.view().count * row,
         [=, all = sorted.view(), to = mutable_data_of<T>(dense)] __device__(std::int64_t i) {
           const std::int64_t begin = i / row, j = i % row;
           if (!all.begins_run(begin)) return;
           to[static_cast<std::int64_t>(all.rows[begin]) * row + j] =
               mean_of_run<T>(all.parts, begin, all.end_of_run(begin), j);
         });
}
#endif

}  // namespace

Tensor dense_mean(const Tensor& like, std::span<const SparseGradient> gradients,
                  [[maybe_unused]] Device& device) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) {
    Tensor dense = Tensor::allocate(like.dtype(), like.shape(), device.allocator());
    clear(device, dense);
    like.dtype() == DType::float32 ? mean_on_cuda<float>(gradients, dense, device)
                                   : mean_on_cuda<double>(gradients, dense, device);
    return dense;
  }
#endif
  return mean_on_host(like, gradients);
}

}  // namespace actorflow::detail
