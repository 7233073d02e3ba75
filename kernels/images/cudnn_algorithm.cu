#ifdef ACTORFLOW_CUDNN

#include "kernels/images/cudnn_algorithm.h"

#include <limits>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "dataflow/values/short_float.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/images/padded_images.h"
#include "kernels/loops/elementwise.h"
#include "kernels/loops/packs.h"

namespace actorflow {
namespace {

// A tensor as the plan wants it: the caller's own, or one in memory of the device.
struct Operand {
  const void* data = nullptr;
  BufferRef memory{};
};

template <class T>
Operand new_operand(Device& device, std::int64_t elements) {
  BufferRef memory = device.allocator().allocate(static_cast<std::size_t>(elements) * sizeof(T));
  const void* const data = memory->data();
  return {data, std::move(memory)};
}

template <class T>
T* elements_of(const Operand& operand) {
  return static_cast<T*>(operand.memory->data());
}

template <class T>
struct RoundTo {
  ACTORFLOW_HOST_DEVICE T operator()(float x) const { return T(x); }
};

template <class T>
Operand rounded_operand(Device& device, std::int64_t elements, const float* from) {
  if constexpr (std::is_same_v<T, float>) return {from};
  Operand copy = new_operand<T>(device, elements);
  run_unary<RoundTo<T>>(device, elements, from, elements_of<T>(copy));
  return copy;
}

// Calls body.run<n>(i, ours) for packs of n channels that begin at element i of the padded images, where
// `ours` is the place of that element in the images, negative in the padding.
template <int n, class Index, class Body>
void for_padded_packs(Device& device, const ConvShape& s, const Body& body) {
  const PaddedPlaces<Index> places(s, n);
  launch(device, places.packs(), [=] __device__(std::int64_t pack) {
    body.template run<n>(pack * n, places.place_in_images(static_cast<Index>(pack)));
  });
}

template <class Body>
void for_padded_images(Device& device, const ConvShape& s, bool fours, const Body& body) {
  // Dividing 32-bit numbers takes a fraction of the time.
  if (padded(s).images().elements() > 0xffff'ffff)
    for_padded_packs<1, std::int64_t>(device, s, body);
  else if (fours)
    for_padded_packs<4, std::uint32_t>(device, s, body);
  else
    for_padded_packs<1, std::uint32_t>(device, s, body);
}

template <class T>
struct Pad {
  const float* from;
  T* to;
  template <int n>
  __device__ void run(std::int64_t i, std::int64_t ours) const {
    Pack<float, n> pack{};
    if (ours >= 0) pack = load_pack<n>(from + ours);
    Pack<T, n> rounded;
#pragma unroll
    for (int k = 0; k < n; ++k) rounded.values[k] = T(pack.values[k]);
    store_pack(to + i, rounded);
  }
};

struct Unpad {
  const float* from;
  float* to;
  template <int n>
  __device__ void run(std::int64_t i, std::int64_t ours) const {
    if (ours >= 0) store_pack(to + ours, load_pack<n>(from + i));
  }
};

template <class T>
Operand images_operand(Device& device, const ConvShape& s, bool pads, const float* from) {
  if (!pads) return rounded_operand<T>(device, s.images().elements(), from);
  Operand copy = new_operand<T>(device, padded(s).images().elements());
  for_padded_images(device, s, in_fours(s.in, from), Pad<T>{from, elements_of<T>(copy)});
  return copy;
}

void unpad_images(Device& device, const ConvShape& s, const float* from, float* to) {
  for_padded_images(device, s, in_fours(s.in, from, to), Unpad{from, to});
}

// Calls body(theirs, ours) for the elements of a filter: [height, width, in, out] is our order,
// [out, height, width, in] cuDNN's.
template <class Body>
void for_filter(Device& device, const ConvShape& s, const Body& body) {
  const auto out = static_cast<std::uint32_t>(s.out);
  const auto rest = static_cast<std::uint32_t>(s.filter_elements() / s.out);
  launch(device, s.filter_elements(), [=] __device__(std::int64_t i) {
    const auto theirs = static_cast<std::uint32_t>(i);
    body(theirs, theirs % rest * out + theirs / rest);
  });
}

template <class T>
Operand filter_operand(Device& device, const ConvShape& s, const float* from) {
  Operand copy = new_operand<T>(device, s.filter_elements());
  T* const to = elements_of<T>(copy);
  for_filter(device, s,
             [=] __device__(std::uint32_t theirs, std::uint32_t ours) { to[theirs] = T(from[ours]); });
  return copy;
}

void take_filter(Device& device, const ConvShape& s, const float* from, float* to) {
  for_filter(device, s,
             [=] __device__(std::uint32_t theirs, std::uint32_t ours) { to[ours] = from[theirs]; });
}

}  // namespace

template <class Factor>
void CudnnAlgorithm::run_with(cudnnHandle_t handle, Device& device, const ConvShape& s,
                              const ConvTensors& t) const {
  const bool makes_images = direction_ == ConvDirection::backprop_input;
  const bool makes_filter = direction_ == ConvDirection::backprop_filter;
  const Operand result{t.result};
  const Operand images = !makes_images ? images_operand<Factor>(device, s, pads_, t.images)
                         : pads_       ? new_operand<float>(device, padded(s).images().elements())
                                       : result;
  const Operand filter = makes_filter ? new_operand<float>(device, s.filter_elements())
                                      : filter_operand<Factor>(device, s, t.filter);
  const Operand outputs = direction_ == ConvDirection::forward
                              ? result
                              : rounded_operand<Factor>(device, s.outputs().elements(), t.outputs);
  const DeviceScratch<std::byte> workspace(device, static_cast<std::int64_t>(plan_.workspace_bytes()));
  plan_.run(handle, images.data, filter.data, outputs.data, workspace.data());
  if (makes_images && pads_) unpad_images(device, s, elements_of<float>(images), t.result);
  if (makes_filter) take_filter(device, s, elements_of<float>(filter), t.result);
}

void CudnnAlgorithm::run(cudnnHandle_t handle, Device& device, const ConvShape& shape,
                         const ConvTensors& tensors) const {
  factors_ == DType::bfloat16 ? run_with<BFloat16>(handle, device, shape, tensors)
                              : run_with<float>(handle, device, shape, tensors);
}

namespace {

using Candidates = std::vector<std::shared_ptr<const CudnnAlgorithm>>;

Candidates candidates(cudnnHandle_t handle, const ConvShape& shape, ConvDirection direction,
                      Precision precision) {
  constexpr std::size_t most_of_a_kind = 8;
  Candidates all;
  std::string reasons;
  const bool pads = !pads_alike(shape);
  const auto add = [&](DType factors) {
    try {
      for (auto& plan : cudnn_conv_plans(handle, pads ? padded(shape) : shape, direction, factors,
                                         precision != Precision::float32, most_of_a_kind))
        all.push_back(std::make_shared<CudnnAlgorithm>(std::move(plan), direction, factors, pads));
    } catch (const Error& error) {
      if (error.code() == Code::resource_exhausted) throw;
      reasons += std::string("; ") + error.what();  // it has none of this kind
    }
  };
  add(DType::float32);
  if (precision == Precision::bf16) add(DType::bfloat16);
  if (all.empty())
    throw Error(Code::unimplemented,
                "cuDNN has no engine for a convolution that gives the same bits each time" + reasons);
  return all;
}

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_), "create an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record(cudaStream_t stream) { check_cuda(cudaEventRecord(event_, stream), "record an event"); }
  float milliseconds_since(const Event& begin) {
    check_cuda(cudaEventSynchronize(event_), "wait for an event");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "measure a time");
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

std::int64_t second_level_cache_bytes(const Device& device) {
  int bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device.index()),
             "ask for the size of its cache");
  return bytes;
}

