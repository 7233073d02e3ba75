// cuBLASLt's algorithm for a shape is asked for once and kept, with all that describes the product.
#ifdef ACTORFLOW_CUDA

#include "kernels/products/lt_matmul.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "kernels/devices/cublas_lt.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/library_handles.h"

namespace actorflow {
namespace {

constexpr std::uint64_t workspace_limit_bytes = std::uint64_t{32} << 20U;  // as cuBLAS on Hopper
// Of the bias, and what the algorithm may rely on.
constexpr std::uintptr_t bias_alignment = 16;

void check(cublasStatus_t status) { check_cublas(status, "describe a product"); }

// A description of cuBLASLt's, which ends with this object.
template <class Opaque>
using Description = std::unique_ptr<Opaque, cublasStatus_t (*)(Opaque*)>;
using Operation = Description<cublasLtMatmulDescOpaque_t>;
using Layout = Description<cublasLtMatrixLayoutOpaque_t>;
using Preference = Description<cublasLtMatmulPreferenceOpaque_t>;

template <class Value>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t attribute, Value value) {
  check(cublas_lt()->set_operation_attribute(operation.get(), attribute, &value, sizeof(value)));
}

template <class Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
  check(cublas_lt()->set_preference_attribute(preference.get(), attribute, &value, sizeof(value)));
}

void set_bias(const Operation& operation, const void* bias) {
  set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

// All that an algorithm is chosen by.
struct Problem {
  MatMulShape shape;
  cublasComputeType_t arithmetic;
  std::uint32_t alignment;  // of the matrices, in bytes

  auto key() const {
    return std::tuple(shape.m, shape.k, shape.n, shape.transpose_a, shape.transpose_b, arithmetic,
                      alignment);
  }
};

// The largest power of two up to 256 that divides all addresses.
template <class... Pointers>
std::uint32_t alignment_of(const Pointers*... pointers) {
  const std::uintptr_t bits = (reinterpret_cast<std::uintptr_t>(pointers) | ...);
  return std::uint32_t{1} << std::min(std::countr_zero(bits), 8);
}

// cuBLASLt counts column by column, where our matrices look transposed: it multiplies b^T a^T instead,
// and its rows are our columns.
Operation make_operation(const Problem& problem, cublasLtEpilogue_t epilogue) {
  const auto op = [](bool transposed) -> std::int32_t { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  cublasLtMatmulDesc_t made = nullptr;
  check(cublas_lt()->create_operation(&made, problem.arithmetic, CUDA_R_32F));
  Operation operation(made, cublas_lt()->destroy_operation);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, op(problem.shape.transpose_b));
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, op(problem.shape.transpose_a));
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(epilogue));
  return operation;
}

// Of a matrix that is rows by columns after op.
Layout make_layout(std::int64_t rows, std::int64_t columns, bool transposed) {
  if (transposed) std::swap(rows, columns);
  cublasLtMatrixLayout_t made = nullptr;
  check(cublas_lt()->create_layout(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows));
  return {made, cublas_lt()->destroy_layout};
}

Preference make_preference(std::uint32_t alignment) {
  cublasLtMatmulPreference_t made = nullptr;
  check(cublas_lt()->create_preference(&made));
  Preference preference(made, cublas_lt()->destroy_preference);
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_limit_bytes);
  // Parts of sums are stored in float32 and added by a kernel of its own, in their order.
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  for (const auto matrix :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(preference, matrix, alignment);
  return preference;
}

// A product and its algorithm.
class Plan {
 public:
  Plan(cublasLtHandle_t handle, const Problem& problem)
      : product_(make_operation(problem, CUBLASLT_EPILOGUE_DEFAULT)),
        sum_(make_operation(problem, CUBLASLT_EPILOGUE_BIAS)),
        left_(make_layout(problem.shape.n, problem.shape.k, problem.shape.transpose_b)),
        right_(make_layout(problem.shape.k, problem.shape.m, problem.shape.transpose_a)),
        output_(make_layout(problem.shape.n, problem.shape.m, false)) {
    set_bias(sum_, reinterpret_cast<const void*>(bias_alignment));  // only the alignment counts here
    choose(handle, problem.alignment);
  }

