#ifdef ACTORFLOW_CUDNN

#include "kernels/images/cudnn_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
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
CudnnDescriptor channels_last(std::int64_t uid, cudnnDataType_t type, std::int64_t n, std::int64_t c,
                              std::int64_t h, std::int64_t w) {
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
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
  set_numbers(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, std::array{s.rows.after(), s.columns.after()});
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

CudnnDescriptor graph_of(cudnnHandle_t handle, const ConvShape& s, ConvDirection direction,
                         DType factors) {
  const OperationNames names = names_of(direction);
  const auto type_of = [&](ConvDirection writing) {
    return factors == DType::bfloat16 && direction != writing ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
  };
  CudnnDescriptor operation(names.type);
  const float one = 1, zero = 0;
  operation.set(names.conv, convolution(s));
  operation.set(names.images, channels_last(images_uid, type_of(ConvDirection::backprop_input), s.batch,
                                            s.in, s.rows.input, s.columns.input));
  operation.set(names.filter, channels_last(filter_uid, type_of(ConvDirection::backprop_filter), s.out,
                                            s.in, s.rows.window, s.columns.window));
  operation.set(names.outputs, channels_last(outputs_uid, type_of(ConvDirection::forward), s.batch, s.out,
                                             s.rows.output, s.columns.output));
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

// The notes of one kind that an engine has; none if cuDNN does not tell.
template <class Note, std::size_t most>
std::optional<std::vector<Note>> notes_of(cudnnBackendDescriptor_t engine,
                                          cudnnBackendAttributeName_t name,
                                          cudnnBackendAttributeType_t type) {
  std::array<Note, most> notes{};
  std::int64_t count = 0;
  if (cudnn().get_attribute(engine, name, type, std::ssize(notes), &count, notes.data()) !=
      CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  return std::vector<Note>(notes.begin(), notes.begin() + std::min(count, std::ssize(notes)));
}

bool may_compute(const CudnnDescriptor& configuration, bool may_round) {
  const CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t place = engine.get();
  std::int64_t count = 0;
  if (cudnn().get_attribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &place) != CUDNN_STATUS_SUCCESS)
    return false;
  const auto numerical = notes_of<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT>(
      place, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
  const auto behavior = notes_of<cudnnBackendBehaviorNote_t, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT>(
      place, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
  if (!numerical || !behavior) return false;
  return std::ranges::none_of(*numerical,
                              [may_round](auto note) {
                                const bool rounds = note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE ||
                                                    note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
                                return note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC ||
                                       (rounds && !may_round);
                              }) &&
         std::ranges::find(*behavior, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) == behavior->end();
}

}  // namespace

std::vector<CudnnConvPlan> cudnn_conv_plans(cudnnHandle_t handle, const ConvShape& shape,
                                            ConvDirection direction, DType factors, bool tf32,
                                            std::size_t most) {
  const CudnnDescriptor graph = graph_of(handle, shape, direction, factors);
  std::vector<CudnnConvPlan> plans;
  for (const auto mode : {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK})
    for (const auto& configuration : configurations(graph, mode)) {
      if (plans.size() == most || (mode == CUDNN_HEUR_MODE_FALLBACK && !plans.empty())) return plans;
      if (!may_compute(configuration, tf32 || factors == DType::bfloat16)) continue;
      CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      if (cudnn().finalize(plan.get()) == CUDNN_STATUS_SUCCESS)
        plans.push_back(CudnnConvPlan(std::move(plan)));
    }
  return plans;
}

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

CudnnConvPlan::CudnnConvPlan(CudnnDescriptor plan) : plan_(std::move(plan)) {
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
