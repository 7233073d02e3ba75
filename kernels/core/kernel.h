// Kernels: how an op is computed on a device.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"
#include "kernels/core/computing.h"
#include "kernels/devices/device.h"
#include "kernels/devices/team.h"

namespace actorflow {

// Tells a running computation that nobody wants its results any more. Thread-safe.
class Interruption {
 public:
  virtual ~Interruption() = default;
  virtual bool is_interrupted() const = 0;
};

// One execution of a node: its inputs, on the node's device, and the place of its outputs. Used by the
// computing thread only.
class OpContext {
 public:
  // Without a `team` the parts of a kernel run one after the other; without an `interruption` it is
  // never interrupted.
  OpContext(const Node& node, Device& device, std::span<Tensor> inputs, std::span<Tensor> outputs,
            Team* team = nullptr, const Interruption* interruption = nullptr)
      : node_(node),
        device_(device),
        inputs_(inputs),
        outputs_(outputs),
        team_(team),
        interruption_(interruption),
        computing_(node) {}

  const Node& node() const { return node_; }
  Device& device() const { return device_; }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  const Tensor& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }

  // Allocates output `i` from the device's pool, not initialised.
  Tensor& allocate_output(int i, DType dtype, const Shape& shape);
  // Output `i` in the memory of input `input` if that has no other holder and the same type and shape,
  // else newly allocated. The kernel must read each element before it writes it.
  Tensor& forward_or_allocate(int input, int i, DType dtype, const Shape& shape);
  void set_output(int i, Tensor tensor) { outputs_[static_cast<std::size_t>(i)] = std::move(tensor); }
  Tensor& output(int i) { return outputs_[static_cast<std::size_t>(i)]; }
  int outputs() const { return static_cast<int>(outputs_.size()); }
  // Memory for the duration of the call.
  BufferRef scratch(std::size_t size_bytes) { return device_.allocator().allocate(size_bytes); }

  // Calls part(0) to part(parts - 1), on several threads if some are free, and returns when all are
  // done. `parts` must follow from the shapes alone (team.h).
  void parallel(int parts, const std::function<void(int)>& part) const;
  // May be null.
  Team* team() const { return team_; }
  const Interruption* interruption() const { return interruption_; }
  // Throws aborted if nobody wants the result any more. Called now and then by kernels that may run for
  // seconds.
  void expect_use() const;

  // Throws invalid_argument: "node 'x' (MatMul): expected ..., got ...".
  [[noreturn]] void fail(const std::string& expected, const std::string& actual) const;

 private:
  const Node& node_;
  Device& device_;
  std::span<Tensor> inputs_;
  std::span<Tensor> outputs_;
  Team* team_;
  const Interruption* interruption_;
  Computing computing_;
};

// Computes one node. A kernel is pure: it keeps nothing from one call to the next that changes a result
// (caches of primitives are allowed), so `compute` may run on several threads at once. Shapes may differ
// from call to call. Throws Error for input that it cannot accept.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void compute(OpContext& context) const = 0;
};

// Makes the kernel of a node: reads and checks its attributes once. Throws Error if they are wrong.
using KernelMaker = std::unique_ptr<Kernel> (*)(const Node&);

// The KernelMaker of a plain function: a kernel without members.
template <void (*function)(OpContext&)>
std::unique_ptr<Kernel> stateless(const Node&) {
  struct Stateless final : Kernel {
    void compute(OpContext& context) const override { function(context); }
  };
  return std::make_unique<Stateless>();
}

class OpLibrary;

// As KernelMaker, for a node with subgraphs, whose nodes need kernels from the library, too; one for all
// types of devices.
using KernelMakerWithBodies = std::unique_ptr<Kernel> (*)(const Node&, const OpLibrary&, DeviceType);

// An op with the makers of its kernels, null for a type of device without one. The definition lives as
// long as the program.
struct Op {
  const OpDef* def = nullptr;
  KernelMaker cpu = nullptr;
  KernelMaker cuda = nullptr;
  KernelMakerWithBodies with_bodies = nullptr;  // in place of both
};

// Every op of the program: the built-in ones and the core ops of dataflow. Immutable, thread-safe.
class OpLibrary {
 public:
  // Throws already_exists for two ops of one name.
  explicit OpLibrary(std::vector<Op> ops);
  OpLibrary(const OpLibrary&) = delete;
  OpLibrary& operator=(const OpLibrary&) = delete;

  const OpRegistry& registry() const { return registry_; }
  const OpDef& def(std::string_view name) const { return registry_.at(name); }
  bool has_kernel(const OpDef& op, DeviceType device) const;
  // The kernel of a node. Throws unimplemented, naming node, op and device, if there is none for that
  // type of device.
  std::unique_ptr<Kernel> make(const Node& node, DeviceType device) const;

 private:
  std::vector<Op> ops_;
  OpRegistry registry_;
  std::map<const OpDef*, const Op*> kernels_;
};

const OpLibrary& builtin_ops();

}  // namespace actorflow
