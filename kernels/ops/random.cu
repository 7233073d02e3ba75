// RandomUniform, RandomNormal and TruncatedNormal.
//
// Element i of a result is a function of i, the seed and the counter. It is computed with the operations
// that IEEE 754 rounds in one way only, and without fusing them (see CMakeLists.txt), so that every
// device gives the same bits; hence a logarithm of our own.
#include <bit>
#include <cmath>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/devices/host_device.h"
#include "kernels/loops/philox.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

// Horner's rule; the coefficient of the highest power comes first.
template <std::size_t count>
ACTORFLOW_HOST_DEVICE double polynomial(const double (&coefficients)[count], double x) {
  double value = coefficients[0];
  for (std::size_t i = 1; i < count; ++i) value = value * x + coefficients[i];
  return value;
}

// Of a normal positive number: x = m 2^e with m near 1, and log(m) = 2 atanh((m - 1) / (m + 1)) by its
// Taylor series, whose first omitted term is below 2^-60.
ACTORFLOW_HOST_DEVICE double portable_log(double x) {
  constexpr std::uint64_t bits_of_sqrt_half = 0x3FE6A09E667F3BCD;
  constexpr std::uint64_t exponent_mask = 0xFFF0000000000000;
  constexpr double ln2 = 0.69314718055994530942;
  constexpr double inverse_odd[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                    1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t scale =
      (bits - bits_of_sqrt_half) & exponent_mask;  // 2^e, with m from sqrt(1/2) on
  const auto m = std::bit_cast<double>(bits - scale);
  const auto e = static_cast<double>(static_cast<std::int64_t>(scale) >> 52);
  const double s = (m - 1) / (m + 1);
  return e * ln2 + 2 * s * polynomial(inverse_odd, s * s);
}

// The inverse of the standard normal distribution function, to about 1e-16. Wichura, Algorithm AS 241:
// The Percentage Points of the Normal Distribution, Applied Statistics 37 (1988), function PPND16.
ACTORFLOW_HOST_DEVICE double normal_quantile(double p) {
  constexpr double a[] = {2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
                          4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
                          1.3314166789178437745e+2, 3.3871328727963666080e+0};
  constexpr double b[] = {5.2264952788528545610e+3, 2.8729085735721942674e+4,
                          3.9307895800092710610e+4, 2.1213794301586595867e+4,
                          5.3941960214247511077e+3, 6.8718700749205790830e+2,
                          4.2313330701600911252e+1, 1.0};
  constexpr double c[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                          2.41780725177450611770e-1, 1.27045825245236838258e+0,
                          3.64784832476320460504e+0, 5.76949722146069140550e+0,
                          4.63033784615654529590e+0, 1.42343711074968357734e+0};
  constexpr double d[] = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                          1.51986665636164571966e-2, 1.48103976427480074590e-1,
                          6.89767334985100004550e-1, 1.67638483018380384940e+0,
                          2.05319162663775882187e+0, 1.0};
  constexpr double e[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                          1.24266094738807843860e-3, 2.65321895265761230930e-2,
                          2.96560571828504891230e-1, 1.78482653991729133580e+0,
                          5.46378491116411436990e+0, 6.65790464350110377720e+0};
  constexpr double f[] = {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                          1.84631831751005468180e-5,  7.86869131145613259100e-4,
                          1.48753612908506148525e-2,  1.36929880922735805310e-1,
                          5.99832206555887937690e-1,  1.0};
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  const double z = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6)
                          : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -z : z;
}

// A distribution turns a number 0 < u < 1 into an element.

struct Uniform {
  double low, high;
  template <class T>
  ACTORFLOW_HOST_DEVICE T sample(double u) const {
    const auto value = static_cast<T>(low + u * (high - low));
    return value < static_cast<T>(high) ? value : static_cast<T>(low);  // rounded up to the open end
  }
};

struct Normal {
  double mean, stddev;
  template <class T>
  ACTORFLOW_HOST_DEVICE T sample(double u) const {
    return static_cast<T>(mean + stddev * normal_quantile(u));
  }
};

struct TruncatedNormal {
  double mean, stddev;
  template <class T>
  ACTORFLOW_HOST_DEVICE T sample(double u) const {
    constexpr double below = 0.022750131948179207200;  // the normal distribution function of -2
    return static_cast<T>(mean + stddev * normal_quantile(below + u * (1 - 2 * below)));
  }
};

// The elements that one block of Philox serves: 32 random bits for a float32, 52 for a float64. The half
// keeps u away from both ends.
template <class T>
inline constexpr std::int64_t elements_per_block = sizeof(T) == sizeof(float) ? 4 : 2;

template <class T>
ACTORFLOW_HOST_DEVICE double unit_sample(const PhiloxBlock& block, std::int64_t i) {
  if constexpr (elements_per_block<T> == 4) {
    return (block.words[i] + 0.5) * 0x1p-32;
  } else {
    const std::uint64_t bits = std::uint64_t{block.words[2 * i + 1]} << 32U | block.words[2 * i];
    return (static_cast<double>(bits >> 12U) + 0.5) * 0x1p-52;
  }
}

template <class T, class Distribution>
struct RandomBody {
  Distribution distribution;
  std::uint64_t seed;
  const std::int64_t* counter;  // null stands for 0
  std::int64_t elements;
  T* out;

