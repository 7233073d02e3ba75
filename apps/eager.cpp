// A training loop of one's own: ops compute at once, a tape gives gradients, and C++ decides when to
// end.
#include <fmt/format.h>

#include "actors/actorflow.h"
#include "apps/cli/program.h"

using namespace actorflow;

namespace {

// Learns the exclusive or of two bits.
int learn() {
  const Tensor bits{{0.0F, 0.0F}, {0.0F, 1.0F}, {1.0F, 0.0F}, {1.0F, 1.0F}}, labels{0, 1, 1, 0};
  EagerModel model({dense(8, tanh), dense(2)});
  EagerOptimizer optimizer(Adam{0.05});
  for (int step = 0;; ++step) {
    GradientTape tape;
    const Output logits = model(tape.constant(bits), {.training = true});
    const Output loss = mean(softmax_cross_entropy(logits, tape.constant(labels)));
    if (value(loss).scalar<float>() < 0.01F || step == 1000) {
      fmt::print("loss {:.3f} after {} steps\n", value(loss).scalar<float>(), step);
      break;
    }
    optimizer.apply(tape.gradients(loss, model.trained()), model.trained());
  }
  const TracedFunction classes =
      trace([&](const Outputs& in) { return Outputs{argmax(model(in[0]), 1)}; });
  for (const auto label : classes({bits})[0].values<std::int64_t>()) fmt::print("{} ", label);
  fmt::print("\n");
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("A training loop of one's own", "eager");
  return run_program(program, argc, argv, learn);
}
