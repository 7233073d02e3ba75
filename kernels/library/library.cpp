#include "kernels/library/library.h"

#include <string>

#include "dataflow/values/error.h"
#include "kernels/core/builtin_ops.h"

namespace actorflow {
namespace {

void check_op(const Op& op) {
  if (!op.def || op.def->name.empty())
    throw invalid_argument("an op of Extensions::ops has no definition or no name");
  const auto refuse = [&](const char* what) {
    throw invalid_argument("op '" + std::string(op.def->name) + "' of Extensions::ops " + what);
  };
  if (!op.def->infer) refuse("has no shape function: set OpDef::infer");
  if (!op.cpu && !op.cuda) refuse("has no kernel: set Op::cpu or Op::cuda");
  if (op.def->dispatch != Dispatch::kernel) refuse("must be computed by a kernel: Dispatch::kernel");
}

std::unique_ptr<const OpLibrary> all_ops(const Extensions& extensions) {
  if (extensions.ops.empty()) return nullptr;
  std::vector<Op> all = list_builtin_ops();
  for (const Op& op : extensions.ops) {
    check_op(op);
    all.push_back(op);
  }
  return std::make_unique<const OpLibrary>(std::move(all));
}

}  // namespace

Library::Library(const Extensions& extensions)
    : own_ops_(all_ops(extensions)), optimizers_(extensions.optimizers) {}

const Library& builtin_library() {
  static const auto* library = new Library();
  return *library;
}

}  // namespace actorflow
