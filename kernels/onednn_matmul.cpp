#include "kernels/onednn_matmul.h"

#include <string>
#include <unordered_map>

#include "kernels/onednn.h"

namespace actorflow {
namespace {

using dnnl::memory;

// A transposed matrix is a matter of strides: nothing is copied.
memory::desc matrix(std::int64_t rows, std::int64_t columns, bool transposed) {
  const auto strides = transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  return {{rows, columns}, memory::data_type::f32, strides};
}

memory without_data(const memory::desc& layout) { return {layout, onednn_engine(), DNNL_MEMORY_NONE}; }

dnnl::matmul::primitive_desc describe(const MatMulShape& s) {
  onednn_stream();
  const dnnl::matmul::desc product(matrix(s.m, s.k, s.transpose_a), matrix(s.k, s.n, s.transpose_b),
                                   matrix(s.m, s.n, false));
  return {product, onednn_attributes(), onednn_engine()};
}

// The product for one shape, by one thread at a time.
class MatMulPrimitive {
 public:
  explicit MatMulPrimitive(const MatMulShape& shape) : MatMulPrimitive(describe(shape)) {}

  void run(const Tensor& a, const Tensor& b, Tensor& output, Allocator& allocator) {
    const BufferRef scratch = allocator.allocate(scratchpad_.get_desc().get_size());
    a_.set_data_handle(const_cast<void*>(a.data()));
    b_.set_data_handle(const_cast<void*>(b.data()));
    output_.set_data_handle(output.mutable_data());
    scratchpad_.set_data_handle(scratch->data());
    primitive_.execute(onednn_stream(), arguments_);
  }

 private:
  explicit MatMulPrimitive(const dnnl::matmul::primitive_desc& desc)
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

struct OneDnnMatMul::Primitives {
  PrimitiveCache<MatMulShape, MatMulPrimitive> cache;
};

OneDnnMatMul::OneDnnMatMul() : primitives_(std::make_unique<Primitives>()) {}

OneDnnMatMul::~OneDnnMatMul() = default;

void OneDnnMatMul::multiply(const MatMulShape& shape, const Tensor& a, const Tensor& b, Tensor& output,
                            Allocator& allocator) const {
  try {
    primitives_->cache.with(
        shape, [&] { return std::make_unique<MatMulPrimitive>(shape); },
        [&](MatMulPrimitive& primitive) { primitive.run(a, b, output, allocator); });
  } catch (const dnnl::error& error) {
    rethrow_onednn_error("multiply " + a.describe() + " and " + b.describe(), error);
  }
}

}  // namespace actorflow
