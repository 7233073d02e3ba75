// Baselines of the GPU benchmarks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace actorflow::bench {

// Writes a Chrome trace of a training step of "resnet20", batch 512, or "transformer" on GPU:0. With
// CUDA_LAUNCH_BLOCKING=1 in the environment a node's time includes that of its kernels on the GPU.
// Throws Skipped without a GPU.
void write_gpu_trace(const std::string& path, const std::string& model);

// GB/s, counting bytes read and written, of copying `size_bytes` from one place of GPU:0's memory to
// another. Throws Skipped in a build without CUDA.
double device_copy_gb_per_second(std::size_t size_bytes, int copies);

// Calls run(), as the only part of the program that a profiler sees which was told to wait for that:
// ncu --profile-from-start off.
void profile(const std::function<void()>& run);

// Calls or steps per second of what pytorch_gpu.py knows by this name. The script measures all names
// once, at the first call: compiling models takes a minute. Throws Skipped if Python has no PyTorch with
// a GPU.
double pytorch_on_gpu(const std::string& name, bool quick);

}  // namespace actorflow::bench
