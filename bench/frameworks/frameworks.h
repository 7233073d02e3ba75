// Other frameworks as baselines, where Python has them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace actorflow::bench {

// A framework: its name, how benchmarks are named after it, its Python package, and the script of this
// folder that trains models with it.
struct Framework {
  std::string name, suffix, package, script;
};
extern const Framework pytorch, tensorflow, jax;

// Training steps per second on the CPU: the best figure that the framework's script prints for the
// model, with one and with two threads. It runs in processes of $ACTORFLOW_PYTHON if that is set, else
// of the python3 in the PATH. Throws Skipped if that lacks the framework.
double steps_per_second(const Framework& framework, const std::string& model, bool quick);

// Training steps per second of two processes of one thread, whose gradients PyTorch's
// DistributedDataParallel averages over gloo. Throws Skipped if there is no PyTorch.
double ddp_steps_per_second(const std::string& model, bool quick);

// Training steps per second of TensorFlow's two parameter servers and two workers, processes of one
// thread. A synchronous step takes a batch of each worker, an asynchronous one a batch of one of them.
// Throws Skipped if there is no TensorFlow.
double tensorflow_ps_steps_per_second(const std::string& model, bool synchronous, bool quick);

// Million nodes per second that TensorFlow's executor runs in graphs of so many nodes that compute
// nothing. Throws Skipped if there is no TensorFlow.
double tensorflow_null_ops(int nodes, int threads, int steps_in_flight, bool quick);

// Nanoseconds that PyTorch takes for one of `ops` small ops in a chain. Throws Skipped if there is no
// PyTorch.
double pytorch_eager_ns(int ops, int chains);

// Milliseconds of an all-reduce of float32 by PyTorch's gloo, on processes of this machine. Throws
// Skipped if there is no PyTorch.
double gloo_milliseconds(int ranks, std::int64_t bytes, int rounds);

// Seconds that torchrun takes for a job of so many tasks, which make one step with gloo on this machine.
// Throws Skipped if there is no PyTorch.
double torchrun_seconds(int tasks);

// What pytorch_gpu.py prints, by name: calls or steps per second on the GPU. Empty if PyTorch has no
// GPU; throws Skipped if there is no PyTorch. Takes a minute or two, for PyTorch compiles the models.
std::map<std::string, double> pytorch_gpu_figures(bool quick);

}  // namespace actorflow::bench
