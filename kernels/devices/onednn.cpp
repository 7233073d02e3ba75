#include "kernels/devices/onednn.h"

#include <omp.h>

#include <cstdlib>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/devices/cpu_features.h"

namespace actorflow {
namespace {

dnnl::stream single_threaded_stream() {
  omp_set_num_threads(1);
  return dnnl::stream(onednn_engine());
}

// A limit that the user has set stays as it is.
void keep_from_broken_amx() {
  const bool limited = std::getenv("DNNL_MAX_CPU_ISA") || std::getenv("ONEDNN_MAX_CPU_ISA");
  if (cpu_features().shows_amx && !cpu_features().amx && !limited)
    dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
}

const dnnl::engine* make_engine() {
  keep_from_broken_amx();
  return new dnnl::engine(dnnl::engine::kind::cpu, 0);
}

Code code_of(dnnl_status_t status) {
  switch (status) {
    case dnnl_out_of_memory:
      return Code::resource_exhausted;
    case dnnl_unimplemented:
      return Code::unimplemented;
    default:
      return Code::internal;
  }
}

}  // namespace

const dnnl::engine& onednn_engine() {
  // Never destroyed: threads may outlive main's static objects.
  static const auto* engine = make_engine();
  return *engine;
}

bool onednn_uses(dnnl::cpu_isa instructions) {
  onednn_engine();
  const auto bits = static_cast<unsigned>(instructions);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

dnnl::stream& onednn_stream() {
  thread_local dnnl::stream stream = single_threaded_stream();
  return stream;
}

dnnl::memory without_data(const dnnl::memory::desc& layout) {
  return {layout, onednn_engine(), DNNL_MEMORY_NONE};
}

dnnl::primitive_attr onednn_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void rethrow_onednn_error(const std::string& doing, const dnnl::error& error) {
  throw Error(code_of(error.status), "oneDNN failed to " + doing + ": " + error.what());
}

}  // namespace actorflow
