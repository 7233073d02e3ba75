#include "test/kernels/support/conv_rows.h"

#include <cmath>
#include <string>

#include "test/kernels/support/reference.h"

namespace actorflow::test {
namespace {

// How windows [height, width] slide, as the reference sees it: padding in front is given, not computed.
struct Slide {
  std::int64_t stride_rows = 1, stride_columns = 1;
  std::int64_t rows_before = 0, columns_before = 0;
};

Attrs attrs(const std::string& padding, const Slide& slide) {
  return {{"strides", Ints{1, slide.stride_rows, slide.stride_columns, 1}}, {"padding", padding}};
}

Attrs with(Attrs attrs, const std::string& name, const AttrValue& value) {
  attrs[name] = value;
  return attrs;
}

// An image's element, 0 in the padding.
double pixel(const Array& images, std::int64_t image, std::int64_t row, std::int64_t column,
             std::int64_t channel) {
  const bool inside = row >= 0 && row < images.shape[1] && column >= 0 && column < images.shape[2];
  return inside ? at(images, {image, row, column, channel}) : 0;
}

// images * filter for an output of height x width.
Array convolve(const Array& x, const Array& filter, std::int64_t height, std::int64_t width,
               const Slide& slide) {
  const Shape& f = filter.shape;
  return array_of({x.shape[0], height, width, f[3]}, [&](const Index& i) {
    double sum = 0;
    array_of({f[0], f[1], f[2]}, [&](const Index& k) {
      return sum += pixel(x, i[0], i[1] * slide.stride_rows - slide.rows_before + k[0],
                          i[2] * slide.stride_columns - slide.columns_before + k[1], k[2]) *
                    at(filter, {k[0], k[1], k[2], i[3]});
    });
    return sum;
  });
}

Reference conv2d(std::int64_t height, std::int64_t width, const Slide& slide = {}, bool relu = false) {
  return [=](const Arrays& in) {
    Array y = convolve(in[0], in[1], height, width, slide);
    if (in.size() == 3)
      y = array_of(y.shape, [&](const Index& i) {
        const double sum = at(y, i) + in[2][i[3]];
        return relu ? std::max(sum, 0.0) : sum;
      });
    return Arrays{y};
  };
}

// Every product of the convolution once: adds to the gradient of images and filter what it passes on.
template <class Product>
void for_each_product(const Shape& images, const Shape& filter, const Shape& outputs, const Slide& slide,
                      const Product& product) {
  array_of(outputs, [&](const Index& i) {
    array_of({filter[0], filter[1], filter[2]}, [&](const Index& k) {
      const std::int64_t row = i[1] * slide.stride_rows - slide.rows_before + k[0];
      const std::int64_t column = i[2] * slide.stride_columns - slide.columns_before + k[1];
      if (row >= 0 && row < images[1] && column >= 0 && column < images[2])
        product(Index{i[0], row, column, k[2]}, Index{k[0], k[1], k[2], i[3]}, i);
      return 0.0;
    });
    return 0.0;
  });
}

double& element(Array& array, const Index& index) {
  std::int64_t flat = 0;
  for (int axis = 0; axis < array.shape.rank(); ++axis)
    flat = flat * array.shape[axis] + index[static_cast<std::size_t>(axis)];
  return array.values[static_cast<std::size_t>(flat)];
}

Array zeros(const Shape& shape) {
  return array_of(shape, [](const Index&) { return 0.0; });
}

Reference backprop_input(const Slide& slide = {}) {
  return [=](const Arrays& in) {
    Array dx = zeros(in[0].shape);
    for_each_product(in[0].shape, in[1].shape, in[2].shape, slide,
                     [&](const Index& x, const Index& w, const Index& y) {
                       element(dx, x) += at(in[1], w) * at(in[2], y);
                     });
    return Arrays{dx};
  };
}

Reference backprop_filter(const Slide& slide = {}, bool bias = false) {
  return [=](const Arrays& in) {
    Array dw = zeros(in[1].shape), db = zeros({in[1].shape[3]});
    for_each_product(in[0].shape, in[1].shape, in[2].shape, slide,
                     [&](const Index& x, const Index& w, const Index& y) {
                       element(dw, w) += at(in[0], x) * at(in[2], y);
                     });
    array_of(in[2].shape, [&](const Index& y) { return element(db, {y[3]}) += at(in[2], y); });
    return bias ? Arrays{dw, db} : Arrays{dw};
  };
}

// The elements of each window that are not padding, in order.
Array pool(const Array& x, std::int64_t height, std::int64_t width, std::int64_t window,
           const Slide& slide, Fold fold) {
  return array_of({x.shape[0], height, width, x.shape[3]}, [&](const Index& i) {
    std::vector<double> values;
    array_of({window, window}, [&](const Index& k) {
      const std::int64_t row = i[1] * slide.stride_rows - slide.rows_before + k[0];
      const std::int64_t column = i[2] * slide.stride_columns - slide.columns_before + k[1];
      if (row >= 0 && row < x.shape[1] && column >= 0 && column < x.shape[2])
        values.push_back(at(x, {i[0], row, column, i[3]}));
      return 0.0;
    });
    return fold(values);
  });
}

Reference pool(std::int64_t height, std::int64_t width, std::int64_t window, const Slide& slide,
               Fold fold) {
  return [=](const Arrays& in) { return Arrays{pool(in[0], height, width, window, slide, fold)}; };
}

// Each element's share of the gradient: what pooling loses if that element is changed, by the pooled
// values themselves.
Reference avg_pool_grad(std::int64_t window, const Slide& slide) {
  return [=](const Arrays& in) {
    const Shape &x = in[0].shape, &y = in[1].shape;
    return Arrays{array_of(x, [&](const Index& i) {
      Array alone = zeros(x);
      element(alone, i) = 1;
      const Array shares = pool(alone, y[1], y[2], window, slide, mean_of);
      double sum = 0;
      array_of(y, [&](const Index& k) { return sum += at(shares, k) * at(in[1], k); });
      return sum;
    })};
  };
}

Rows pooling_rows() {
  const Input images{f32, {2, 5, 6, 3}}, wide{f32, {2, 4, 6, 20}};
  const Slide tiles{2, 2, 0, 0}, overlapping{2, 2, 1, 0};
  const auto attributes = [](std::int64_t window, const std::string& padding, const Slide& slide) {
    return with(attrs(padding, slide), "ksize", Ints{1, window, window, 1});
  };
  const Input large{f32, {2, 3, 3, 3}}, tiled{f32, {2, 2, 3, 20}};
  return {
      {"MaxPool", "tiles", {wide}, attributes(2, "SAME", tiles), pool(2, 3, 2, tiles, largest)},
      {"MaxPool", "ragged", {images}, attributes(2, "SAME", tiles), pool(3, 3, 2, tiles, largest)},
      {"MaxPool", "VALID", {images}, attributes(2, "VALID", tiles), pool(2, 3, 2, tiles, largest)},
      {"MaxPool",
       "overlapping",
       {images},
       attributes(3, "SAME", overlapping),
       pool(3, 3, 3, overlapping, largest)},
      {"AvgPool", "tiles", {wide}, attributes(2, "SAME", tiles), pool(2, 3, 2, tiles, mean_of)},
      {"AvgPool",
       "overlapping",
       {images},
       attributes(3, "SAME", overlapping),
       pool(3, 3, 3, overlapping, mean_of)},
      {"AvgPool", "every other", {images}, attributes(1, "SAME", tiles), pool(3, 3, 1, tiles, mean_of)},
      {"AvgPoolGrad", "tiles", {wide, tiled}, attributes(2, "SAME", tiles), avg_pool_grad(2, tiles)},
      {"AvgPoolGrad",
       "overlapping",
       {images, large},
       attributes(3, "SAME", overlapping),
       avg_pool_grad(3, overlapping)},
      // By the rule of its values in the suite "pooling", and by MaxPool's difference quotients.
      {"MaxPoolGrad", "", {images, large, large}, attributes(3, "SAME", overlapping), {}},
  };
}

Rows convolution_rows() {
  const Input images{f32, {2, 5, 6, 3}}, filter{f32, {3, 3, 3, 4}}, bias{f32, {4}};
  const Slide padded{1, 1, 1, 1};  // SAME, window 3
  // Stride 2: an axis of 5 needs 2 zeros, one on each side; an axis of 6 needs 1, behind.
  const Slide strided{2, 2, 1, 0};
  const Input full{f32, {2, 5, 6, 4}}, small{f32, {2, 3, 3, 4}}, inner{f32, {2, 3, 4, 4}};
  // What oneDNN has fast paths for: 16 channels and more.
  const Input wide{f32, {2, 4, 4, 16}, -1, 1}, wide_filter{f32, {3, 3, 16, 32}, -0.3, 0.3};
  const Input wide_output{f32, {2, 2, 2, 32}, -1, 1};
  const Slide halving{2, 2, 0, 0};
  // Large enough for a CPU with AMX to round the factors.
  const Input square{f32, {1, 5, 5, 32}, -1, 1}, square_filter{f32, {1, 1, 32, 32}, -1, 1};
  const Attrs rounded = with(attrs("SAME", {}), "precision", std::string("bf16"));
  return {
      {"Conv2D", "", {images, filter}, attrs("SAME", padded), conv2d(5, 6, padded), 2e-6},
      {"Conv2D", "VALID", {images, filter}, attrs("VALID", {}), conv2d(3, 4), 2e-6},
      {"Conv2D", "strides", {images, filter}, attrs("SAME", strided), conv2d(3, 3, strided), 2e-6},
      {"Conv2D",
       "an even window",
       {images, {f32, {2, 4, 3, 4}}},
       attrs("SAME", {}),
       conv2d(5, 6, {1, 1, 0, 1}),
       2e-6},
      {"Conv2D",
       "1x1, strides that skip",
       {images, {f32, {1, 1, 3, 4}}},
       attrs("VALID", {2, 3, 0, 0}),
       conv2d(3, 2, {2, 3, 0, 0}),
       2e-6},
      {"Conv2D",
       "16 channels",
       {wide, wide_filter},
       attrs("SAME", halving),
       conv2d(2, 2, halving),
       2e-6},
      {"Conv2D",
       "no images",
       {{f32, {0, 5, 6, 3}}, filter},
       attrs("SAME", padded),
       conv2d(5, 6, padded)},
      {"Conv2D", "bf16", {square, square_filter}, rounded, conv2d(5, 5), 0.02},
      {"FusedConv2D", "", {images, filter, bias}, attrs("SAME", padded), conv2d(5, 6, padded), 2e-6},
      {"FusedConv2D",
       "with relu",
       {images, filter, bias},
       with(attrs("SAME", padded), "relu", true),
       conv2d(5, 6, padded, true),
       2e-6},
      {"Conv2DBackpropInput",
       "",
       {images, filter, full},
       attrs("SAME", padded),
       backprop_input(padded),
       2e-6},
      {"Conv2DBackpropInput",
       "VALID",
       {images, filter, inner},
       attrs("VALID", {}),
       backprop_input(),
       2e-6},
      {"Conv2DBackpropInput",
       "strides",
       {images, filter, small},
       attrs("SAME", strided),
       backprop_input(strided),
       2e-6},
      {"Conv2DBackpropInput",
       "16 channels",
       {wide, wide_filter, wide_output},
       attrs("SAME", halving),
       backprop_input(halving),
       2e-6},
      {"Conv2DBackpropInput",
       "bf16",
       {square, square_filter, square},
       rounded,
       backprop_input(),
       0.02},
      {"Conv2DBackpropFilter",
       "",
       {images, filter, full},
       attrs("SAME", padded),
       backprop_filter(padded),
       4e-6},
      {"Conv2DBackpropFilter",
       "strides",
       {images, filter, small},
       attrs("SAME", strided),
       backprop_filter(strided),
       4e-6},
      {"Conv2DBackpropFilter",
       "no images",
       {{f32, {0, 5, 6, 3}}, filter, {f32, {0, 5, 6, 4}}},
       attrs("SAME", padded),
       backprop_filter(padded)},
      {"Conv2DBackpropFilter",
       "bf16",
       {square, square_filter, square},
       rounded,
       backprop_filter(),
       0.03},
      {"FusedConv2DBackpropFilter",
       "",
       {images, filter, full},
       attrs("SAME", padded),
       backprop_filter(padded, true),
       4e-6},
      {"FusedConv2DBackpropFilter",
       "16 channels",
       {wide, wide_filter, wide_output},
       attrs("SAME", halving),
       backprop_filter(halving, true),
       4e-6},
  };
}

// Mean, sum of squared differences and number of the values of a channel.
struct Channel {
  double mean = 0, squares = 0, count = 0;
};

Channel channel_of(const Array& x, std::int64_t channel) {
  const std::int64_t channels = x.shape[x.shape.rank() - 1];
  Channel result;
  for (std::int64_t i = channel; i < x.shape.elements(); i += channels)
    result.mean += x[i], ++result.count;
  result.mean /= result.count;
  for (std::int64_t i = channel; i < x.shape.elements(); i += channels)
    result.squares += (x[i] - result.mean) * (x[i] - result.mean);
  return result;
}

constexpr double channel_epsilon = 0.01;

Reference batch_norm(bool relu) {
  return [=](const Arrays& in) {
    const Array &x = in[0], &scale = in[1], &offset = in[2];
    const auto inverse = [&](std::int64_t c) {
      const Channel channel = channel_of(x, c);
      return 1 / std::sqrt(channel.squares / channel.count + channel_epsilon);
    };
    return Arrays{array_of(x.shape,
                           [&](const Index& i) {
                             const std::int64_t c = i.back();
                             double y =
                                 (at(x, i) - channel_of(x, c).mean) * inverse(c) * scale[c] + offset[c];
                             if (in.size() == 4) y += at(in[3], i);
                             return relu ? std::max(y, 0.0) : y;
                           }),
                  array_of(scale.shape, [&](const Index& i) { return channel_of(x, i[0]).mean; }),
                  array_of(scale.shape,
                           [&](const Index& i) {
                             const Channel channel = channel_of(x, i[0]);
                             return channel.squares / (channel.count - 1);
                           }),
                  array_of(scale.shape, [&](const Index& i) { return inverse(i[0]); })};
  };
}

// Inputs: g, x, scale, offset, mean, inverse_stddev and, with a side input, y. By the chain rule with
// mean and inverse_stddev as given, whether or not they are those of x.
Reference batch_norm_grad(bool relu) {
  return [=](const Arrays& in) {
    const Array &x = in[1], &scale = in[2], &offset = in[3], &mean = in[4], &inverse = in[5];
    const Array hat = array_of(
        x.shape, [&](const Index& i) { return (at(x, i) - mean[i.back()]) * inverse[i.back()]; });
    const Array g = array_of(x.shape, [&](const Index& i) {
      const double y = in.size() == 7 ? at(in[6], i) : at(hat, i) * scale[i.back()] + offset[i.back()];
      return relu && y <= 0 ? 0 : at(in[0], i);
    });
    Array dscale = zeros(scale.shape), doffset = zeros(scale.shape);
    array_of(x.shape, [&](const Index& i) {
      element(dscale, {i.back()}) += at(g, i) * at(hat, i);
      return element(doffset, {i.back()}) += at(g, i);
    });
    const double count =
        static_cast<double>(x.shape.elements()) / static_cast<double>(scale.shape.elements());
    const Array dx = array_of(x.shape, [&](const Index& i) {
      const std::int64_t c = i.back();
      return scale[c] * inverse[c] * (at(g, i) - doffset[c] / count - at(hat, i) * dscale[c] / count);
    });
    return in.size() == 7 ? Arrays{dx, dscale, doffset, g} : Arrays{dx, dscale, doffset};
  };
}

Rows batch_norm_rows() {
  const Input images{f32, {2, 3, 5, 3}}, per_channel{f32, {3}, 0.5, 2}, positive{f32, {3}, 0.5, 2};
  const auto attributes = [](bool relu) { return Attrs{{"epsilon", channel_epsilon}, {"relu", relu}}; };
  const auto mask = [](bool relu) { return Attrs{{"relu", relu}}; };
  // More channels than fit side by side into one group of lanes.
  const Input wide{f32, {7, 70}}, wide_channel{f32, {70}, 0.5, 2};
  return {
      {"FusedBatchNorm",
       "",
       {images, per_channel, per_channel},
       attributes(false),
       batch_norm(false),
       4e-6},
      {"FusedBatchNorm",
       "with relu",
       {images, per_channel, per_channel},
       attributes(true),
       batch_norm(true),
       4e-6},
      {"FusedBatchNorm",
       "with a side input",
       {images, per_channel, per_channel, images},
       attributes(false),
       batch_norm(false),
       4e-6},
      {"FusedBatchNorm",
       "with a side input and relu",
       {images, per_channel, per_channel, images},
       attributes(true),
       batch_norm(true),
       4e-6},
      {"FusedBatchNorm",
       "wide",
       {wide, wide_channel, wide_channel},
       attributes(true),
       batch_norm(true),
       4e-6},
      {"FusedBatchNormGrad",
       "",
       {images, images, per_channel, per_channel, per_channel, positive},
       mask(false),
       batch_norm_grad(false),
       1e-5},
      {"FusedBatchNormGrad",
       "with relu",
       {images, images, per_channel, per_channel, per_channel, positive},
       mask(true),
       batch_norm_grad(true),
       1e-5},
      {"FusedBatchNormGrad",
       "with a side input and relu",
       {images, images, per_channel, per_channel, per_channel, positive, images},
       mask(true),
       batch_norm_grad(true),
       1e-5},
      {"FusedBatchNormGrad",
       "wide",
       {wide, wide, wide_channel, wide_channel, wide_channel, wide_channel},
       mask(true),
       batch_norm_grad(true),
       1e-5},
  };
}

}  // namespace

std::vector<OpRow> conv_rows() {
  Rows all;
  for (const auto family : {convolution_rows, pooling_rows, batch_norm_rows})
    for (auto& row : family()) all.push_back(std::move(row));
  return all;
}

}  // namespace actorflow::test
