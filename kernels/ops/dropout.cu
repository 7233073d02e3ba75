// Dropout: each element is 0 with the probability `rate`, and else grows by 1 / (1 - rate).
//
// Whether element i stays is a function of i, the seed and the counter, as in random.cu, so the mask is
// never stored: the gradient draws it again. Srivastava et al., Dropout (JMLR 2014).
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/philox.h"
#include "kernels/loops/vectorised.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

void infer_dropout(InferContext& c) {
  expect_dtype_in<FloatingTypes>(c, 0);
  c.expect_dtype(1, DType::int64);
  c.expect_rank(1, 0);
  const auto rate = c.attr<double>("rate");
  if (!(rate >= 0 && rate < 1)) c.fail("a rate from 0 up to, but not, 1", std::to_string(rate));
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

const OpDef& dropout_op();

// The same elements of the gradient stay.
std::vector<Output> dropout_gradient(GradientContext& c) {
  return {c.graph().add(dropout_op(), {c.gradient(), c.input(1)}, c.node().attrs), Output()};
}

const OpDef& dropout_op() {
  static const OpDef op{.name = "Dropout",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"rate", 0.0, true}, {"seed", std::int64_t{0}, true}},
                        .infer = infer_dropout,
                        .gradient = dropout_gradient};
  return op;
}

// An element stays if its 32 random bits are not below the threshold.
template <class T>
struct Mask {
  std::uint64_t seed;
  std::uint32_t threshold;
  T scale;

  Mask(std::int64_t seed_attr, double rate)
      : seed(static_cast<std::uint64_t>(seed_attr)),
        threshold(static_cast<std::uint32_t>(rate * 0x1p32)),
        scale(static_cast<T>(1 / (1 - rate))) {}

  ACTORFLOW_HOST_DEVICE T apply(T x, std::uint32_t random) const {
    return random < threshold ? T(0) : x * scale;
  }
};

// Philox gives the bits of four elements at once.
constexpr std::int64_t words_per_block = 4;

// The random words of `lanes` blocks of Philox from a position on, element by element. The rounds go
// over all lanes, so that vectors compute them; philox() is what they compute.
template <int lanes>
void draw(std::uint64_t key, std::uint64_t position, std::uint64_t counter, std::uint32_t* random) {
  std::uint32_t x[words_per_block][lanes];
  for (int i = 0; i < lanes; ++i) {
    x[0][i] = static_cast<std::uint32_t>(position + static_cast<std::uint64_t>(i));
    x[1][i] = static_cast<std::uint32_t>((position + static_cast<std::uint64_t>(i)) >> 32U);
    x[2][i] = static_cast<std::uint32_t>(counter);
    x[3][i] = static_cast<std::uint32_t>(counter >> 32U);
  }
  for (PhiloxKey k(key); !k.done(); k.next())
    for (int i = 0; i < lanes; ++i) philox_round(k, x[0][i], x[1][i], x[2][i], x[3][i]);
  for (int i = 0; i < lanes; ++i)
    for (std::int64_t word = 0; word < words_per_block; ++word)
      random[i * words_per_block + word] = x[word][i];
}

template <class T>
void drop_on_cpu(const Mask<T>& mask, std::int64_t counter, std::int64_t elements, const T* x, T* out) {
  constexpr std::int64_t blocks = 64;
  vectorised([=] {
    for (std::int64_t first = 0; first < elements; first += blocks * words_per_block) {
      std::uint32_t random[blocks * words_per_block];
      draw<blocks>(mask.seed, static_cast<std::uint64_t>(first / words_per_block),
                   static_cast<std::uint64_t>(counter), random);
      const std::int64_t count = std::min(blocks * words_per_block, elements - first);
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) out[first + i] = mask.apply(x[first + i], random[i]);
    }
  });
}

#ifdef ACTORFLOW_CUDA
template <class T>
void drop_on_cuda(Device& device, const Mask<T>& mask, const std::int64_t* counter,
                  std::int64_t elements, const T* x, T* out) {
  launch(device, (elements + words_per_block - 1) / words_per_block, [=] __device__(std::int64_t i) {
    const PhiloxBlock block =
        philox(mask.seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(*counter));
    for (std::int64_t word = 0; word < words_per_block; ++word) {
      const std::int64_t element = i * words_per_block + word;
      if (element < elements) out[element] = mask.apply(x[element], block.words[word]);
    }
  });
}
#endif

template <class T>
void drop(Device& device, const Mask<T>& mask, const std::int64_t* counter, std::int64_t elements,
          const T* x, T* out) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return drop_on_cuda(device, mask, counter, elements, x, out);
#endif
  if (device.type() == DeviceType::cpu) drop_on_cpu(mask, *counter, elements, x, out);
}

void dropout_kernel(OpContext& c) {
  const Tensor &x = c.input(0), &counter = c.input(1);
  if (counter.dtype() != DType::int64 || counter.shape().rank() != 0)
    c.fail("an int64 scalar as the counter", counter.describe());
  dispatch<FloatingTypes>(c, x, [&]<class T>() {
    const Mask<T> mask(attr<std::int64_t>(c.node(), "seed"), attr<double>(c.node(), "rate"));
    Tensor& out = c.forward_or_allocate(0, 0, x.dtype(), x.shape());
    drop(c.device(), mask, static_cast<const std::int64_t*>(counter.data()), out.elements(),
         static_cast<const T*>(x.data()), static_cast<T*>(out.mutable_data()));
  });
}

}  // namespace

Output dropout(Output x, double rate, std::uint64_t seed, Output counter) {
  return add_node(dropout_op(), {x, counter},
                  {{"rate", rate}, {"seed", static_cast<std::int64_t>(seed)}});
}

std::vector<Op> dropout_ops() { return {on_all_devices<dropout_kernel>(dropout_op())}; }

}  // namespace actorflow
