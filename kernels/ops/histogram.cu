// Histogram: minimum, maximum, moments and counts in TensorFlow's exponential buckets, so that a summary
// of a tensor travels and not the tensor.
#include "kernels/ops/histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/devices/host_device.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include <cub/block/block_reduce.cuh>

#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

using Types = DTypes<float, double, std::int32_t, std::int64_t, std::uint8_t>;

constexpr int positive_limits = histogram_positive_limits;
constexpr int zero_limit = positive_limits + 1;  // the place of limit 0

void infer_histogram(InferContext& c) {
  expect_dtype_in<Types>(c, 0);
  c.add_output(DType::float64, {histogram_statistics});
  c.add_output(DType::int64, {histogram_buckets});
}

const OpDef& histogram_op() {
  static const OpDef op{.name = "Histogram", .min_inputs = 1, .max_inputs = 1, .infer = infer_histogram};
  return op;
}

struct Statistics {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double count = 0, sum = 0, sum_of_squares = 0, not_finite = 0;

  ACTORFLOW_HOST_DEVICE void add(double x) {
    min = x < min ? x : min;
    max = x > max ? x : max;
    count += 1;
    sum += x;
    sum_of_squares += x * x;
  }
  ACTORFLOW_HOST_DEVICE void add(const Statistics& other) {
    min = other.min < min ? other.min : min;
    max = other.max > max ? other.max : max;
    count += other.count;
    sum += other.sum;
    sum_of_squares += other.sum_of_squares;
    not_finite += other.not_finite;
  }
  // In the order of HistogramStatistic. The extremes of nothing are 0.
  ACTORFLOW_HOST_DEVICE void store(double* out) const {
    out[0] = count > 0 ? min : 0;
    out[1] = count > 0 ? max : 0;
    out[2] = count;
    out[3] = sum;
    out[4] = sum_of_squares;
    out[5] = not_finite;
  }
};

// The bucket of x, given how many positive limits are <= |x|, and whether the last of them is |x|.
ACTORFLOW_HOST_DEVICE int bucket_of(double x, int limits_up_to, bool on_limit) {
  return x < 0 ? zero_limit - (limits_up_to - (on_limit ? 1 : 0)) : zero_limit + 1 + limits_up_to;
}

ACTORFLOW_HOST_DEVICE bool is_finite(double x) { return x - x == 0; }

// Multiplied one after the other: every machine gets the same bits.
ACTORFLOW_HOST_DEVICE void fill_positive_limits(double* limits) {
  double limit = 1e-12;
  for (int i = 0; i < positive_limits; ++i, limit *= 1.1) limits[i] = limit;
}

// Finds a bucket by the upper bits of a number: numbers that share them (exponent and 4 bits of the
// mantissa) are within a factor of 17/16, less than that between two limits, so one comparison is left.
class BucketFinder {
 public:
  BucketFinder() {
    fill_positive_limits(limits_.data());
    first_key_ = key_of(limits_.front());
    int below = 0;
    for (auto key = first_key_; key <= key_of(limits_.back()) + 1; ++key) {
      const double begin = std::bit_cast<double>(key << shift);
      while (below < positive_limits && limits_[static_cast<std::size_t>(below)] < begin) ++below;
      below_.push_back(below);
    }
  }

  int operator()(double x) const {
    const double magnitude = std::fabs(x);
    const auto key = std::clamp(key_of(magnitude), first_key_, first_key_ + below_.size() - 1);
    auto up_to = static_cast<std::size_t>(below_[key - first_key_]);
    if (up_to < limits_.size() && limits_[up_to] <= magnitude) ++up_to;
    const bool on_limit = up_to > 0 && limits_[up_to - 1] == magnitude;
    return bucket_of(x, static_cast<int>(up_to), on_limit);
  }

 private:
  static constexpr int shift = 48;
  static std::uint64_t key_of(double x) { return std::bit_cast<std::uint64_t>(x) >> shift; }

  std::array<double, positive_limits> limits_;
  std::uint64_t first_key_;
  std::vector<int> below_;  // by key: how many limits are below the smallest number with that key
};

template <class T>
Statistics count_on_cpu(const BucketFinder& bucket, std::span<const T> x, std::int64_t* counts) {
  Statistics statistics;
  std::fill_n(counts, histogram_buckets, 0);
  for (const T element : x) {
    const auto value = static_cast<double>(element);
    if (is_finite(value)) {
      statistics.add(value);
      ++counts[bucket(value)];
    } else {
      statistics.not_finite += 1;
    }
  }
  return statistics;
}

