// Regions on a GPU: captured into CUDA graphs, launched at once.
#ifdef ACTORFLOW_CUDA

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/core/capturing_device.h"
#include "kernels/core/joint_copies.h"
#include "kernels/core/region_kernel.h"
#include "kernels/devices/memory_holders.h"

namespace actorflow {
namespace {

bool are_shapes_of(const std::vector<Shape>& shapes, const OpContext& c) {
  for (int i = 0; i < c.inputs(); ++i)
    if (c.input(i).shape() != shapes[static_cast<std::size_t>(i)]) return false;
  return true;
}

std::vector<Shape> shapes_of(const OpContext& c) {
  std::vector<Shape> shapes;
  for (int i = 0; i < c.inputs(); ++i) shapes.push_back(c.input(i).shape());
  return shapes;
}

// A region captured for one combination of input shapes. A launch copies the inputs into the graph's own
// tensors and the outputs out of them, all on the device's stream: many steps may launch it, and each
// finds the tensors free when its turn on the stream comes. By one thread at a time.
class CapturedGraph {
 public:
  // Runs the body twice: on the device's stream, to have all memory, constants, library handles and
  // plans, and to capture it.
  CapturedGraph(const RegionBody& body, CapturingDevice& device, const OpContext& c)
      : shapes_(shapes_of(c)) {
    for (int i = 0; i < c.inputs(); ++i)
      inputs_.push_back(Tensor::allocate(c.input(i).dtype(), c.input(i).shape(), device.allocator()));
    copy_in(c);
    body.run(inputs_, device);
    const cudaGraph_t captured = device.capture([&] { outputs_ = body.run(inputs_, device); });
    if (!captured) throw Error(Code::internal, "CUDA made no graph of what was captured");
    const auto result = cudaGraphInstantiateWithFlags(&graph_, captured, 0);
    cudaGraphDestroy(captured);
    check_cuda(result, "instantiate a graph");
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() { cudaGraphExecDestroy(graph_); }

  bool is_for(const OpContext& c) const { return are_shapes_of(shapes_, c); }

  void launch(OpContext& c) {
    copy_in(c);
    const cudaStream_t stream = cuda_stream(c.device());
    check_cuda(cudaGraphLaunch(graph_, stream), "launch a graph");
    JointCopies copies(stream);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      copies.add(
          c.allocate_output(static_cast<int>(i), outputs_[i].dtype(), outputs_[i].shape()), outputs_[i]);
    copies.launch();
  }

 private:
  void copy_in(const OpContext& c) {
    JointCopies copies(cuda_stream(c.device()));
    for (int i = 0; i < c.inputs(); ++i) copies.add(inputs_[static_cast<std::size_t>(i)], c.input(i));
    copies.launch();
  }

  const std::vector<Shape> shapes_;  // of the inputs
  std::vector<Tensor> inputs_, outputs_;
  cudaGraphExec_t graph_ = nullptr;
};

// How often the latest combinations of input shapes have come. A capture takes longer than many plain
// runs, and holds memory: not worth it for a step that runs once, or for ever new shapes.
class ShapeCounts {
 public:
  // Counts the shapes of the inputs and returns how often they have come.
  int count(const OpContext& c) {
    const auto known = std::ranges::find_if(
        counts_, [&c](const auto& entry) { return are_shapes_of(entry.first, c); });
    if (known != counts_.end()) return ++known->second;
    if (counts_.size() == most_kept) counts_.pop_front();
    counts_.emplace_back(shapes_of(c), 1);
    return 1;
  }

 private:
  static constexpr std::size_t most_kept = 8;

  std::deque<std::pair<std::vector<Shape>, int>> counts_;
};

// The graphs of a region. They share their memory, since the device's stream runs them one after the
// other. By one thread at a time.
class CapturedGraphs {
 public:
  CapturedGraphs(RegionBody body, Device& device) : device_(device), body_(std::move(body)) {}

  // Null if there is none.
  CapturedGraph* find(const OpContext& c) const {
    for (const auto& graph : graphs_)
      if (graph->is_for(c)) return graph.get();
    return nullptr;
  }
  bool full() const { return graphs_.size() == max_graphs; }
  // REQUIRES: not full().
  CapturedGraph& capture(const OpContext& c) {
    return *graphs_.emplace_back(std::make_unique<CapturedGraph>(body_, device_, c));
  }

