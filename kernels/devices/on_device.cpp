#include "kernels/devices/on_device.h"

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The GPU from whose pool the tensor's memory is.
Device& gpu_of(const Tensor& tensor) {
  for (int i = 0; i < cuda_device_count(); ++i)
    if (&cuda_device(i).allocator() == &tensor.buffer()->owner()) return cuda_device(i);
  throw Error(Code::internal, tensor.describe() + " is in the memory of no device of this process");
}

}  // namespace

Tensor on_device(Tensor tensor, Device& device) {
  const bool wants_host = device.type() == DeviceType::cpu || tensor.dtype() == DType::string;
  if (tensor.on_host()) return wants_host ? tensor : device.to_device(tensor);
  Device& source = gpu_of(tensor);
  if (&source == &device) return tensor;
  const Tensor host = source.to_host(tensor);
  return wants_host ? host : device.to_device(host);
}

}  // namespace actorflow
