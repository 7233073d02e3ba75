#include "kernels/onednn_batch_matmul.h"

#include <unordered_map>

#include "kernels/onednn.h"

namespace actorflow {
namespace {

using dnnl::memory;

// A transposed matrix is a matter of strides: nothing is copied.
memory::desc matrices(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool transposed) {
  const memory::dims strides =
      transposed ? memory::dims{rows * columns, 1, rows} : memory::dims{rows * columns, columns, 1};
  return {{batch, rows, columns}, memory::data_type::f32, strides};
}

memory without_data(const memory::desc& layout) { return {layout, onednn_engine(), DNNL_MEMORY_NONE}; }

dnnl::matmul::primitive_desc describe(const BatchMatMulShape& s) {
  onednn_stream();
  const dnnl::matmul::desc product(matrices(s.shared_a ? 1 : s.batch, s.m, s.k, s.transpose_a),
                                   matrices(s.shared_b ? 1 : s.batch, s.k, s.n, s.transpose_b),
                                   matrices(s.batch, s.m, s.n, false));
  return {product, onednn_attributes(), onednn_engine()};
}

// The product for one shape, by one thread at a time.
class BatchMatMulPrimitive {
 public:
  explicit BatchMatMulPrimitive(const BatchMatMulShape& shape) : BatchMatMulPrimitive(describe(shape)) {}

  void run(const float* a, const float* b, float* output, Allocator& allocator) {
    const BufferRef scratch = allocator.allocate(scratchpad_.get_desc().get_size());
    a_.set_data_handle(const_cast<float*>(a));
    b_.set_data_handle(const_cast<float*>(b));
    output_.set_data_handle(output);
    scratchpad_.set_data_handle(scratch->data());
    primitive_.execute(onednn_stream(), arguments_);
  }

 private:
  explicit BatchMatMulPrimitive(const dnnl::matmul::primitive_desc& desc)
      : primitive_(desc),
        a_(without_data(desc.src_desc())),
        b_(without_data(desc.weights_desc())),
        output_(without_data(desc.dst_desc())),
        scratchpad_(without_data(desc.scratchpad_desc())),
        arguments_{{DNNL_ARG_SRC, a_},
                   {DNNL_ARG_WEIGHTS, b_},
                   {DNNL_ARG_DST, output_},
                   {DNNL_ARG_SCRATCHPAD, scratchpad_}} {}

  dnnl::matmul primitive_;
  memory a_, b_, output_, scratchpad_;
  std::unordered_map<int, memory> arguments_;
};

}  // namespace

struct OneDnnBatchMatMul::Primitives {
  PrimitiveCache<BatchMatMulShape, BatchMatMulPrimitive> cache;
};

OneDnnBatchMatMul::OneDnnBatchMatMul() : primitives_(std::make_unique<Primitives>()) {}

OneDnnBatchMatMul::~OneDnnBatchMatMul() = default;

void OneDnnBatchMatMul::multiply(const BatchMatMulShape& shape, const float* a, const float* b,
                                 float* output, Allocator& allocator) const {
  try {
    primitives_->cache.with(
        shape, [&] { return std::make_unique<BatchMatMulPrimitive>(shape); },
        [&](BatchMatMulPrimitive& primitive) { primitive.run(a, b, output, allocator); });
  } catch (const dnnl::error& error) {
    rethrow_onednn_error("multiply batches of matrices", error);
  }
}

}  // namespace actorflow