  // Fills the elements of one block.
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t block) const {
    constexpr std::int64_t per_block = elements_per_block<T>;
    const auto high = counter ? static_cast<std::uint64_t>(*counter) : 0;
    const PhiloxBlock words = philox(seed, static_cast<std::uint64_t>(block), high);
    const std::int64_t first = block * per_block;
    for (std::int64_t i = 0; i < per_block && first + i < elements; ++i)
      out[first + i] = distribution.template sample<T>(unit_sample<T>(words, i));
  }
};

template <class Body>
void run_random(Device& device, std::int64_t blocks, const Body& body) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return launch(device, blocks, body);
#endif
  if (device.type() == DeviceType::cpu)
    for (std::int64_t block = 0; block < blocks; ++block) body(block);
}

void expect_counter(InferContext& c) {
  if (c.inputs() == 0) return;
  c.expect_dtype(0, DType::int64);
  c.expect_rank(0, 0);
}

// Every distribution has two numbers as its attributes.
struct Parameters {
  std::string_view first, second;
};
constexpr Parameters bounds{"low", "high"}, moments{"mean", "stddev"};

void infer_random(InferContext& c) {
  expect_counter(c);
  const DType dtype = c.attr<DType>("dtype");
  const auto& shape = c.attr<Shape>("shape");
  if (!FloatingTypes::contains(dtype))
    c.fail("a dtype of " + FloatingTypes::names(), std::string(to_string(dtype)));
  if (!shape.fully_known()) c.fail("a fully known shape", shape.to_string());
  c.add_output(dtype, shape);
}

void infer_uniform(InferContext& c) {
  if (!(c.attr<double>("low") < c.attr<double>("high")))
    c.fail("low < high",
           std::to_string(c.attr<double>("low")) + " and " + std::to_string(c.attr<double>("high")));
  infer_random(c);
}

void infer_normal(InferContext& c) {
  if (!(c.attr<double>("stddev") >= 0))
    c.fail("a standard deviation of 0 or more", std::to_string(c.attr<double>("stddev")));
  infer_random(c);
}

OpDef random_def(std::string_view name, decltype(OpDef::infer) infer, const Parameters& parameters) {
  return {.name = name,
          .max_inputs = 1,
          .attrs = {{"dtype", DType::invalid, true},
                    {"shape", Shape(), true},
                    {"seed", std::int64_t{0}, true},
                    {parameters.first, 0.0, true},
                    {parameters.second, 0.0, true}},
          .infer = infer};
}

const OpDef& uniform_op() {
  static const OpDef op = random_def("RandomUniform", infer_uniform, bounds);
  return op;
}

const OpDef& normal_op() {
  static const OpDef op = random_def("RandomNormal", infer_normal, moments);
  return op;
}

const OpDef& truncated_normal_op() {
  static const OpDef op = random_def("TruncatedNormal", infer_normal, moments);
  return op;
}

template <class Distribution, const Parameters& parameters>
void random_kernel(OpContext& c) {
  const Node& node = c.node();
  const Distribution distribution{attr<double>(node, parameters.first),
                                  attr<double>(node, parameters.second)};
  Tensor& out = c.allocate_output(0, attr<DType>(node, "dtype"), attr<Shape>(node, "shape"));
  const auto seed = static_cast<std::uint64_t>(attr<std::int64_t>(node, "seed"));
  const auto* counter = c.inputs() == 0 ? nullptr : static_cast<const std::int64_t*>(c.input(0).data());
  dispatch<FloatingTypes>(c, out, [&]<class T>() {
    const std::int64_t blocks = (out.elements() + elements_per_block<T> - 1) / elements_per_block<T>;
    run_random(c.device(), blocks,
               RandomBody<T, Distribution>{distribution, seed, counter, out.elements(),
                                           static_cast<T*>(out.mutable_data())});
  });
}

Output add_random(Graph& graph, const OpDef& op, Attrs attrs, std::uint64_t seed, const Shape& shape,
                  DType dtype, Output counter) {
  attrs.insert({{"seed", static_cast<std::int64_t>(seed)}, {"shape", shape}, {"dtype", dtype}});
  return graph.add(op, counter ? std::vector{counter} : std::vector<Output>(), std::move(attrs));
}

}  // namespace

Output random_uniform(Graph& graph, const Shape& shape, double low, double high, std::uint64_t seed,
                      DType dtype, Output counter) {
  return add_random(graph, uniform_op(), {{"low", low}, {"high", high}}, seed, shape, dtype, counter);
}

Output random_normal(Graph& graph, const Shape& shape, double mean, double stddev, std::uint64_t seed,
                     DType dtype, Output counter) {
  return add_random(graph, normal_op(), {{"mean", mean}, {"stddev", stddev}}, seed, shape, dtype,
                    counter);
}

Output truncated_normal(Graph& graph, const Shape& shape, double mean, double stddev, std::uint64_t seed,
                        DType dtype, Output counter) {
  const Attrs attrs{{"mean", mean}, {"stddev", stddev}};
  return add_random(graph, truncated_normal_op(), attrs, seed, shape, dtype, counter);
}

std::vector<Op> random_ops() {
  return {on_all_devices<random_kernel<Uniform, bounds>>(uniform_op()),
          on_all_devices<random_kernel<Normal, moments>>(normal_op()),
          on_all_devices<random_kernel<TruncatedNormal, moments>>(truncated_normal_op())};
}

}  // namespace actorflow
