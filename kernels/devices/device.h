// A device: where kernels run and where their tensors live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "dataflow/values/buffer.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

enum class DeviceType : std::uint8_t { cpu, cuda };

// Thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceType type() const = 0;
  virtual int index() const = 0;
  // The memory of the whole device; 0 if unknown.
  virtual std::int64_t memory_bytes() const { return 0; }
  // The device's pool, which outlives every tensor in it.
  virtual Allocator& allocator() = 0;
  // A copy of a host tensor on this device, or of this device's tensor on the host. On a CPU both
  // return the same tensor. String tensors stay on the host. A GPU may still read a host tensor when
  // to_device() has returned; the device then holds it, so it is not exclusive.
  virtual Tensor to_device(const Tensor& host) = 0;
  virtual Tensor to_host(const Tensor& tensor) = 0;
  // Waits until everything that this thread has launched on the device is done.
  virtual void synchronize() {}
};

// The CPU of the process.
Device& cpu_device();
// A CPU device whose tensors of `large_bytes` or more come from `large`, which must outlive the device
// and these tensors.
std::unique_ptr<Device> make_cpu_device(Allocator& large, std::size_t large_bytes);
// The number of GPUs; 0 in a build without CUDA or on a machine without GPU.
int cuda_device_count();
// The GPU of that index. Throws not_found, naming the devices that exist.
Device& cuda_device(int index);

}  // namespace actorflow
