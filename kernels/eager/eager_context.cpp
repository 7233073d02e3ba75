#include "kernels/eager/eager_context.h"

#include <algorithm>
#include <thread>

#include "dataflow/cluster/device_name.h"
#include "kernels/core/node_error.h"
#include "kernels/eager/kernel_cache.h"
#include "kernels/eager/thread_team.h"

namespace actorflow {
namespace {

DeviceName device_name(const std::string& text) {
  DeviceName name = DeviceName::parse(text.starts_with('/') ? text : '/' + text);
  if (!names_no_task(name))
    throw invalid_argument(
        "EagerOptions::device: expected a device of this process, such as \"cpu:0\" " +
        std::string("or \"gpu:0\", got \"") + text + "\"");
  name.type = name.type.value_or("CPU");
  name.index = name.index.value_or(0);
  return name;
}

Device& find_device(const DeviceName& name) {
  if (name.type == "CPU" && name.index != 0)
    throw Error(Code::not_found, "there is no device cpu:" + std::to_string(*name.index) +
                                     ": a process has cpu:0, with all of its threads");
  return name.type == "GPU" ? cuda_device(*name.index) : cpu_device();
}

int threads_of(int wanted) {
  if (wanted < 0)
    throw invalid_argument(
        "EagerOptions::num_threads: expected 0 (one thread for each core) or more, got " +
        std::to_string(wanted));
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

struct EagerContext::Impl {
  explicit Impl(const EagerOptions& options)
      : name(device_name(options.device)),
        device(find_device(name)),
        library(options.extensions),
        team(threads_of(options.num_threads)),
        kernels(library.ops(), device.type()) {}

  const DeviceName name;
  Device& device;
  const Library library;
  ThreadTeam team;
  KernelCache kernels;
};

EagerContext::EagerContext(const EagerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
EagerContext::~EagerContext() = default;

EagerContext& EagerContext::standard() {
  static auto* context = new EagerContext();
  return *context;
}

Device& EagerContext::device() const { return impl_->device; }
Team& EagerContext::team() const { return impl_->team; }
const Library& EagerContext::library() const { return impl_->library; }

std::shared_ptr<const Kernel> EagerContext::kernel_of(const Node& node) {
  return impl_->kernels.of(node);
}

void EagerContext::expect_here(const Node& node) const {
  if (node.device.empty() || DeviceName::parse(node.device).matches(impl_->name)) return;
  throw Error(Code::unimplemented,
              naming(node, "it is placed on '" + node.device +
                               "', but eager ops run in this process, on '" + impl_->name.to_string() +
                               "'; omit the device scope, or build a Graph and run it in a Session"));
}

}  // namespace actorflow
