#include "kernels/update/reproducible_sum.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"
#include "kernels/devices/host_device.h"
#include "kernels/devices/on_device.h"
#include "kernels/loops/vectorised.h"
#include "kernels/update/state_change.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

constexpr int bins = 3;

// The bins of a type: bin b has the digits from 2^(width b - bias) on, and is that of all numbers whose
// exponent's field in the bits is at least width b and less than width (b + 1).
template <class T>
struct Bins;
template <>
struct Bins<float> {
  using Sum = std::int32_t;
  using Bits = std::uint32_t;
  static constexpr int width = 16, bias = 127, mantissa_bits = 23, exponent_mask = 0xff;
};
template <>
struct Bins<double> {
  using Sum = std::int64_t;
  using Bits = std::uint64_t;
  static constexpr int width = 32, bias = 1023, mantissa_bits = 52, exponent_mask = 0x7ff;
};

// As many tensors as a bin's sum can hold, if each adds the most that `width` digits can say; with room
// for carries.
template <class T>
constexpr std::int64_t most_tensors =
    (std::numeric_limits<typename Bins<T>::Sum>::max() >> Bins<T>::width) - 1;

// 2^power, for powers of numbers that are not denormal.
ACTORFLOW_HOST_DEVICE double power_of_two(int power) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + power) << 52U);
}

template <class T>
ACTORFLOW_HOST_DEVICE int bin_of(T x) {
  using B = Bins<T>;
  const auto exponent = std::bit_cast<typename B::Bits>(x) >> B::mantissa_bits;
  return (static_cast<int>(exponent) & B::exponent_mask) / B::width;
}

// Where the sums of some elements are.
template <class T>
struct Places {
  using Sum = typename Bins<T>::Sum;
  Sum* sums[bins];
  std::uint8_t* tops;

  ACTORFLOW_HOST_DEVICE Places from(std::int64_t first) const {
    return {{sums[0] + first, sums[1] + first, sums[2] + first}, tops + first};
  }
};

// The sums of a block of elements, in the first-level cache of a CPU or the registers of a GPU.
template <class T, int size>
struct Block {
  using Sum = typename Bins<T>::Sum;
  Sum sums[bins][size];
  std::uint8_t tops[size];

  ACTORFLOW_HOST_DEVICE Places<T> places() { return {{sums[0], sums[1], sums[2]}, tops}; }
};

template <class T>
ACTORFLOW_HOST_DEVICE void clear(const Places<T>& places, int count) {
  for (auto* sums : places.sums)
    for (int i = 0; i < count; ++i) sums[i] = 0;
  for (int i = 0; i < count; ++i) places.tops[i] = 0;
}

template <class T>
ACTORFLOW_HOST_DEVICE void copy(const Places<T>& from, int count, const Places<T>& to) {
  for (int b = 0; b < bins; ++b)
    for (int i = 0; i < count; ++i) to.sums[b][i] = from.sums[b][i];
  for (int i = 0; i < count; ++i) to.tops[i] = from.tops[i];
}

// Makes the highest bin the one that is `rises` higher; the sums of bins that are too low now are lost.
// Without branches, so that it is vectorised.
template <class T>
ACTORFLOW_HOST_DEVICE void raise(const Places<T>& to, const typename Bins<T>::Sum* rises, int count) {
  using Sum = typename Bins<T>::Sum;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Sum high = to.sums[0][i], middle = to.sums[1][i], low = to.sums[2][i];
    const Sum by_0 = -Sum(rises[i] == 0), by_1 = -Sum(rises[i] == 1), by_2 = -Sum(rises[i] == 2);
    to.sums[0][i] = high & by_0;
    to.sums[1][i] = (middle & by_0) | (high & by_1);
    to.sums[2][i] = (low & by_0) | (middle & by_1) | (high & by_2);
  }
}

