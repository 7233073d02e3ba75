// Products of a perceptron's training step in other forms of oneDNN than the one that we chose: what
// each would gain on one thread. That form is plain layouts, large products in parts, bias and relu in a
// pass of their own.
#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/harness.h"
#include "bench/kernels/filled.h"
#include "kernels/core/kernel.h"
#include "kernels/devices/device.h"
#include "kernels/devices/onednn.h"
#include "kernels/products/onednn_matmul.h"

namespace actorflow::bench {
namespace {

using dnnl::memory;

struct Operands {
  explicit Operands(const MatMulShape& s)
      : a(filled(s.transpose_a ? Shape{s.k, s.m} : Shape{s.m, s.k}, 1)),
        b(filled(s.transpose_b ? Shape{s.n, s.k} : Shape{s.k, s.n}, 1)),
        bias(filled({s.n}, 1)),
        output(filled({s.m, s.n}, 1)) {}
  Tensor a, b, bias, output;
};

double calls_per_second(int calls, const std::function<void()>& call) {
  call();
  return calls / seconds_of([&] {
           for (int i = 0; i < calls; ++i) call();
         });
}

memory::desc plain(std::int64_t rows, std::int64_t columns, bool transposed = false) {
  const auto strides = transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  return {{rows, columns}, memory::data_type::f32, strides};
}

// In the layout that oneDNN prefers for b, to which b is brought first, as it changes in every step.
class PreferredLayout {
 public:
  explicit PreferredLayout(const MatMulShape& s)
      : operands_(s),
        product_({{plain(s.m, s.k, s.transpose_a),
                   {{s.k, s.n}, memory::data_type::f32, memory::format_tag::any},
                   plain(s.m, s.n)},
                  onednn_engine()}),
        a_(plain(s.m, s.k, s.transpose_a), onednn_engine(), operands_.a.mutable_data()),
        b_(plain(s.k, s.n, s.transpose_b), onednn_engine(), operands_.b.mutable_data()),
        preferred_(product_.weights_desc(), onednn_engine()),
        output_(plain(s.m, s.n), onednn_engine(), operands_.output.mutable_data()),
        reorder_(b_, preferred_),
        matmul_(product_) {}

  void operator()() {
    memory& b = preferred_.get_desc() == b_.get_desc() ? b_ : preferred_;
    if (&b == &preferred_) reorder_.execute(onednn_stream(), b_, preferred_);
    matmul_.execute(onednn_stream(),
                    {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, output_}});
  }

 private:
  Operands operands_;
  dnnl::matmul::primitive_desc product_;
  memory a_, b_, preferred_, output_;
  dnnl::reorder reorder_;
  dnnl::matmul matmul_;
};

// With bias and relu as oneDNN's post-ops.
class PostOps {
 public:
  explicit PostOps(const MatMulShape& s)
      : operands_(s),
        a_(plain(s.m, s.k), onednn_engine(), operands_.a.mutable_data()),
        b_(plain(s.k, s.n), onednn_engine(), operands_.b.mutable_data()),
        bias_(plain(1, s.n), onednn_engine(), operands_.bias.mutable_data()),
        output_(plain(s.m, s.n), onednn_engine(), operands_.output.mutable_data()),
        matmul_({{a_.get_desc(), b_.get_desc(), bias_.get_desc(), output_.get_desc()},
                 relu(),
                 onednn_engine()}) {}

  void operator()() {
    matmul_.execute(
        onednn_stream(),
        {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_BIAS, bias_}, {DNNL_ARG_DST, output_}});
  }

 private:
  static dnnl::primitive_attr relu() {
    dnnl::post_ops after;
    after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    return attributes;
  }

  Operands operands_;
  memory a_, b_, bias_, output_;
  dnnl::matmul matmul_;
};

// One of our kernels, as a step calls it.
class OurKernel {
 public:
  OurKernel(std::string_view op, std::vector<Tensor> inputs, const Attrs& attrs)
      : inputs_(std::move(inputs)) {
    std::vector<Output> placeholders;
    for (const Tensor& input : inputs_)
      placeholders.push_back(graph_.placeholder(DType::float32, input.shape()));
    node_ = graph_.add(builtin_ops().def(op), placeholders, attrs);
    kernel_ = builtin_ops().make(node_.node(), DeviceType::cpu);
  }

  void operator()() {
    std::vector<Tensor> outputs(1);
    OpContext context(node_.node(), cpu_device(), inputs_, outputs);
    kernel_->compute(context);
  }

 private:
  Graph graph_;
  Output node_;
  std::vector<Tensor> inputs_;
  std::unique_ptr<Kernel> kernel_;
};

// Divided into parts where it is large.
struct InParts : OurKernel {
  explicit InParts(const MatMulShape& s) : InParts(s, Operands(s)) {}
  InParts(const MatMulShape& s, const Operands& o)
      : OurKernel("MatMul", {o.a, o.b},
                  {{"transpose_a", s.transpose_a}, {"transpose_b", s.transpose_b}}) {}
};

struct Fused : OurKernel {
  explicit Fused(const MatMulShape& s) : Fused(Operands(s)) {}
  explicit Fused(const Operands& o) : OurKernel("FusedMatMul", {o.a, o.b, o.bias}, {{"relu", true}}) {}
};

// The plain layout, in one part.
class Whole {
 public:
  explicit Whole(const MatMulShape& s) : shape_(s), operands_(s) {}

  void operator()() {
    onednn_.multiply(shape_, operands_.a, operands_.b, operands_.output, cpu_device().allocator());
  }

 private:
  MatMulShape shape_;
  Operands operands_;
  OneDnnMatMul onednn_;
};

template <class Ours, class Other>
Benchmark compare(const std::string& name, const MatMulShape& shape, const std::string& other,
                  double bar) {
  return {"matmul/" + name, "calls/s", other, at_least(bar), [shape](bool quick) {
            onednn_stream();  // one thread
            const auto flops = 2 * shape.m * shape.k * shape.n;
            const int calls = quick ? 2 : static_cast<int>(20'000'000'000 / flops);
            Ours ours(shape);
            Other theirs(shape);
            return in_turn(
                quick ? 1 : 5, [&] { return calls_per_second(calls, [&] { ours(); }); },
                [&] { return calls_per_second(calls, [&] { theirs(); }); });
          }};
}

}  // namespace

std::vector<Benchmark> matmul_benchmarks() {
  struct Product {
    std::string name;
    MatMulShape shape;
  };
  const std::vector<Product> products{
      {"forward_64_784_128", {64, 784, 128, false, false}},
      {"weights_784_64_128", {784, 64, 128, true, false}},
      {"forward_128_1024_1024", {128, 1024, 1024, false, false}},
      {"weights_1024_128_1024", {1024, 128, 1024, true, false}},
      {"input_128_1024_1024", {128, 1024, 1024, false, true}},
  };
  std::vector<Benchmark> all;
  for (const auto& [name, shape] : products) {
    all.push_back(compare<Whole, PreferredLayout>(name + "_plain", shape,
                                                  "oneDNN's layout, brought to it first", 0.95));
    all.push_back(compare<InParts, Whole>(name + "_in_parts", shape, "in one part", 0.93));
    if (!shape.transpose_a && !shape.transpose_b)
      all.push_back(compare<Fused, PostOps>(name + "_bias_relu", shape, "oneDNN's post-ops", 0.95));
  }
  return all;
}

}  // namespace actorflow::bench
