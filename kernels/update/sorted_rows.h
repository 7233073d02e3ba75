// The rows of gradients on a GPU, sorted there, for row_update.h: so that no update waits for the GPU.
// For .cu files in a build with CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/devices/cuda_device.h"
#include "kernels/devices/host_device.h"
#include "kernels/loops/sorted_runs.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow::detail {

// A row of one of the gradients. Aligned for loads of 16 bytes.
struct alignas(16) RowPart {
  const std::byte* values;
  std::int64_t source;  // which gradient it is of
};

// Sorted rows as plain pointers, for kernels.
struct SortedRowsView {
  const std::uint64_t* rows;  // of the variable; ascending
  const RowPart* parts;       // of each; those of one row in the order in which they add up
  std::int64_t count;

  ACTORFLOW_HOST_DEVICE bool begins_run(std::int64_t i) const { return actorflow::begins_run(rows, i); }
  // Behind the last part of the row whose first one is at `begin`.
  ACTORFLOW_HOST_DEVICE std::int64_t end_of_run(std::int64_t begin) const {
    return actorflow::end_of_run(rows, begin, count);
  }
};

class SortedRows {
 public:
  SortedRows(Device& device, std::int64_t count)
      : rows_(device, count), parts_(device, count), count_(count) {}

  std::uint64_t* rows() const { return rows_.data(); }
  RowPart* parts() const { return parts_.data(); }
  SortedRowsView view() const { return {rows_.data(), parts_.data(), count_}; }

 private:
  DeviceScratch<std::uint64_t> rows_;
  DeviceScratch<RowPart> parts_;
  std::int64_t count_;
};

// Sorts the rows of all gradients for a variable of so many rows. Their values are read where they are,
// on the device. REQUIRES: the indices are from 0 to rows - 1.
SortedRows sorted_rows(std::span<const SparseGradient> gradients, std::int64_t rows, Device& device);

}  // namespace actorflow::detail