// Adds x[i] to the sums of element i, for at most `size` elements.
template <int size, class T>
ACTORFLOW_HOST_DEVICE void add_block(const T* x, int count, const Places<T>& to) {
  using B = Bins<T>;
  using Sum = typename B::Sum;
  int tops[size];
  Sum rises[size];
  double scaled[size];
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const int before = to.tops[i], own = bin_of(x[i]);
    tops[i] = own > before ? own : before;
    rises[i] = tops[i] - before;
  }
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) to.tops[i] = static_cast<std::uint8_t>(tops[i]);
  raise(to, rises, count);
#pragma GCC ivdep
  for (int i = 0; i < count; ++i)
    scaled[i] = static_cast<double>(x[i]) * power_of_two(B::bias - B::width * tops[i]);
  // Each difference and product is exact.
  const double radix = power_of_two(B::width);
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const auto high = static_cast<Sum>(scaled[i]);
    const double rest = (scaled[i] - static_cast<double>(high)) * radix;
    const auto middle = static_cast<Sum>(rest);
    const auto low = static_cast<Sum>((rest - static_cast<double>(middle)) * radix);
    to.sums[0][i] += high;
    to.sums[1][i] += middle;
    to.sums[2][i] += low;
  }
}

// Takes from a sum what is more than half of the next higher bin's unit.
template <class T>
ACTORFLOW_HOST_DEVICE typename Bins<T>::Sum carry(typename Bins<T>::Sum& sum) {
  using Sum = typename Bins<T>::Sum;
  constexpr Sum half = Sum(1) << (Bins<T>::width - 1);
  const Sum carried = (sum + half) >> Bins<T>::width;
  sum -= carried * (2 * half);
  return carried;
}

// The carries keep a higher bin from cancelling what was rounded of the lower ones.
template <class T>
ACTORFLOW_HOST_DEVICE void divide_block(const Places<T>& sums, int count, double divisor, T* means) {
  using B = Bins<T>;
  const double radix = power_of_two(B::width);
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    auto high = sums.sums[0][i], middle = sums.sums[1][i], low = sums.sums[2][i];
    middle += carry<T>(low);
    high += carry<T>(middle);
    const double lower = static_cast<double>(middle) * radix + static_cast<double>(low);
    const double total = static_cast<double>(high) * (radix * radix) + lower;
    // In two steps: the whole power may be that of a denormal number.
    const int power = B::width * sums.tops[i] - B::bias - 2 * B::width;
    means[i] = static_cast<T>(total / divisor * power_of_two(power / 2) * power_of_two(power - power / 2));
  }
}

template <int size, class T>
ACTORFLOW_HOST_DEVICE void add_to(const Places<T>& sums, bool is_first, const T* x, int count) {
  if (is_first) clear(sums, count);
  add_block<size>(x, count, sums);
}

// Without sums the mean is of `last` alone. `last` may be null, and may be `means`.
template <int size, class T>
ACTORFLOW_HOST_DEVICE void mean_of(const Places<T>* sums, const T* last, int count, double divisor,
                                   T* means) {
  Block<T, size> block;
  if (sums)
    copy(*sums, count, block.places());
  else
    clear(block.places(), count);
  if (last) add_block<size>(last, count, block.places());
  divide_block(block.places(), count, divisor, means);
}

// Calls body(first element, their number) with a constant `size` that limits the number, for all
// elements.
template <class Body>
void for_blocks([[maybe_unused]] Device& device, Team* team, std::int64_t elements, const Body& body) {
#ifdef __CUDACC__
  if (device.type() == DeviceType::cuda)
    return launch(device, elements, [=] __host__ __device__(std::int64_t i) {
      body(std::integral_constant<int, 1>(), i, 1);
    });
#endif
  share_out(team, detail::update_shares(elements, elements), [&](std::int64_t first, std::int64_t last) {
    vectorised([first, last, body] {
      using Size = std::integral_constant<int, 512>;
      for (std::int64_t i = first; i < last; i += Size::value)
        body(Size(), i, static_cast<int>(std::min<std::int64_t>(Size::value, last - i)));
    });
  });
}

