#include "bench/gpu/gpu.h"

#include <map>

#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"
#include "kernels/devices/device.h"
#ifdef ACTORFLOW_CUDA
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#endif

namespace actorflow::bench {

#ifdef ACTORFLOW_CUDA

double device_copy_gb_per_second(std::size_t size_bytes, int copies) {
  Allocator& pool = cuda_device(0).allocator();
  const BufferRef from = pool.allocate(size_bytes), to = pool.allocate(size_bytes);
  const auto copy = [&] {
    cudaMemcpyAsync(to->data(), from->data(), size_bytes, cudaMemcpyDeviceToDevice);
  };
  copy();
  cudaDeviceSynchronize();
  const double seconds = seconds_of([&] {
    for (int i = 0; i < copies; ++i) copy();
    cudaDeviceSynchronize();
  });
  return 2.0 * static_cast<double>(size_bytes) * copies / seconds / 1e9;
}

void profile(const std::function<void()>& run) {
  cudaProfilerStart();
  run();
  cudaProfilerStop();
}

#else

double device_copy_gb_per_second(std::size_t, int) { throw Skipped("this build has no CUDA"); }
void profile(const std::function<void()>& run) { run(); }

#endif

double pytorch_on_gpu(const std::string& name, bool quick) {
  static std::map<std::string, double> figures;
  if (figures.empty()) figures = pytorch_gpu_figures(quick);
  const auto found = figures.find(name);
  if (found == figures.end()) throw Skipped("PyTorch gave no figure; it needs a GPU, too");
  return found->second;
}

}  // namespace actorflow::bench
