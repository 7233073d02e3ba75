#include "kernels/loops/strided_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#ifdef ACTORFLOW_CUDA
#include "dataflow/values/check.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/loops/packs.h"
#include "kernels/loops/strided_packs.h"
#include "kernels/loops/tile_order.h"
#endif

namespace actorflow {
namespace {

// An element to be moved, whatever it is. Bytes may alias every type.
template <std::size_t size>
struct alignas(size) Bytes {
  std::byte bytes[size];
};

template <class T>
void copy_row(std::int64_t count, const T* from, std::int64_t from_stride, T* to,
              std::int64_t to_stride) {
  if (from_stride == 1 && to_stride == 1)
    std::copy_n(from, count, to);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
}

// The two innermost loops, in tiles: whichever way a matrix is transposed, the lines of both sides stay
// in the first-level cache until all of their elements are used. The tiles are small, because rows whose
// length is a power of two share few places of the cache.
template <class T>
void copy_matrix(const StridedLoops<2>& loops, const T* from, T* to) {
  constexpr std::int64_t tile = 8;
  const int outer = loops.rank - 2, inner = loops.rank - 1;
  const std::int64_t rows = loops.dims[outer], columns = loops.dims[inner];
  for (std::int64_t row = 0; row < rows; row += tile)
    for (std::int64_t column = 0; column < columns; column += tile)
      for (std::int64_t i = row; i < std::min(row + tile, rows); ++i)
        copy_row(std::min(tile, columns - column),
                 from + i * loops.strides[0][outer] + column * loops.strides[0][inner],
                 loops.strides[0][inner],
                 to + i * loops.strides[1][outer] + column * loops.strides[1][inner],
                 loops.strides[1][inner]);
}

// The nest without its two innermost loops.
StridedLoops<2> loops_over_matrices(const StridedLoops<2>& loops) {
  StridedLoops<2> outer;
  for (int axis = 0; axis < loops.rank - 2; ++axis)
    outer.append(loops.dims[axis], {loops.strides[0][axis], loops.strides[1][axis]});
  outer.finish();
  return outer;
}

template <class T>
void copy_on_cpu(const StridedLoops<2>& loops, const T* from, T* to) {
  const bool transposes = loops.rank >= 2 && (loops.row_stride(0) != 1 || loops.row_stride(1) != 1);
  if (!transposes)
    return loops.for_each_row([&](std::int64_t, const auto& offsets) {
      copy_row(loops.row_length(), from + offsets[0], loops.row_stride(0), to + offsets[1],
               loops.row_stride(1));
    });
  const auto outer = loops_over_matrices(loops);
  for (std::int64_t i = 0; i < outer.elements; ++i)
    copy_matrix(loops, from + outer.offset(0, i), to + outer.offset(1, i));
}

#ifdef ACTORFLOW_CUDA
// Each turn of the loops copies n neighbouring elements.
template <class T, int n>
struct CopyBody {
  StridedLoops<2> loops;
  const T* from;
  T* to;
  __device__ void operator()(std::int64_t i) const {
    const auto offsets = offsets_at(loops, i);
    store_pack(to + offsets.of[1], load_pack<n>(from + offsets.of[0]));
  }
};

// Copies packs of n elements if the loops allow it.
template <int n, class T>
bool copy_packs(Device& device, const StridedLoops<2>& loops, const T* from, T* to) {
  const auto place = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p) / sizeof(T); };
  if (n > 1 && (loops.row_stride(0) != 1 || !turns_in_packs(loops, n, {place(from), place(to)})))
    return false;
  const auto packs = loops_over_packs(loops, n);
  launch(device, packs.elements, CopyBody<T, n>{packs, from, to});
  return true;
}

constexpr int transpose_tile = 64, transpose_rows = 8;

// Are the two innermost loops those of a matrix that is transposed? Neighbouring threads would then read
// or write elements that lie far apart.
bool transposes_on_cuda(const StridedLoops<2>& loops) {
  const int outer = loops.rank - 2, inner = loops.rank - 1;
  return loops.rank >= 2 && loops.strides[0][outer] == 1 && loops.strides[1][inner] == 1 &&
         loops.dims[outer] >= transpose_rows && loops.dims[inner] >= transpose_rows;
}

