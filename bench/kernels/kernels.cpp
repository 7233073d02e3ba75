// Kernels of the CPU on one thread: the vectorised loops against oneDNN's primitives for the same
// function, and against the plainest loop, compiled like the rest of the program, where there is none.
// oneDNN fuses multiply-adds where the CPU can; ours do not, to give the same bits on every CPU. Where
// arithmetic and not memory is the limit, the bars are lower by that; for gelu by more, because oneDNN's
// erf is exact to 1e-7 and ours to some units in the last place, however small the result.
#include <algorithm>
#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <span>

#include "bench/harness.h"
#include "bench/kernels/filled.h"
#include "kernels/core/kernel.h"
#include "kernels/devices/onednn.h"
#include "kernels/update/reproducible_sum.h"

namespace actorflow::bench {
namespace {

using dnnl::algorithm;
using dnnl::memory;

// In the second-level cache, and far beyond every cache: 64 MiB.
constexpr std::int64_t cached = 16 << 10, uncached = 16 << 20;

// One of our ops on tensors of float32, as a step calls it: its output comes from the pool.
class OurOp {
 public:
  OurOp(std::string_view name, const std::vector<Shape>& shapes, const Attrs& attrs = {}) {
    std::vector<Output> placeholders;
    for (const Shape& shape : shapes) {
      inputs_.push_back(filled(shape));
      placeholders.push_back(graph_.placeholder(DType::float32, shape));
    }
    node_ = graph_.add(builtin_ops().def(name), placeholders, attrs);
    kernel_ = builtin_ops().make(node_.node(), DeviceType::cpu);
  }

  void operator()() {
    std::vector<Tensor> outputs(node_.node().outputs.size());
    OpContext context(node_.node(), cpu_device(), inputs_, outputs);
    kernel_->compute(context);
  }

 private:
  Graph graph_;
  Output node_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<Tensor> inputs_;
};

// A primitive of oneDNN from one tensor to another of its shape.
class OneDnnPrimitive {
 public:
  template <class Descriptor>
  OneDnnPrimitive(const Descriptor& primitive, const memory::desc& layout, const Shape& shape)
      : x_(filled(shape)),
        y_(filled(shape)),
        primitive_(primitive),
        arguments_{{DNNL_ARG_SRC, {layout, onednn_engine(), x_.mutable_data()}},
                   {DNNL_ARG_DST, {layout, onednn_engine(), y_.mutable_data()}}} {}

  void operator()() { primitive_.execute(onednn_stream(), arguments_); }

