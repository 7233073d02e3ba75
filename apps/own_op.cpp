// An op and an optimizer of the program's own. Both are handed to the tasks by an explicit list; the
// optimizer runs on the parameter server.
#include <cmath>
#include <iostream>

#include "actors/actorflow.h"
#include "apps/cli/program.h"
#include "kernels/core/kernel.h"
#include "kernels/update/elementwise_optimizer.h"

using namespace actorflow;

namespace {

// Hypot: sqrt(a^2 + b^2) of float32, element by element, without overflow.
void infer_hypot(InferContext& c) {
  c.expect_dtype(0, DType::float32);
  c.expect_same_dtype();
  if (!c.input(0).shape.compatible_with(c.input(1).shape))
    c.fail("two tensors of one shape", c.input(0).to_string() + " and " + c.input(1).to_string());
  c.add_output(DType::float32, c.input(0).shape.merge(c.input(1).shape));
}

std::vector<Output> hypot_gradient(GradientContext& c) {
  const Output scale = c.gradient() / c.output(0);
  return {scale * c.input(0), scale * c.input(1)};
}

const OpDef& hypot_op() {
  static const OpDef op{.name = "Hypot",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_hypot,
                        .gradient = hypot_gradient};
  return op;
}

void hypot_kernel(OpContext& c) {
  const Tensor a = c.input(0), b = c.input(1);
  if (a.shape() != b.shape()) c.fail("two tensors of one shape", a.describe() + " and " + b.describe());
  Tensor& out = c.allocate_output(0, DType::float32, a.shape());
  const auto x = a.values<float>(), y = b.values<float>();
  const auto to = out.mutable_values<float>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::hypot(x[i], y[i]);
}

Output hypot(Output a, Output b) { return add_node(hypot_op(), {a, b}); }

// Signum: steps of one length against the sign of the momentum. Bernstein et al., 2018.
struct Signum {
  static constexpr std::string_view name = "signum";
  static constexpr SlotNames<1> slots = {"momentum"};
  double learning_rate = 0.01, momentum = 0.9;

  static constexpr auto fields() { return std::array{&Signum::learning_rate, &Signum::momentum}; }

  template <class T>
  struct Rule {
    T rate, keep;
    void operator()(T g, T& value, T& m) const {
      m = keep * m + g;
      value -= m > 0 ? rate : m < 0 ? -rate : T(0);
    }
  };
  template <class T>
  Rule<T> rule(std::int64_t) const {
    return {T(learning_rate), T(momentum)};
  }
};

// Moves two points until they are 5 away from the origin.
int train() {
  const Extensions extensions{.ops = {{&hypot_op(), stateless<hypot_kernel>}},
                              .optimizers = {&elementwise_optimizer<Signum>()}};
  LocalCluster cluster({{"ps", 1}, {"worker", 1}}, 0, extensions);
  Graph g;
  Variable x, y, step;
  g.on("/job:ps/task:0", [&] {
    step = global_step(g);
    x = g.variable("x", g.constant({1.0F, -8.0F}));
    y = g.variable("y", g.constant({1.0F, 6.0F}));
  });
  const auto [distance, training] = g.on("/job:worker/task:0", [&] {
    const Output d = hypot(x, y);
    return std::pair{d, minimize(g, mean(square(d - 5)), {x, y}, step, Signum{0.01, 0})};
  });
  Session session(cluster.server("worker", 0).target(), g);
  session.initialize_variables();
  for (int i = 0; i < 1000; ++i) session.run(training);
  for (const float d : session.run(distance).values<float>())
    std::cout << std::round(d * 10) / 10 << "\n";
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("An op and an optimizer of the program's own", "own_op");
  return run_program(program, argc, argv, train);
}