// By way of shared memory, in tiles of which two warps read a line and write a line: with lines of 256
// bytes the memory is faster than with lines of 128. One more column than the tile has keeps the
// elements of a column in different banks.
template <class T>
__global__ void __launch_bounds__(transpose_tile* transpose_rows)
    transpose_matrices(StridedLoops<2> loops, StridedLoops<2> matrices, TileOrder tiles, const T* from,
                       T* to) {
  __shared__ T tile[transpose_tile][transpose_tile + 1];
  const int outer = loops.rank - 2, inner = loops.rank - 1;
  const std::int64_t rows = loops.dims[outer], columns = loops.dims[inner];
  const std::int64_t tiles_of_matrix = tiles.rows * tiles.columns;
  for (std::int64_t task = blockIdx.x; task < matrices.elements * tiles_of_matrix; task += gridDim.x) {
    const std::int64_t matrix = task / tiles_of_matrix;
    std::int64_t row, column;
    tiles.place_of(task - matrix * tiles_of_matrix, row, column);
    row *= transpose_tile;
    column *= transpose_tile;
    const T* source = from + matrices.offset(0, matrix) + row + threadIdx.x;
    T* target = to + matrices.offset(1, matrix) + column + threadIdx.x;
    // Two unrolled loops, so that all loads of a thread are on their way at once.
#pragma unroll
    for (int k = 0; k < transpose_tile; k += transpose_rows)
      if (const std::int64_t j = k + threadIdx.y; row + threadIdx.x < rows && column + j < columns)
        tile[j][threadIdx.x] = source[(column + j) * loops.strides[0][inner]];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < transpose_tile; k += transpose_rows)
      if (const std::int64_t i = k + threadIdx.y; row + i < rows && column + threadIdx.x < columns)
        target[(row + i) * loops.strides[1][outer]] = tile[threadIdx.x][i];
    __syncthreads();
  }
}

template <class T>
void transpose_on_cuda(Device& device, const StridedLoops<2>& loops, const T* from, T* to) {
  constexpr std::int64_t most_blocks = 1 << 20;
  const auto matrices = loops_over_matrices(loops);
  const auto tiles_of = [](std::int64_t dim) { return (dim - 1) / transpose_tile + 1; };
  const TileOrder tiles{tiles_of(loops.dims[loops.rank - 2]), tiles_of(loops.dims[loops.rank - 1])};
  const auto blocks = std::min(matrices.elements * tiles.rows * tiles.columns, most_blocks);
  transpose_matrices<<<static_cast<unsigned>(blocks), dim3(transpose_tile, transpose_rows), 0,
                       cuda_stream(device)>>>(loops, matrices, tiles, from, to);
  check_cuda(cudaGetLastError(), "launch a transposition");
}

template <class T>
void copy_on_cuda(Device& device, const StridedLoops<2>& loops, const T* from, T* to) {
  if (transposes_on_cuda(loops)) return transpose_on_cuda(device, loops, from, to);
  constexpr int widest = widest_access / sizeof(T);
  if (copy_packs<widest>(device, loops, from, to)) return;
  if (copy_packs<widest / 2>(device, loops, from, to)) return;
  copy_packs<1>(device, loops, from, to);
}
#endif

template <class T>
void copy([[maybe_unused]] Device& device, const StridedLoops<2>& loops, ConstPlace from,
          MutablePlace to) {
  const T* source = static_cast<const T*>(from.tensor.data()) + from.offset;
  T* destination = static_cast<T*>(to.tensor.mutable_data()) + to.offset;
#ifdef ACTORFLOW_CUDA
  if (!to.tensor.on_host()) {
    if constexpr (!std::is_same_v<T, std::string>)
      return copy_on_cuda(device, loops, source, destination);
  }
#endif
  copy_on_cpu(loops, source, destination);
}

}  // namespace

void strided_copy(Device& device, const StridedLoops<2>& loops, ConstPlace from, MutablePlace to) {
  if (loops.elements == 0) return;
  ACTORFLOW_CHECK(from.tensor.dtype() == to.tensor.dtype(), from.tensor.describe(), "to",
                  to.tensor.describe());
  ACTORFLOW_CHECK(from.tensor.on_host() == to.tensor.on_host());
  if (from.tensor.dtype() == DType::string) return copy<std::string>(device, loops, from, to);
  switch (size_of(from.tensor.dtype())) {  // Elements of one size are copied by the same code.
    case 1:
      return copy<Bytes<1>>(device, loops, from, to);
    case 2:
      return copy<Bytes<2>>(device, loops, from, to);
    case 4:
      return copy<Bytes<4>>(device, loops, from, to);
    default:
      return copy<Bytes<8>>(device, loops, from, to);
  }
}

void clear([[maybe_unused]] Device& device, Tensor& tensor) {
  if (tensor.dtype() == DType::string || tensor.elements() == 0) return;  // strings are born empty
#ifdef ACTORFLOW_CUDA
  if (!tensor.on_host())
    return check_cuda(
        cudaMemsetAsync(tensor.mutable_data(), 0, tensor.size_bytes(), cuda_stream(device)),
        "clear a tensor");
#endif
  std::memset(tensor.mutable_data(), 0, tensor.size_bytes());
}

StridedLoops<2> box_loops(const Shape& dims, const Shape& from, const Shape& to) {
  const auto from_strides = dense_strides(from), to_strides = dense_strides(to);
  StridedLoops<2> loops;
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    loops.append(dims[axis], {from_strides[i], to_strides[i]});
  }
  loops.finish();
  return loops;
}

}  // namespace actorflow
