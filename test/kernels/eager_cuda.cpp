// Eager ops on a GPU: a training loop learns what it learns on the CPU.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/eager/eager_optimizer.h"
#include "kernels/eager/gradient_tape.h"
#include "kernels/eager/traced_function.h"
#include "kernels/ops.h"
#include "test/kernels/support/random_values.h"
#include "test/support/has_gpu.h"

BOOST_AUTO_TEST_SUITE(eager_cuda, *boost::unit_test::precondition(actorflow::test::has_gpu))

using namespace actorflow;
using namespace actorflow::test;

namespace {

Tensor learned(EagerContext& context) {
  const EagerVariable w("w", random_values({8, 3}, 1));
  EagerOptimizer optimizer(Adam{0.1}, context);
  const Tensor x = random_values({16, 8}, 2), y = random_values({16, 3}, 3);
  for (int step = 0; step < 5; ++step) {
    GradientTape tape(context);
    const Output loss = mean(square(tanh(matmul(tape.constant(x), w)) - tape.constant(y)));
    optimizer.apply(tape.gradients(loss, {w}), {w});
  }
  const auto predict = trace([&](const Outputs& in) { return Outputs{matmul(in[0], w)}; }, {}, context);
  return context.device().to_host(predict({x})[0]);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_loop_learns_what_it_learns_on_the_cpu) {
  EagerContext cpu, gpu({.device = "gpu:0"});
  const Tensor expected = learned(cpu), actual = learned(gpu);
  BOOST_TEST_REQUIRE(actual.describe() == expected.describe());
  for (std::size_t i = 0; i < actual.values<float>().size(); ++i)
    BOOST_TEST(std::abs(actual.values<float>()[i] - expected.values<float>()[i]) < 2e-2);
}

BOOST_AUTO_TEST_SUITE_END()