// In parts that follow from the size alone, combined in their order.
template <class T>
void histogram_on_cpu(OpContext& c, std::span<const T> x, double* statistics, std::int64_t* counts) {
  static const BucketFinder bucket;
  constexpr std::int64_t elements_per_part = 1 << 15, max_parts = 64;
  const Shares shares(std::ssize(x), std::ssize(x) / elements_per_part, max_parts);
  const auto parts = static_cast<std::size_t>(shares.count());
  std::vector<Statistics> part_statistics(parts);
  std::vector<std::int64_t> part_counts(parts * histogram_buckets);
  c.parallel(shares.count(), [&](int number) {
    const auto part = static_cast<std::size_t>(number);
    const auto begin = static_cast<std::size_t>(shares.begin(number));
    const auto size = static_cast<std::size_t>(shares.size(number));
    part_statistics[part] =
        count_on_cpu(bucket, x.subspan(begin, size), part_counts.data() + part * histogram_buckets);
  });
  for (std::size_t part = 1; part < parts; ++part) {
    part_statistics[0].add(part_statistics[part]);
    for (std::size_t i = 0; i < histogram_buckets; ++i)
      part_counts[i] += part_counts[part * histogram_buckets + i];
  }
  part_statistics[0].store(statistics);
  std::copy_n(part_counts.begin(), histogram_buckets, counts);
}

#ifdef ACTORFLOW_CUDA

struct Combine {
  __device__ Statistics operator()(Statistics a, const Statistics& b) const {
    a.add(b);
    return a;
  }
};

__device__ int find_bucket(const double* limits, double x) {
  const double magnitude = fabs(x);
  int low = 0, high = positive_limits;  // the first limit above lies within
  while (low < high) {
    const int middle = (low + high) / 2;
    if (limits[middle] <= magnitude)
      low = middle + 1;
    else
      high = middle;
  }
  return bucket_of(x, low, low > 0 && limits[low - 1] == magnitude);
}

// Counts in shared memory first. Integers may be added in any order; the statistics of the blocks are
// combined in theirs, afterwards.
template <class T>
__global__ void histogram_parts(std::int64_t size, const T* x, Statistics* parts,
                                unsigned long long* counts) {
  using BlockReduce = cub::BlockReduce<Statistics, cuda_block_threads>;
  __shared__ typename BlockReduce::TempStorage scratch;
  __shared__ double limits[positive_limits];
  __shared__ unsigned block_counts[histogram_buckets];
  if (threadIdx.x == 0) fill_positive_limits(limits);
  for (unsigned i = threadIdx.x; i < histogram_buckets; i += blockDim.x) block_counts[i] = 0;
  __syncthreads();
  Statistics statistics;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += stride) {
    const auto value = static_cast<double>(x[i]);
    if (is_finite(value)) {
      statistics.add(value);
      atomicAdd(&block_counts[find_bucket(limits, value)], 1u);
    } else {
      statistics.not_finite += 1;
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < histogram_buckets; i += blockDim.x)
    if (block_counts[i] > 0) atomicAdd(&counts[i], static_cast<unsigned long long>(block_counts[i]));
  statistics = BlockReduce(scratch).Reduce(statistics, Combine());
  if (threadIdx.x == 0) parts[blockIdx.x] = statistics;
}

template <class T>
void histogram_on_cuda(OpContext& c, std::span<const T> x, double* statistics, std::int64_t* counts) {
  constexpr std::size_t elements_per_block = 16 * cuda_block_threads, max_blocks = 512;
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::size_t>(x.size() / elements_per_block, 1, max_blocks));
  const BufferRef scratch = c.scratch(blocks * sizeof(Statistics));
  auto* parts = static_cast<Statistics*>(scratch->data());
  launch(c.device(), histogram_buckets, [=] __device__(std::int64_t i) { counts[i] = 0; });
  histogram_parts<<<blocks, cuda_block_threads, 0, cuda_stream(c.device())>>>(
      static_cast<std::int64_t>(x.size()), x.data(), parts,
      reinterpret_cast<unsigned long long*>(counts));
  check_cuda(cudaGetLastError(), "launch a histogram");
  launch(c.device(), 1, [=] __device__(std::int64_t) {
    Statistics total;
    for (unsigned block = 0; block < blocks; ++block) total.add(parts[block]);
    total.store(statistics);
  });
}

#endif

void histogram_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  auto* statistics =
      static_cast<double*>(c.allocate_output(0, DType::float64, {histogram_statistics}).mutable_data());
  auto* counts =
      static_cast<std::int64_t*>(c.allocate_output(1, DType::int64, {histogram_buckets}).mutable_data());
  dispatch<Types>(c, x, [&]<class T>() {
    const std::span<const T> values(static_cast<const T*>(x.data()),
                                    static_cast<std::size_t>(x.elements()));
#ifdef ACTORFLOW_CUDA
    if (c.device().type() == DeviceType::cuda) return histogram_on_cuda(c, values, statistics, counts);
#endif
    histogram_on_cpu(c, values, statistics, counts);
  });
}

std::vector<double> all_limits() {
  std::vector<double> limits(positive_limits);
  fill_positive_limits(limits.data());
  limits.push_back(std::numeric_limits<double>::max());
  for (int i = 0; i <= positive_limits; ++i) limits.push_back(-limits[static_cast<std::size_t>(i)]);
  limits.push_back(0);
  std::ranges::sort(limits);
  return limits;
}

}  // namespace

std::span<const double> histogram_limits() {
  static const std::vector<double> limits = all_limits();
  return limits;
}

Histogram histogram(Output x) {
  const Output node = add_node(histogram_op(), {x});
  return {node, node.output(1)};
}

std::vector<Op> histogram_ops() { return {on_all_devices<histogram_kernel>(histogram_op())}; }

}  // namespace actorflow
