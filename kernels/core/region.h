// Regions of a graph (dataflow/transform/region.h) as kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataflow/transform/region.h"
#include "kernels/core/kernel.h"

namespace actorflow {

// Whether a region may contain this node: not if its op needs the host or has strings, which are always
// on the host.
bool runs_without_the_host(const Node& node);

// The nodes of a region with their kernels. Thread-safe.
class RegionBody {
 public:
  // Throws Error if a node has no kernel for the device.
  RegionBody(Region region, const OpLibrary& ops, DeviceType device);

  int inputs() const { return inputs_; }
  // Computes the nodes in their order on `device`, where the inputs are. A tensor is released at its
  // last use, which may overwrite it. Throws the Error of a node, naming it.
  std::vector<Tensor> run(std::span<const Tensor> inputs, Device& device, Team* team = nullptr,
                          const Interruption* interruption = nullptr) const;

 private:
  // An input of a node: its place in a run's frame, and whether this is its last use.
  struct Use {
    std::size_t place;
    bool last;
  };
  struct Step {
    const Node* node;
    std::unique_ptr<Kernel> kernel;
    std::vector<Use> inputs;
    std::size_t first_output;
    std::vector<bool> used;  // of the outputs
  };

  void find_last_uses();

  Region region_;
  int inputs_ = 0;
  std::size_t frame_size_ = 0;
  std::vector<Step> steps_;
  std::vector<Use> outputs_;
};

// The kernel that computes a region: node after node on a CPU; on a GPU, if it has more than a few
// nodes, captured into a CUDA graph at the third call with a combination of input shapes, for up to four
// of them, which later calls launch at once. If a capture fails, or others lack the memory that the
// graphs hold, it runs the nodes one by one from then on; it says so once on standard error unless
// memory was the reason. Throws as RegionBody.
std::unique_ptr<Kernel> make_region(const Region& region, const OpLibrary& ops, DeviceType device);

// How often regions have been launched as CUDA graphs in this process: tests see by it that what gives
// the right bits was captured at all. Thread-safe.
std::uint64_t graph_launches();

}  // namespace actorflow