template <class T>
struct Add {
  Places<T> sums;
  bool is_first;
  const T* x;
  template <class Size>
  ACTORFLOW_HOST_DEVICE void operator()(Size, std::int64_t first, int count) const {
    add_to<Size::value>(sums.from(first), is_first, x + first, count);
  }
};

template <class T>
struct Mean {
  Places<T> sums;
  bool has_sums;
  const T* last;
  double divisor;
  T* means;
  template <class Size>
  ACTORFLOW_HOST_DEVICE void operator()(Size, std::int64_t first, int count) const {
    const Places<T> from = has_sums ? sums.from(first) : sums;
    mean_of<Size::value>(has_sums ? &from : nullptr, last ? last + first : nullptr, count, divisor,
                         means + first);
  }
};

template <class T>
Places<T> places_of(const Tensor& sums, const Tensor& tops) {
  const std::int64_t elements = tops.elements();
  auto* first = static_cast<typename Bins<T>::Sum*>(sums.buffer()->data());
  return {{first, first + elements, first + 2 * elements},
          static_cast<std::uint8_t*>(tops.buffer()->data())};
}

template <class T>
void check_count(std::int64_t tensors) {
  if (tensors > most_tensors<T>)
    throw invalid_argument("expected at most " + std::to_string(most_tensors<T>) +
                           " tensors in a sum, but there is one more");
}

// Calls body(T()) for the type.
template <class Body>
void with_type(DType dtype, const Body& body) {
  if (dtype == DType::float32) return body(float());
  if (dtype == DType::float64) return body(double());
  throw invalid_argument("expected tensors of float32 or float64 to be summed, but got " +
                         std::string(to_string(dtype)));
}

}  // namespace

void ReproducibleSum::add(const Tensor& added, Device& device, Team* team) {
  const Tensor tensor = on_device(added, device);
  with_type(tensor.dtype(), [&]<class T>(T) {
    check_count<T>(count_ + 1);
    const std::int64_t elements = tensor.elements();
    if (count_ == 0) {
      shape_ = tensor.shape();
      dtype_ = tensor.dtype();
      using Sum = typename Bins<T>::Sum;
      tops_ = Tensor::allocate(DType::uint8, {elements}, device.allocator());
      sums_ = Tensor::allocate(dtype_of<Sum>, {bins, elements}, device.allocator());
    }
    ACTORFLOW_CHECK(tensor.dtype() == dtype_ && tensor.shape() == shape_, tensor.describe());
    tops_ = on_device(std::move(tops_), device);
    sums_ = on_device(std::move(sums_), device);
    const auto* x = static_cast<const T*>(tensor.data());
    if (elements > 0)
      for_blocks(device, team, elements, Add<T>{places_of<T>(sums_, tops_), count_ == 0, x});
    ++count_;
  });
}

Tensor ReproducibleSum::mean(Tensor last, Device& device, Team* team) const {
  ACTORFLOW_CHECK(count_ > 0 || last.valid(), "the mean of nothing");
  if (last.valid()) last = on_device(std::move(last), device);
  const Tensor sums = count_ > 0 ? on_device(sums_, device) : Tensor();
  const Tensor tops = count_ > 0 ? on_device(tops_, device) : Tensor();
  const DType dtype = count_ > 0 ? dtype_ : last.dtype();
  Tensor means = last.exclusive()
                     ? last
                     : Tensor::allocate(dtype, count_ > 0 ? shape_ : last.shape(), device.allocator());
  with_type(dtype, [&]<class T>(T) {
    const std::int64_t count = count_ + (last.valid() ? 1 : 0);
    check_count<T>(count);
    const auto* x = last.valid() ? static_cast<const T*>(last.data()) : nullptr;
    const auto places = count_ > 0 ? places_of<T>(sums, tops) : Places<T>{};
    if (means.elements() > 0)
      for_blocks(device, team, means.elements(),
                 Mean<T>{places, count_ > 0, x, static_cast<double>(count),
                         static_cast<T*>(means.mutable_data())});
  });
  return means;
}

}  // namespace actorflow
