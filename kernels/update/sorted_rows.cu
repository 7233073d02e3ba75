// The rows of gradients are sorted on the GPU by CUB.
#ifdef ACTORFLOW_CUDA

#include "kernels/update/sorted_rows.h"

#include "kernels/loops/sort_pairs.h"
#include "kernels/update/row_update.h"

namespace actorflow::detail {
namespace {

std::int64_t number_of_rows(std::span<const SparseGradient> gradients) {
  std::int64_t count = 0;
  for (const SparseGradient& gradient : gradients)
    for (const GradientRows& rows : gradient) count += rows.indices.elements();
  return count;
}

void list_rows(const GradientRows& gradient, std::int64_t source, std::uint64_t* rows, RowPart* parts,
               Device& device) {
  const Tensor indices = device.to_device(gradient.indices);
  const auto* const from = static_cast<const std::int64_t*>(indices.data());
  const auto* const values = static_cast<const std::byte*>(gradient.values.data());
  const std::int64_t stride = row_elements(gradient.values.shape()) *
                              static_cast<std::int64_t>(size_of(gradient.values.dtype()));
  launch(device, indices.elements(), [=] __device__(std::int64_t i) {
    rows[i] = static_cast<std::uint64_t>(from[i]);
    parts[i] = {values + i * stride, source};
  });
}

// In the order in which they add up.
SortedRows listed_rows(std::span<const SparseGradient> gradients, Device& device) {
  SortedRows all(device, number_of_rows(gradients));
  std::int64_t next = 0;
  for (std::size_t source = 0; source < gradients.size(); ++source)
    for (const GradientRows& rows : gradients[source]) {
      list_rows(rows, static_cast<std::int64_t>(source), all.rows() + next, all.parts() + next, device);
      next += rows.indices.elements();
    }
  return all;
}

}  // namespace

SortedRows sorted_rows(std::span<const SparseGradient> gradients, std::int64_t rows, Device& device) {
  const SortedRows listed = listed_rows(gradients, device);
  const std::int64_t count = listed.view().count;
  SortedRows sorted(device, count);
  if (count == 0) return sorted;
  // A radix sort, which keeps the order of equal rows, over the bits that rows have.
  sort_pairs(device, count, bits_below(rows), listed.rows(), listed.parts(), sorted.rows(),
             sorted.parts());
  return sorted;
}

}  // namespace actorflow::detail

#endif