// Infinite for one that does not run, for want of memory for example. The tensors are not in the cache:
// in a training step they come from a while ago, and what is best for warm ones took half as long again.
float milliseconds_of(const CudnnAlgorithm& algorithm, cudnnHandle_t handle, Device& device,
                      const ConvShape& shape, const ConvTensors& tensors) try {
  constexpr int runs = 3;
  const cudaStream_t stream = cuda_stream(device);
  const std::int64_t other_bytes = 2 * second_level_cache_bytes(device);
  const DeviceScratch<std::byte> other(device, other_bytes);
  algorithm.run(handle, device, shape, tensors);  // loads its code
  float sum = 0;
  for (int i = 0; i < runs; ++i) {
    check_cuda(cudaMemsetAsync(other.data(), 0, static_cast<std::size_t>(other_bytes), stream),
               "empty the cache");
    Event begin, end;
    begin.record(stream);
    algorithm.run(handle, device, shape, tensors);
    end.record(stream);
    sum += end.milliseconds_since(begin);
  }
  return sum;
} catch (const Error&) {
  cudaGetLastError();  // Forget it: the next launch must not report it.
  return std::numeric_limits<float>::infinity();
}

bool is_capturing(Device& device) {
  auto status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(cuda_stream(device), &status), "ask whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

// A later choice of cuDNN's must be faster by a tenth: what takes about as long does not change from run
// to run with the noise of the measurement.
std::shared_ptr<const CudnnAlgorithm> fastest(const Candidates& all, cudnnHandle_t handle,
                                              Device& device, const ConvShape& shape,
                                              const ConvTensors& tensors) {
  if (all.size() == 1 || is_capturing(device)) return all.front();
  auto best = all.front();
  float least = milliseconds_of(*best, handle, device, shape, tensors);
  for (const auto& other : std::span(all).subspan(1)) {
    const float time = milliseconds_of(*other, handle, device, shape, tensors);
    if (time >= 0.9F * least) continue;
    least = time;
    best = other;
  }
  return best;
}

}  // namespace

std::shared_ptr<const CudnnAlgorithm> cudnn_algorithm(cudnnHandle_t handle, Device& device,
                                                      const ConvShape& shape, ConvDirection direction,
                                                      Precision precision, const ConvTensors& tensors) {
  using Key = std::tuple<int, ConvShape, ConvDirection, Precision>;
  constexpr std::size_t most_kept = 1024;  // shapes come from programs, so that there are few
  static std::mutex mutex;
  static auto* chosen = new std::vector<std::pair<Key, std::shared_ptr<const CudnnAlgorithm>>>;
  const Key wanted(device.index(), shape, direction, precision);
  const std::lock_guard lock(mutex);
  for (const auto& [key, algorithm] : *chosen)
    if (key == wanted) return algorithm;
  if (chosen->size() == most_kept) chosen->clear();
  auto best = fastest(candidates(handle, shape, direction, precision), handle, device, shape, tensors);
  chosen->emplace_back(wanted, best);
  return best;
}

}  // namespace actorflow

#endif
