// Operators that layers are made of: products, convolution, pooling, normalisation, softmax.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "actors/import/imported_node.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

using Ints = std::vector<std::int64_t>;

Output matmul_import(ImportedNode& n) {
  const int a = n.rank(0), b = n.rank(1);
  if (a < 2 || b < 2) n.refuse("a factor is a vector");
  return a == 2 && b == 2 ? matmul(n.input(0), n.input(1)) : batch_matmul(n.input(0), n.input(1));
}

// alpha a b + beta c.
Output gemm_import(ImportedNode& n) {
  const double alpha = n.number("alpha", 1), beta = n.number("beta", 1);
  Output y = matmul(n.input(0), n.input(1), n.integer("transA", 0) != 0, n.integer("transB", 0) != 0);
  if (alpha != 1) y = y * alpha;
  if (!n.has(2)) return y;
  return y + (beta == 1 ? n.input(2) : n.input(2) * beta);
}

// How windows slide over images [batch, height, width, channels].
struct Sliding {
  Extent strides;
  Padding padding;
  Ints before, after;  // zeros around the images, where the padding is neither `same` nor `valid`

  bool pads() const { return !before.empty(); }
  Output padded(Output images) const { return pads() ? pad(images, before, after) : images; }
};

Extent extent_of(ImportedNode& n, std::string_view name) {
  const Ints values = n.ints(name, {1, 1});
  if (values.size() != 2)
    n.refuse(fmt::format("'{}' is of {} dimensions; 2 are there", name, values.size()));
  return {values[0], values[1]};
}

Sliding sliding_of(ImportedNode& n) {
  if (n.rank(0) != 4) n.refuse(fmt::format("its input is of {} dimensions; 4 are there", n.rank(0)));
  for (const std::int64_t dilation : n.ints("dilations"))
    if (dilation != 1) n.refuse(fmt::format("it has a dilation of {}", dilation));
  if (n.integer("ceil_mode", 0) != 0) n.refuse("it counts windows that are not whole");
  Sliding sliding{extent_of(n, "strides"), Padding::valid, {}, {}};
  const std::string automatic = n.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER") sliding.padding = Padding::same;
  if (automatic == "SAME_LOWER") n.refuse("it pads in front first");
  const Ints pads = n.ints("pads", {0, 0, 0, 0});
  if (pads.size() != 4) n.refuse(fmt::format("it pads {} sides; 4 are there", pads.size()));
  if (automatic == "NOTSET" && std::ranges::any_of(pads, [](auto size) { return size != 0; })) {
    sliding.before = {0, pads[0], pads[1], 0};
    sliding.after = {0, pads[2], pads[3], 0};
  }
  return sliding;
}

// The model's filter is [out, in, height, width], ours [height, width, in, out].
Output conv_import(ImportedNode& n) {
  if (n.integer("group", 1) != 1) n.refuse(fmt::format("it convolves {} groups", n.integer("group", 1)));
  const Sliding sliding = sliding_of(n);
  const Output images = sliding.padded(channels_last(n.input(0)));
  const Output filter = exchanged(n.input(1), {2, 3, 1, 0});
  const Output convolved =
      n.has(2) ? fused_conv2d(images, filter, n.input(2), false, sliding.strides, sliding.padding)
               : conv2d(images, filter, sliding.strides, sliding.padding);
  return channels_first(convolved);
}

// Pads with the least number, which is no maximum of any window.
Output max_pool_import(ImportedNode& n) {
  const Sliding sliding = sliding_of(n);
  Output images = channels_last(n.input(0));
  if (sliding.pads()) {
    const Output inside = sliding.padded(ones_like(images)) > 0;
    const Output padded = sliding.padded(images);
    images = select(inside, padded, scalar_like(padded, -std::numeric_limits<double>::infinity()));
  }
  return channels_first(
      max_pool(images, extent_of(n, "kernel_shape"), sliding.strides, sliding.padding));
}

// The mean of a window is that of its elements within the images, unless zeros are to count.
Output average_pool_import(ImportedNode& n) {
  const Sliding sliding = sliding_of(n);
  const Extent windows = extent_of(n, "kernel_shape");
  const bool zeros_count = n.integer("count_include_pad", 0) != 0;
  if (zeros_count && sliding.padding == Padding::same) n.refuse("zeros around the images count");
  const auto mean_of = [&](Output images) {
    return avg_pool(sliding.padded(images), windows, sliding.strides, sliding.padding);
  };
  const Output images = channels_last(n.input(0));
  const Output means = mean_of(images);
  if (zeros_count || !sliding.pads()) return channels_first(means);
  return channels_first(means / mean_of(ones_like(images)));
}

using Reduction = Output (*)(Output, const Ints&, bool);

OnnxImport over_images(Reduction reduction) {
  return [reduction](ImportedNode& n) {
    if (n.rank(0) < 3)
      throw invalid_argument(fmt::format("{} is no image", n.input(0).type().to_string()));
    Ints axes(static_cast<std::size_t>(n.rank(0) - 2));
    std::iota(axes.begin(), axes.end(), 2);
    return reduction(n.input(0), axes, true);
  };
}

// The permutation that brings an axis to the end, and the one that brings it back.
Ints axis_to_end(int rank, int axis) {
  Ints permutation;
  for (int i = 0; i < rank; ++i)
    if (i != axis) permutation.push_back(i);
  permutation.push_back(axis);
  return permutation;
}

Ints inverse(const Ints& permutation) {
  Ints back(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    back[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return back;
}

template <class Compute>
Output along_axis(Output x, int rank, int axis, Compute&& compute) {
  if (axis == rank - 1) return compute(x);
  const Ints permutation = axis_to_end(rank, axis);
  return exchanged(compute(exchanged(x, permutation)), inverse(permutation));
}

Output batch_norm_import(ImportedNode& n) {
  if (n.integer("training_mode", 0) != 0)
    n.refuse("it normalises by the batch, which is for training; export the model for inference");
  return along_axis(n.input(0), n.rank(0), n.axis(1, 0), [&n](Output x) {
    return batch_norm_inference(x, n.input(1), n.input(2), n.input(3), n.input(4),
                                n.number("epsilon", 1e-5));
  });
}

Output layer_norm_import(ImportedNode& n) {
  if (n.axis(n.integer("axis", -1), 0) != n.rank(0) - 1)
    n.refuse("it normalises more than the last dimension");
  const Output beta = n.has(2) ? n.input(2) : zeros_like(n.input(1));
  return layer_norm(n.input(0), n.input(1), beta, n.number("epsilon", 1e-5));
}

using Rows = Output (*)(Output);

OnnxImport of_rows(Rows op) {
  return [op](ImportedNode& n) {
    return along_axis(n.input(0), n.rank(0), n.axis(n.integer("axis", -1), 0), op);
  };
}

}  // namespace

OnnxImports layer_imports() {
  return {
      {"MatMul", matmul_import},
      {"Gemm", gemm_import},
      {"Conv", conv_import},
      {"MaxPool", max_pool_import},
      {"AveragePool", average_pool_import},
      {"GlobalAveragePool", over_images(mean)},
      {"GlobalMaxPool", over_images(max)},
      {"BatchNormalization", batch_norm_import},
      {"LayerNormalization", layer_norm_import},
      {"Softmax", of_rows(softmax)},
      {"LogSoftmax", of_rows(log_softmax)},
  };
}

}  // namespace actorflow
