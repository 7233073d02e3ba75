// What the benchmarks of GPUs measure against.
#pragma once

#include <cstddef>
#include <string>

namespace actorflow::bench {

// GB/s, counting bytes read and written, of copying `size_bytes` from one place of GPU:0's memory to
// another. Throws Skipped in a build without CUDA.
double device_copy_gb_per_second(std::size_t size_bytes, int copies);

// Calls or steps per second of what pytorch_gpu.py knows by this name. The script measures all names
// once, at the first call: compiling models takes a minute. Throws Skipped if Python has no PyTorch with
// a GPU.
double pytorch_on_gpu(const std::string& name, bool quick);

}  // namespace actorflow::bench
