// Convolution element by element: one source for the CPU and the GPU.
#include "kernels/core/dtypes.h"
#include "kernels/images/conv.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

// A place in a tensor of rank 4, from its index in row-major order.
struct Place {
  std::int64_t a, b, c, d;

  ACTORFLOW_HOST_DEVICE Place(std::int64_t i, std::int64_t dim_b, std::int64_t dim_c, std::int64_t dim_d)
      : a(i / dim_d / dim_c / dim_b), b(i / dim_d / dim_c % dim_b), c(i / dim_d % dim_c), d(i % dim_d) {}
};

ACTORFLOW_HOST_DEVICE inline std::int64_t flat(std::int64_t a, std::int64_t b, std::int64_t c,
                                               std::int64_t dim_b, std::int64_t dim_c,
                                               std::int64_t dim_d) {
  return ((a * dim_b + b) * dim_c + c) * dim_d;
}

template <class T>
struct ForwardLoop {
  ConvShape s;
  const T *images, *filter, *bias;
  bool relu;
  T* output;

  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    const Place at(i, s.rows.output, s.columns.output, s.out);
    double sum = bias ? static_cast<double>(bias[at.d]) : 0;
    for (std::int64_t row = s.rows.first(at.b); row < s.rows.last(at.b); ++row)
      for (std::int64_t column = s.columns.first(at.c); column < s.columns.last(at.c); ++column)
        sum += product(at, row, column);
    output[i] = static_cast<T>(relu && sum < 0 ? 0 : sum);
  }

  // Over the channels at one place of the window.
  ACTORFLOW_HOST_DEVICE double product(const Place& at, std::int64_t row, std::int64_t column) const {
    const T* x = images + flat(at.a, s.rows.begin(at.b) + row, s.columns.begin(at.c) + column,
                               s.rows.input, s.columns.input, s.in);
    const T* w = filter + flat(0, row, column, s.rows.window, s.columns.window, s.in * s.out) + at.d;
    double sum = 0;
    for (std::int64_t channel = 0; channel < s.in; ++channel)
      sum += static_cast<double>(x[channel]) * static_cast<double>(w[channel * s.out]);
    return sum;
  }
};

// The window whose element `element` is at `input`, or -1 if there is none.
ACTORFLOW_HOST_DEVICE inline std::int64_t window_over(const SlidingAxis& axis, std::int64_t input,
                                                      std::int64_t element) {
  const std::int64_t begin = input + axis.before - element;
  return begin >= 0 && begin % axis.stride == 0 && begin / axis.stride < axis.output
             ? begin / axis.stride
             : -1;
}

template <class T>
struct BackpropInputLoop {
  ConvShape s;
  const T *filter, *gradient;
  T* images_gradient;

  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    const Place at(i, s.rows.input, s.columns.input, s.in);
    double sum = 0;
    for (std::int64_t row = 0; row < s.rows.window; ++row)
      for (std::int64_t column = 0; column < s.columns.window; ++column) sum += product(at, row, column);
    images_gradient[i] = static_cast<T>(sum);
  }

  ACTORFLOW_HOST_DEVICE double product(const Place& at, std::int64_t row, std::int64_t column) const {
    const std::int64_t place_row = window_over(s.rows, at.b, row);
    const std::int64_t place_column = window_over(s.columns, at.c, column);
    if (place_row < 0 || place_column < 0) return 0;
    const T* g = gradient + flat(at.a, place_row, place_column, s.rows.output, s.columns.output, s.out);
    const T* w = filter + flat(row, column, at.d, s.columns.window, s.in, s.out);
    double sum = 0;
    for (std::int64_t channel = 0; channel < s.out; ++channel)
      sum += static_cast<double>(g[channel]) * static_cast<double>(w[channel]);
    return sum;
  }
};

template <class T>
struct BackpropFilterLoop {
  ConvShape s;
  const T *images, *gradient;
  T* filter_gradient;

  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    const Place at(i, s.columns.window, s.in, s.out);
    double sum = 0;
    for (std::int64_t image = 0; image < s.batch; ++image)
      for (std::int64_t row = 0; row < s.rows.output; ++row)
        for (std::int64_t column = 0; column < s.columns.output; ++column)
          sum += product(at, image, row, column);
    filter_gradient[i] = static_cast<T>(sum);
  }

  ACTORFLOW_HOST_DEVICE double product(const Place& at, std::int64_t image, std::int64_t row,
                                       std::int64_t column) const {
    const std::int64_t input_row = s.rows.begin(row) + at.a;
    const std::int64_t input_column = s.columns.begin(column) + at.b;
    if (input_row < 0 || input_row >= s.rows.input || input_column < 0 ||
        input_column >= s.columns.input)
      return 0;
    return static_cast<double>(
               images[flat(image, input_row, input_column, s.rows.input, s.columns.input, s.in) +
                      at.c]) *
           static_cast<double>(
               gradient[flat(image, row, column, s.rows.output, s.columns.output, s.out) + at.d]);
  }
};

template <class T>
struct BackpropBias {
  std::int64_t rows, columns;
  const T* gradient;
  T* bias_gradient;

  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    double sum = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      sum += static_cast<double>(gradient[row * columns + i]);
    bias_gradient[i] = static_cast<T>(sum);
  }
};

template <class Body>
void for_each_element(Device& device, std::int64_t count, const Body& body) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return launch(device, count, body);
#endif
  if (device.type() == DeviceType::cpu)
    for (std::int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace

void LoopConv::forward(const ConvShape& shape, const Tensor& images, const Tensor& filter,
                       const Tensor* bias, bool relu, Tensor& output, const OpContext& c) const {
  FloatingTypes::dispatch(output.dtype(), [&]<class T>() {
    for_each_element(
        c.device(), output.elements(),
        ForwardLoop<T>{shape, data_of<T>(images), data_of<T>(filter), bias ? data_of<T>(*bias) : nullptr,
                       relu, mutable_data_of<T>(output)});
  });
}

void LoopConv::backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                              Tensor& images_gradient, const OpContext& c) const {
  FloatingTypes::dispatch(gradient.dtype(), [&]<class T>() {
    for_each_element(c.device(), images_gradient.elements(),
                     BackpropInputLoop<T>{shape, data_of<T>(filter), data_of<T>(gradient),
                                          mutable_data_of<T>(images_gradient)});
  });
}

void LoopConv::backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                               Tensor& filter_gradient, Tensor* bias_gradient,
                               const OpContext& c) const {
  FloatingTypes::dispatch(gradient.dtype(), [&]<class T>() {
    for_each_element(c.device(), filter_gradient.elements(),
                     BackpropFilterLoop<T>{shape, data_of<T>(images), data_of<T>(gradient),
                                           mutable_data_of<T>(filter_gradient)});
    if (bias_gradient)
      for_each_element(c.device(), shape.out,
                       BackpropBias<T>{shape.batch * shape.rows.output * shape.columns.output, shape.out,
                                       data_of<T>(gradient), mutable_data_of<T>(*bias_gradient)});
  });
}

}  // namespace actorflow
