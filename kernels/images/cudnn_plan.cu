#ifdef ACTORFLOW_CUDNN

#include "kernels/images/cudnn_plan.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/devices/cudnn.h"

namespace actorflow {
namespace {

// What the three tensors are called in a plan.
constexpr std::int64_t images_uid = 'x', filter_uid = 'w', outputs_uid = 'y';

void set_numbers(CudnnDescriptor& to, cudnnBackendAttributeName_t name,
                 std::span<const std::int64_t> numbers) {
  to.set(name, CUDNN_TYPE_INT64, std::ssize(numbers), numbers.data());
}

// Four dimensions in cuDNN's order, of which the second is the innermost in memory.
CudnnDescriptor channels_last(std::int64_t uid, std::int64_t n, std::int64_t c, std::int64_t h,
                              std::int64_t w) {
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  const std::int64_t alignment_bytes = 16;
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  set_numbers(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, std::array{n, c, h, w});
  set_numbers(tensor, CUDNN_ATTR_TENSOR_STRIDES, std::array{h * w * c, std::int64_t{1}, w * c, c});
  set_numbers(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, std::array{uid});
  set_numbers(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::array{alignment_bytes});
  tensor.finalize();
  return tensor;
}

CudnnDescriptor convolution(const ConvShape& s) {
  CudnnDescriptor conv(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  conv.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  conv.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  set_numbers(conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::array{std::int64_t{2}});
  set_numbers(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, std::array{s.rows.before, s.columns.before});
  set_numbers(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, std::array{s.rows.before, s.columns.before});
  set_numbers(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, std::array{s.rows.stride, s.columns.stride});
  set_numbers(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS, std::array{std::int64_t{1}, std::int64_t{1}});
  conv.finalize();
  return conv;
}

// What the attributes of an operation are called in each direction.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t conv, images, filter, outputs, alpha, beta;
};

OperationNames names_of(ConvDirection direction) {
  switch (direction) {
    case ConvDirection::forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvDirection::backprop_input:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

CudnnDescriptor graph_of(cudnnHandle_t handle, const ConvShape& s, ConvDirection direction) {
  const OperationNames names = names_of(direction);
  CudnnDescriptor operation(names.type);
  const float one = 1, zero = 0;
  operation.set(names.conv, convolution(s));
  operation.set(names.images, channels_last(images_uid, s.batch, s.in, s.rows.input, s.columns.input));
  operation.set(names.filter, channels_last(filter_uid, s.out, s.in, s.rows.window, s.columns.window));
  operation.set(names.outputs,
                channels_last(outputs_uid, s.batch, s.out, s.rows.output, s.columns.output));
  operation.set(names.alpha, CUDNN_TYPE_FLOAT, 1, &one);
  operation.set(names.beta, CUDNN_TYPE_FLOAT, 1, &zero);
  operation.finalize();
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.finalize();
  return graph;
}

// cuDNN's choices for a graph, the best first.
std::vector<CudnnDescriptor> configurations(const CudnnDescriptor& graph, cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  heuristic.finalize();
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
              "count its engines for a convolution");
  std::vector<CudnnDescriptor> found;
  std::vector<cudnnBackendDescriptor_t> places;
  for (std::int64_t i = 0; i < count; ++i) {
    found.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    places.push_back(found.back().get());
  }
  check_cudnn(cudnn().get_attribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, places.data()),
              "list its engines for a convolution");
  while (std::ssize(found) > count) found.pop_back();
  return found;
}

bool may_compute(const CudnnDescriptor& configuration, Precision precision) {
  const CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t place = engine.get();
  std::int64_t count = 0;
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  if (cudnn().get_attribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &place) != CUDNN_STATUS_SUCCESS ||
      cudnn().get_attribute(place, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                            std::ssize(notes), &count, notes.data()) != CUDNN_STATUS_SUCCESS)
    return false;
  return std::none_of(notes.begin(), notes.begin() + count, [precision](auto note) {
    const bool rounds =
        note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE || note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    return note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC ||
           note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION ||
           (rounds && precision == Precision::float32);
  });
}

CudnnDescriptor plan_of(cudnnHandle_t handle, const ConvShape& s, ConvDirection direction,
                        Precision precision) {
  const CudnnDescriptor graph = graph_of(handle, s, direction);
  for (const auto mode : {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK})
    for (const auto& configuration : configurations(graph, mode)) {
      if (!may_compute(configuration, precision)) continue;
      CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      if (cudnn().finalize(plan.get()) == CUDNN_STATUS_SUCCESS) return plan;
    }
  throw Error(Code::unimplemented, "cuDNN has no deterministic engine for a convolution");
}

}  // namespace

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check_cudnn(cudnn().create_descriptor(type, &handle_), "create a descriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (handle_) cudnn().destroy_descriptor(handle_);
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::int64_t count, const void* values) {
  check_cudnn(cudnn().set_attribute(handle_, name, type, count, values), "describe a convolution");
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
  const cudnnBackendDescriptor_t handle = value.get();
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
}

void CudnnDescriptor::finalize() {
  check_cudnn(cudnn().finalize(handle_), "take the description of a convolution");
}

CudnnConvPlan::CudnnConvPlan(cudnnHandle_t handle, const ConvShape& padded, ConvDirection direction,
                             Precision precision)
    : plan_(plan_of(handle, padded, direction, precision)) {
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(plan_.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                    CUDNN_TYPE_INT64, 1, &count, &workspace_bytes_),
              "say how much memory a convolution needs");
}

void CudnnConvPlan::run(cudnnHandle_t handle, const void* images, const void* filter,
                        const void* outputs, void* workspace) const {
  CudnnDescriptor tensors(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  const std::array places{images, filter, outputs};
  tensors.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, std::ssize(places),
              places.data());
  set_numbers(tensors, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
              std::array{images_uid, filter_uid, outputs_uid});
  tensors.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  tensors.finalize();
  check_cudnn(cudnn().execute(handle, plan_.get(), tensors.get()), "convolve");
}

}  // namespace actorflow

#endif
