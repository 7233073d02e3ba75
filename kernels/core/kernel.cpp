#include "kernels/core/kernel.h"

#include "dataflow/values/error.h"
#include "kernels/core/builtin_ops.h"

namespace actorflow {
namespace {

std::string prefix(const Node& node) {
  return "node '" + node.name + "' (" + std::string(node.op->name) + "): ";
}

std::string_view name_of(DeviceType type) { return type == DeviceType::cpu ? "CPU" : "GPU"; }

std::vector<const OpDef*> definitions(const std::vector<Op>& ops) {
  std::vector<const OpDef*> defs;
  for (const auto& op : ops) defs.push_back(op.def);
  return defs;
}

KernelMaker maker(const Op& op, DeviceType device) {
  return device == DeviceType::cpu ? op.cpu : op.cuda;
}

}  // namespace

Tensor& OpContext::allocate_output(int i, DType dtype, const Shape& shape) {
  return output(i) = Tensor::allocate(dtype, shape, device_.allocator());
}

Tensor& OpContext::forward_or_allocate(int from, int i, DType dtype, const Shape& shape) {
  const Tensor& candidate = input(from);
  if (!candidate.exclusive() || candidate.dtype() != dtype || candidate.shape() != shape)
    return allocate_output(i, dtype, shape);
  return output(i) = candidate;
}

void OpContext::parallel(int parts, const std::function<void(int)>& part) const {
  if (team_) return team_->run(parts, part);
  for (int i = 0; i < parts; ++i) part(i);
}

void OpContext::expect_use() const {
  if (interruption_ && interruption_->is_interrupted())
    throw Error(Code::aborted, "the step was given up while it was computed");
}

void OpContext::fail(const std::string& expected, const std::string& actual) const {
  throw invalid_argument(prefix(node_) + "expected " + expected + ", got " + actual);
}

OpLibrary::OpLibrary(std::vector<Op> ops) : ops_(std::move(ops)), registry_(definitions(ops_)) {
  for (const auto& op : ops_) kernels_.emplace(op.def, &op);
}

bool OpLibrary::has_kernel(const OpDef& op, DeviceType device) const {
  const auto found = kernels_.find(&op);
  if (found == kernels_.end()) return false;
  return found->second->with_bodies || maker(*found->second, device);
}

std::unique_ptr<Kernel> OpLibrary::make(const Node& node, DeviceType device) const {
  if (!has_kernel(*node.op, device))
    throw Error(Code::unimplemented, prefix(node) + "there is no kernel for it on a " +
                                         std::string(name_of(device)) +
                                         "; place it elsewhere, or allow soft placement");
  const Op& op = *kernels_.at(node.op);
  return op.with_bodies ? op.with_bodies(node, *this, device) : maker(op, device)(node);
}

const OpLibrary& builtin_ops() {
  static const auto* library = new OpLibrary(list_builtin_ops());
  return *library;
}

}  // namespace actorflow
