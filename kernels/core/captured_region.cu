// Regions on a GPU: captured into CUDA graphs, launched at once.
#ifdef ACTORFLOW_CUDA

#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/core/region_kernel.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/pool.h"

namespace actorflow {
namespace {

// The memory in which a CUDA graph works: it is released with the graph, not before.
class GraphMemory final : public MemorySource {
 public:
  explicit GraphMemory(int device) : device_(device) {}
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  // Waits for the device, so no launch still uses the memory.
  ~GraphMemory() override {
    for (void* block : blocks_) cudaFree(block);
  }

  void* take(std::size_t size_bytes) override {
    void* data = nullptr;
    if (cudaMalloc(&data, size_bytes) != cudaSuccess) {
      cudaGetLastError();  // Forget it: the next launch must not report it.
      return nullptr;
    }
    const std::lock_guard lock(mutex_);
    blocks_.push_back(data);
    return data;
  }
  void give_back(void*, std::size_t) noexcept override {}
  MemorySpace space() const override { return MemorySpace::cuda; }
  std::string name() const override { return "GPU:" + std::to_string(device_) + " (CUDA graph)"; }

 private:
  const int device_;
  std::mutex mutex_;
  std::vector<void*> blocks_;
};

// A GPU as the kernels of a region see it while they are captured: another stream, memory of its own.
class CapturingDevice final : public CudaStreamDevice {
 public:
  explicit CapturingDevice(Device& device)
      : index_(device.index()),
        memory_(index_),
        pool_(memory_, std::numeric_limits<std::size_t>::max()) {
    cuda_stream(device);
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
  }
  CapturingDevice(const CapturingDevice&) = delete;
  CapturingDevice& operator=(const CapturingDevice&) = delete;
  ~CapturingDevice() override { cudaStreamDestroy(stream_); }

  int index() const override { return index_; }
  Allocator& allocator() override { return pool_; }
  cudaStream_t stream() override {
    check_cuda(cudaSetDevice(index_), "select a device");
    return stream_;
  }
  bool captured() const override { return true; }
  void synchronize() override {
    refuse_while_capturing();
    check_cuda(cudaStreamSynchronize(stream()), "wait for the device");
  }

  Tensor to_device(const Tensor& host) override {
    if (!host.valid() || host.dtype() == DType::string || !host.on_host()) return host;
    Tensor copy = Tensor::allocate(host.dtype(), host.shape(), pool_);
    copy_now(copy.mutable_data(), host);
    return copy;
  }
  Tensor to_host(const Tensor& tensor) override {
    if (tensor.on_host()) return tensor;
    Tensor copy = Tensor::allocate(tensor.dtype(), tensor.shape(), cpu_device().allocator());
    copy_now(copy.mutable_data(), tensor);
    return copy;
  }

 private:
  void copy_now(void* to, const Tensor& from) {
    refuse_while_capturing();
    check_cuda(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyDefault, stream()),
               "copy a tensor");
    synchronize();
  }
  // Throws while the device is captured: the graph would keep the values of this moment.
  void refuse_while_capturing() {
    auto status = cudaStreamCaptureStatusNone;
    check_cuda(cudaStreamIsCapturing(stream(), &status), "ask whether a stream is captured");
    if (status != cudaStreamCaptureStatusNone)
      throw Error(Code::unimplemented, "a kernel that needs values on the host cannot be captured");
  }

  const int index_;
  GraphMemory memory_;
  Pool pool_;
  cudaStream_t stream_ = nullptr;
};

void copy_on_device(Tensor& to, const Tensor& from, cudaStream_t stream) {
  if (from.size_bytes() == 0) return;
  check_cuda(cudaMemcpyAsync(to.mutable_data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToDevice,
                             stream),
             "copy a tensor");
}

// A region captured for one combination of input shapes. A launch copies the inputs into the graph's own
// tensors and the outputs out of them, all on the device's stream: many steps may launch it, and each
// finds the tensors free when its turn on the stream comes. By one thread at a time.
class CapturedGraph {
 public:
  // Runs the body twice: to have all memory, library handles and plans, and to capture it.
  CapturedGraph(const RegionBody& body, CapturingDevice& device, const OpContext& c) {
    const cudaStream_t stream = device.stream();
    for (int i = 0; i < c.inputs(); ++i) {
      const Tensor& input = c.input(i);
      inputs_.push_back(Tensor::allocate(input.dtype(), input.shape(), device.allocator()));
      copy_on_device(inputs_.back(), input, stream);
    }
    body.run(inputs_, device);
    device.synchronize();
    capture(body, device);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() { cudaGraphExecDestroy(graph_); }

  bool is_for(const OpContext& c) const {
    for (int i = 0; i < c.inputs(); ++i)
      if (c.input(i).shape() != inputs_[static_cast<std::size_t>(i)].shape()) return false;
    return true;
  }

  void launch(OpContext& c) {
    const cudaStream_t stream = cuda_stream(c.device());
    for (int i = 0; i < c.inputs(); ++i)
      copy_on_device(inputs_[static_cast<std::size_t>(i)], c.input(i), stream);
    check_cuda(cudaGraphLaunch(graph_, stream), "launch a graph");
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      Tensor& output = c.allocate_output(static_cast<int>(i), outputs_[i].dtype(), outputs_[i].shape());
      copy_on_device(output, outputs_[i], stream);
    }
  }

