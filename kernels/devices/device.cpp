#include "kernels/devices/device.h"

#include <unistd.h>

#include "kernels/devices/page_locks.h"
#include "kernels/devices/pool.h"

namespace actorflow {
namespace {

// The CPU, with whatever allocator.
class Cpu : public Device {
 public:
  DeviceType type() const override { return DeviceType::cpu; }
  int index() const override { return 0; }
  std::int64_t memory_bytes() const override {
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  }
  Tensor to_device(const Tensor& host) override { return host; }
  Tensor to_host(const Tensor& tensor) override { return tensor; }
};

class CpuWithPool final : public Cpu {
 public:
  Allocator& allocator() override { return pool_; }

 private:
  Pool pool_{cpu_memory()};
};

// Chooses between two allocators by size. Blocks go back to the allocator that they came from.
class BySize final : public Allocator {
 public:
  BySize(Allocator& small, Allocator& large, std::size_t large_bytes)
      : small_(small), large_(large), large_bytes_(large_bytes) {}

  BufferRef allocate(std::size_t size_bytes) override {
    return (size_bytes < large_bytes_ ? small_ : large_).allocate(size_bytes);
  }

 private:
  void release(Buffer*) override {}

  Allocator& small_;
  Allocator& large_;
  const std::size_t large_bytes_;
};

class CpuBySize final : public Cpu {
 public:
  CpuBySize(Allocator& large, std::size_t large_bytes)
      : allocator_(cpu_device().allocator(), large, large_bytes) {}
  Allocator& allocator() override { return allocator_; }

 private:
  BySize allocator_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(Allocator& large, std::size_t large_bytes) {
  return std::make_unique<CpuBySize>(large, large_bytes);
}

Device& cpu_device() {
  // Never destroyed: tensors may outlive every static object.
  static auto* device = new CpuWithPool;
  return *device;
}

}  // namespace actorflow
