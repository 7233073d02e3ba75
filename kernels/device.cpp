#include "kernels/device.h"

#include "kernels/pool.h"

namespace actorflow {
namespace {

class CpuDevice final : public Device {
 public:
  DeviceType type() const override { return DeviceType::cpu; }
  int index() const override { return 0; }
  Allocator& allocator() override { return pool_; }
  Tensor to_device(const Tensor& host) override { return host; }
  Tensor to_host(const Tensor& tensor) override { return tensor; }

 private:
  Pool pool_{host_memory()};
};

}  // namespace

Device& cpu_device() {
  // Never destroyed: tensors may outlive every static object.
  static auto* device = new CpuDevice;
  return *device;
}

}  // namespace actorflow