 private:
  static constexpr std::size_t max_graphs = 4;  // a node sees few shapes: a full batch and the last one

  CapturingDevice device_;  // outlives the tensors of all others
  RegionBody body_;         // its constants are in the graphs' memory
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;
};

// Whether this thread is with a region's graphs. What it allocates then takes no other region's memory:
// graphs are not made at the cost of others.
thread_local bool is_with_graphs = false;

struct WithGraphs {
  WithGraphs() { is_with_graphs = true; }
  WithGraphs(const WithGraphs&) = delete;
  WithGraphs& operator=(const WithGraphs&) = delete;
  ~WithGraphs() { is_with_graphs = false; }
};

// The graphs of a region and when they are made. They are given up for good if that fails, or if others
// lack the memory. Thread-safe.
class Launches final : public MemoryHolder {
 public:
  explicit Launches(RegionBody to_capture) : to_capture_(std::move(to_capture)) {}
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;
  ~Launches() override {
    if (holders_) holders_->remove(*this);
  }

  // Computes the outputs by a graph. False if the nodes are to run one by one. The lock keeps together
  // what one launch puts on the stream.
  bool launch(OpContext& c) {
    const std::lock_guard lock(mutex_);
    const WithGraphs mark;
    if (given_up_) return false;
    try {
      CapturedGraph* const graph = find_or_capture(c);
      if (!graph) return false;
      graph->launch(c);
      ++graph_launch_count();
      return true;
    } catch (const Error& error) {
      // Errors of the inputs are thrown again when the nodes run one by one.
      if (error.code() != Code::invalid_argument) fail(c.node(), error);
      return false;
    }
  }

  // Not while a thread, which may be this one, captures or launches.
  bool give_back() noexcept override {
    if (is_with_graphs) return false;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !graphs_) return false;
    give_up();
    return true;
  }

 private:
  static constexpr int captured_at = 3;  // the number of the run with some shapes

  // Null if the nodes are to run one by one.
  CapturedGraph* find_or_capture(const OpContext& c) {
    CapturedGraph* const known = graphs_ ? graphs_->find(c) : nullptr;
    if (known || (graphs_ && graphs_->full()) || counts_.count(c) < captured_at) return known;
    if (!graphs_) make_graphs(c.device());
    return &graphs_->capture(c);
  }

  void make_graphs(Device& device) {
    holders_ = &memory_holders(device.index());
    holders_->add(*this);
    graphs_ = std::make_unique<CapturedGraphs>(std::move(to_capture_), device);
  }

  // Says so, unless the graphs would only have taken too much memory.
  void fail(const Node& node, const Error& error) {
    give_up();
    if (error.code() == Code::resource_exhausted) return;
    std::fprintf(stderr, "actorflow: the region of node '%s' is not captured into a CUDA graph: %s\n",
                 node.name.c_str(), error.what());
  }

  // CUDA destroys a graph that still runs when it is done, and the next user of its memory comes later
  // on the same stream.
  void give_up() noexcept {
    given_up_ = true;
    graphs_.reset();
  }

  std::mutex mutex_;
  bool given_up_ = false;
  ShapeCounts counts_;
  RegionBody to_capture_;  // until the first capture
  std::unique_ptr<CapturedGraphs> graphs_;
  MemoryHolders* holders_ = nullptr;  // from the first capture on
};

class CapturedRegion final : public Kernel {
 public:
  CapturedRegion(const Region& region, const OpLibrary& ops)
      : nodes_(region, ops, DeviceType::cuda), launches_({region, ops, DeviceType::cuda}) {}

  void compute(OpContext& c) const override {
    if (!launches_.launch(c)) run_plainly(nodes_, c);
  }

 private:
  const RegionBody nodes_;
  mutable Launches launches_;
};

}  // namespace

std::unique_ptr<Kernel> make_captured_region(const Region& region, const OpLibrary& ops) {
  return std::make_unique<CapturedRegion>(region, ops);
}

}  // namespace actorflow

#endif
