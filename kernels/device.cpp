#include "kernels/device.h"

#include <unistd.h>

#include "kernels/pool.h"

namespace actorflow {
namespace {

class CpuDevice final : public Device {
 public:
  DeviceType type() const override { return DeviceType::cpu; }
  int index() const override { return 0; }
  std::int64_t memory_bytes() const override {
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  }
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
