// PyTorch as a baseline, where it is installed.
#pragma once

#include <map>
#include <string>

namespace actorflow::bench {

// Training steps per second on the CPU of a model of pytorch_step.py, the better of one and two threads,
// in a process of its own: of $ACTORFLOW_PYTHON if that is set, else of the python3 in the PATH. Throws
// Skipped if that has no PyTorch.
double pytorch_steps_per_second(const std::string& model, bool quick);

// What pytorch_gpu.py prints, by name: calls or steps per second on the GPU. Empty if PyTorch has no GPU;
// throws Skipped if there is no PyTorch. Takes a minute or two, for PyTorch compiles the models.
std::map<std::string, double> pytorch_gpu_figures(bool quick);

}  // namespace actorflow::bench