 private:
  Tensor x_, y_;
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
};

OneDnnPrimitive onednn_eltwise(algorithm function, std::int64_t elements) {
  onednn_stream();
  const memory::desc layout({elements}, memory::data_type::f32, memory::format_tag::a);
  const dnnl::eltwise_forward::desc op(dnnl::prop_kind::forward_inference, function, layout, 0, 0);
  const dnnl::eltwise_forward::primitive_desc primitive(op, onednn_engine());
  return {dnnl::eltwise_forward(primitive), layout, {elements}};
}

OneDnnPrimitive onednn_softmax(std::int64_t rows, std::int64_t columns) {
  onednn_stream();
  const memory::desc layout({rows, columns}, memory::data_type::f32, memory::format_tag::ab);
  const dnnl::softmax_forward::desc op(dnnl::prop_kind::forward_inference, layout, 1);
  const dnnl::softmax_forward::primitive_desc primitive(op, onednn_engine());
  return {dnnl::softmax_forward(primitive), layout, {rows, columns}};
}

// Billion elements per second of a call that handles so many.
double rate(std::int64_t elements, bool quick, const std::function<void()>& call) {
  const std::int64_t calls = quick ? 1 : std::max<std::int64_t>(1, 100'000'000 / elements);
  call();
  return static_cast<double>(elements * calls) / 1e9 / seconds_of([&] {
           for (std::int64_t i = 0; i < calls; ++i) call();
         });
}

Measurement compare(std::int64_t elements, bool quick, const std::function<void()>& ours,
                    const std::function<void()>& baseline) {
  return in_turn(
      quick ? 1 : 5, [&] { return rate(elements, quick, ours); },
      [&] { return rate(elements, quick, baseline); });
}

Benchmark eltwise(const std::string& name, std::string_view op, algorithm function,
                  std::int64_t elements, double bar) {
  return {"kernels/" + name, "Gelem/s", "oneDNN's eltwise", at_least(bar), [=](bool quick) {
            const std::int64_t count = quick ? 1000 : elements;
            OurOp ours(op, {{count}});
            auto onednn = onednn_eltwise(function, count);
            return compare(
                count, quick, [&] { ours(); }, [&] { onednn(); });
          }};
}

Benchmark softmax_rows(std::int64_t rows, std::int64_t columns, double bar) {
  const std::string size = std::to_string(rows) + "x" + std::to_string(columns);
  return {"kernels/softmax_" + size, "Gelem/s", "oneDNN's softmax", at_least(bar), [=](bool quick) {
            OurOp ours("Softmax", {{rows, columns}});
            auto onednn = onednn_softmax(rows, columns);
            return compare(
                rows * columns, quick, [&] { ours(); }, [&] { onednn(); });
          }};
}

void add_plainly(const Tensor& a, const Tensor& b, Tensor& sum) {
  const auto x = a.values<float>(), y = b.values<float>();
  const auto z = sum.mutable_values<float>();
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
}

Measurement add(std::int64_t elements, bool quick) {
  OurOp ours("Add", {{elements}, {elements}});
  const Tensor a = filled({elements}), b = filled({elements});
  Tensor sum = filled({elements});
  return compare(
      elements, quick, [&] { ours(); }, [&] { add_plainly(a, b, sum); });
}

Measurement add_cached(bool quick) { return add(quick ? 1000 : cached / 4, quick); }
Measurement add_uncached(bool quick) { return add(quick ? 1000 : uncached, quick); }

// In double, as our sums.
double sum_plainly(const Tensor& x) {
  double sum = 0;
  for (const float value : x.values<float>()) sum += static_cast<double>(value);
  return sum;
}

Measurement sum_uncached(bool quick) {
  const std::int64_t elements = quick ? 1000 : uncached;
  OurOp ours("Sum", {{elements}});
  const Tensor x = filled({elements});
  return compare(
      elements, quick, [&] { ours(); }, [&] { [[maybe_unused]] volatile double kept = sum_plainly(x); });
}

Tensor reproducible_mean(const std::vector<Tensor>& tensors) {
  ReproducibleSum sum;
  for (const Tensor& tensor : tensors) sum.add(tensor, cpu_device());
  return sum.mean({}, cpu_device());
}

// As a program does that has them all at once.
void mean_plainly(const std::vector<Tensor>& tensors, std::span<float> mean) {
  std::ranges::fill(mean, 0.0F);
  for (const Tensor& tensor : tensors) {
    const auto x = tensor.values<float>();
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += x[i];
  }
  for (float& value : mean) value /= static_cast<float>(tensors.size());
}

Measurement mean_of_16(bool quick) {
  const std::int64_t elements = quick ? 1000 : uncached / 16;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 16; ++i) tensors.push_back(filled({elements}));
  Tensor mean = filled({elements});
  return compare(
      16 * elements, quick, [&] { reproducible_mean(tensors); },
      [&] { mean_plainly(tensors, mean.mutable_values<float>()); });
}

}  // namespace

std::vector<Benchmark> kernel_benchmarks() {
  const std::string plain = "a plain loop";
  return {
      eltwise("exp_64KiB", "Exp", algorithm::eltwise_exp, cached, 0.75),
      eltwise("exp_64MiB", "Exp", algorithm::eltwise_exp, uncached, 0.95),
      eltwise("log_64KiB", "Log", algorithm::eltwise_log, cached, 1),
      eltwise("tanh_64KiB", "Tanh", algorithm::eltwise_tanh, cached, 0.75),
      eltwise("tanh_64MiB", "Tanh", algorithm::eltwise_tanh, uncached, 0.95),
      eltwise("sigmoid_64KiB", "Sigmoid", algorithm::eltwise_logistic, cached, 0.75),
      eltwise("gelu_64KiB", "Gelu", algorithm::eltwise_gelu_erf, cached, 0.4),
      eltwise("relu_64MiB", "Relu", algorithm::eltwise_relu, uncached, 0.95),
      softmax_rows(64, 10, 1),
      softmax_rows(128, 1000, 0.8),
      {"kernels/add_16KiB", "Gelem/s", plain, at_least(1), add_cached},
      {"kernels/add_64MiB", "Gelem/s", plain, at_least(0.95), add_uncached},
      {"kernels/sum_64MiB", "Gelem/s", plain, at_least(1), sum_uncached},
      {"kernels/mean_of_16_in_any_order", "Gelem/s", "a plain loop, whose bits depend on the order",
       at_least(0.1), mean_of_16},
  };
}

}  // namespace actorflow::bench
