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
  // Of the whole device; 0 if that is not known.
  virtual std::int64_t memory_bytes() const { return 0; }
  // A pool; outlives every tensor that it made.
  virtual Allocator& allocator() = 0;
  // A copy of a host tensor on this device, or of this device's tensor on the host. On a CPU both
  // return the same tensor. String tensors stay on the host.
  virtual Tensor to_device(const Tensor& host) = 0;
  virtual Tensor to_host(const Tensor& tensor) = 0;
  // Waits until everything that this thread has launched on the device is done.
  virtual void synchronize() {}
};

// The CPU of the process.
Device& cpu_device();
// The same, but that tensors of `large_bytes` or more come from `large`, which outlives it and them.
std::unique_ptr<Device> make_cpu_device(Allocator& large, std::size_t large_bytes);
// The GPUs that this build and machine have: empty without CUDA or without a GPU.
int cuda_device_count();
// Throws not_found, naming the devices that exist.
Device& cuda_device(int index);

}  // namespace actorflow