  LtLaunched launch(cublasLtHandle_t handle, Device& device, const LtOperands& operands) {
    if (!usable_) return LtLaunched::nothing;
    const bool adds = adds_bias_ && operands.bias &&
                      reinterpret_cast<std::uintptr_t>(operands.bias) % bias_alignment == 0;
    if (adds) set_bias(sum_, operands.bias);
    constexpr float one = 1, zero = 0;
    BufferRef workspace;
    if (workspace_bytes_ > 0) workspace = device.allocator().allocate(workspace_bytes_);
    const cublasStatus_t status = cublas_lt()->matmul(
        handle, (adds ? sum_ : product_).get(), &one, operands.b, left_.get(), operands.a, right_.get(),
        &zero, operands.output, output_.get(), operands.output, output_.get(), &algorithm_,
        workspace ? workspace->data() : nullptr, workspace_bytes_, cuda_stream(device));
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) {
      usable_ = false;  // a check does not promise that an algorithm runs
      return LtLaunched::nothing;
    }
    check_cublas(status, "multiply matrices");
    return adds ? LtLaunched::sum : LtLaunched::product;
  }

 private:
  // One algorithm computes the product with and without a bias: the best one for the sum, if it also
  // does without, else one for the product alone.
  void choose(cublasLtHandle_t handle, std::uint32_t alignment) {
    const Preference preference = make_preference(alignment);
    adds_bias_ = find(handle, sum_, preference) && accepts(handle, product_);
    usable_ = adds_bias_ || find(handle, product_, preference);
  }

  bool find(cublasLtHandle_t handle, const Operation& operation, const Preference& preference) {
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status =
        cublas_lt()->find_algorithms(handle, operation.get(), left_.get(), right_.get(), output_.get(),
                                     output_.get(), preference.get(), 1, &found, &count);
    if (status != CUBLAS_STATUS_SUCCESS || count == 0 || found.state != CUBLAS_STATUS_SUCCESS)
      return false;
    algorithm_ = found.algo;
    workspace_bytes_ = found.workspaceSize;
    return true;
  }

  bool accepts(cublasLtHandle_t handle, const Operation& operation) {
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status =
        cublas_lt()->check_algorithm(handle, operation.get(), left_.get(), right_.get(), output_.get(),
                                     output_.get(), &algorithm_, &result);
    if (status != CUBLAS_STATUS_SUCCESS || result.workspaceSize > workspace_limit_bytes) return false;
    workspace_bytes_ = std::max(workspace_bytes_, result.workspaceSize);
    return true;
  }

  Operation product_, sum_;
  Layout left_, right_, output_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_bytes_ = 0;
  bool usable_ = false, adds_bias_ = false;
};

using Plans = std::map<decltype(std::declval<Problem>().key()), Plan>;

// Plans differ only by what programs multiply; one whose shapes never repeat must not fill the memory.
Plan& plan_for(Plans& plans, cublasLtHandle_t handle, const Problem& problem) {
  constexpr std::size_t most_plans = 1024;
  const auto found = plans.find(problem.key());
  if (found != plans.end()) return found->second;
  if (plans.size() >= most_plans) plans.clear();
  return plans.try_emplace(problem.key(), handle, problem).first->second;
}

}  // namespace

LtLaunched launch_lt_matmul(const CublasHandle& handle, Device& device, const MatMulShape& shape,
                            Precision precision, const LtOperands& operands) {
  if (!cublas_lt()) return LtLaunched::nothing;
  // A handle of cuBLAS is one of cuBLASLt, too (cuBLAS's manual on cublasLtHandle_t).
  auto* const lt_handle = reinterpret_cast<cublasLtHandle_t>(static_cast<cublasHandle_t>(handle));
  const Problem problem{shape, compute_type(DType::float32, precision),
                        alignment_of(operands.a, operands.b, operands.output)};
  auto& entry = library_handle<std::unique_ptr<Plans>>(device);
  const std::lock_guard lock(entry.mutex);
  if (!entry.handle) entry.handle = std::make_unique<Plans>();
  return plan_for(*entry.handle, lt_handle, problem).launch(lt_handle, device, operands);
}

}  // namespace actorflow

#endif