 private:
  void capture(const RegionBody& body, CapturingDevice& device) {
    const cudaStream_t stream = device.stream();
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "begin a capture");
    cudaGraph_t captured = nullptr;
    try {
      outputs_ = body.run(inputs_, device);
    } catch (...) {
      cudaStreamEndCapture(stream, &captured);
      if (captured) cudaGraphDestroy(captured);
      cudaGetLastError();  // Forget it: the next launch must not report it.
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream, &captured), "end a capture");
    const auto result = cudaGraphInstantiateWithFlags(&graph_, captured, 0);
    cudaGraphDestroy(captured);
    check_cuda(result, "instantiate a graph");
  }

  std::vector<Tensor> inputs_, outputs_;
  cudaGraphExec_t graph_ = nullptr;
};

// The graphs of a region. They share their memory, since the device's stream runs them one after the
// other. By one thread at a time.
class CapturedGraphs {
 public:
  CapturedGraphs(RegionBody body, Device& device) : device_(device), body_(std::move(body)) {}

  // Null if there have been too many shapes.
  CapturedGraph* find_or_capture(const OpContext& c) {
    for (const auto& graph : graphs_)
      if (graph->is_for(c)) return graph.get();
    if (graphs_.size() == max_graphs) return nullptr;
    // Waits for the inputs, and for graphs under way whose memory the new one will use.
    check_cuda(cudaStreamSynchronize(cuda_stream(c.device())), "wait for the device");
    graphs_.push_back(std::make_unique<CapturedGraph>(body_, device_, c));
    return graphs_.back().get();
  }

 private:
  static constexpr std::size_t max_graphs = 4;  // a node sees few shapes: a full batch and the last one

  CapturingDevice device_;  // outlives the tensors of all others
  RegionBody body_;         // its constants are in the graphs' memory
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;
};

class CapturedRegion final : public Kernel {
 public:
  CapturedRegion(const Region& region, const OpLibrary& ops)
      : nodes_(region, ops, DeviceType::cuda), to_capture_(region, ops, DeviceType::cuda) {}

  void compute(OpContext& c) const override {
    if (!launched(c)) run_plainly(nodes_, c);
  }

 private:
  // The lock keeps together what one launch puts on the stream.
  bool launched(OpContext& c) const {
    const std::lock_guard lock(mutex_);
    if (given_up_) return false;
    try {
      if (!graphs_) graphs_ = std::make_unique<CapturedGraphs>(std::move(to_capture_), c.device());
      CapturedGraph* const graph = graphs_->find_or_capture(c);
      if (graph) graph->launch(c);
      return graph != nullptr;
    } catch (const Error& error) {
      // Errors of the inputs are thrown again when the nodes run one by one.
      if (error.code() != Code::invalid_argument) give_up(c.node(), error);
      return false;
    }
  }

  void give_up(const Node& node, const Error& error) const {
    given_up_ = true;
    graphs_.reset();
    std::fprintf(stderr, "actorflow: the region of node '%s' is not captured into a CUDA graph: %s\n",
                 node.name.c_str(), error.what());
  }

  const RegionBody nodes_;
  mutable std::mutex mutex_;
  mutable bool given_up_ = false;
  mutable RegionBody to_capture_;  // until the first call
  mutable std::unique_ptr<CapturedGraphs> graphs_;
};

}  // namespace

std::unique_ptr<Kernel> make_captured_region(const Region& region, const OpLibrary& ops) {
  return std::make_unique<CapturedRegion>(region, ops);
}

}  // namespace actorflow

#endif
