// Eager ops: a chain of small ones, and a training step with a tape, against the same graphs in a
// session and against PyTorch. A chain's time has its tape, and the step's all that a program's loop
// does.
#include <functional>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/models/classifiers.h"
#include "bench/data.h"
#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"

namespace actorflow::bench {
namespace {

constexpr int ops_of_chain = 1000;

Output chain_of_ops(Output x) {
  Output y = x;
  for (int i = 0; i < ops_of_chain; i += 2) y = y * x + x;
  return y;
}

Tensor chain_input() { return random_numbers({16}, 0); }

// Nanoseconds for an op.
double chain_ns(int chains, const std::function<void()>& run) {
  run();
  const double seconds = seconds_of([&] {
    for (int i = 0; i < chains; ++i) run();
  });
  return 1e9 * seconds / (chains * ops_of_chain);
}

double eager_chain_ns(int chains) {
  const Tensor x = chain_input();
  return chain_ns(chains, [&] {
    GradientTape tape;
    value(chain_of_ops(tape.constant(x)));
  });
}

double session_chain_ns(int chains) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {16}), y = chain_of_ops(x);
  Session session(graph);
  Callable call = session.make_callable({y}, {x});
  const Tensor input = chain_input();
  return chain_ns(chains, [&] { call.run({input}); });
}

std::vector<Batch> batches_of_64() {
  std::vector<Batch> batches;
  for (int i = 0; i < 16; ++i) batches.push_back(consecutive_examples(mnist().train, i * 64, 64));
  return batches;
}

Architecture perceptron() { return chain({flatten(), dense(128, relu), dense(10)}); }

Output loss_of(Output logits, Output labels) { return mean(softmax_cross_entropy(logits, labels)); }

double steps_per_second(int steps, const std::function<void(const Batch&)>& step) {
  const auto batches = batches_of_64();
  for (const Batch& batch : batches) step(batch);
  return steps / seconds_of([&] {
           for (int i = 0; i < steps; ++i) step(batches[static_cast<std::size_t>(i) % batches.size()]);
         });
}

double eager_steps_per_second(int steps) {
  EagerModel model(perceptron());
  EagerOptimizer optimizer(Sgd{});
  return steps_per_second(steps, [&](const Batch& batch) {
    GradientTape tape;
    const Output logits = model(tape.constant(batch.x), {.training = true});
    const Output loss = loss_of(logits, tape.constant(batch.labels));
    optimizer.apply(tape.gradients(loss, model.trained()), model.trained());
  });
}

double traced_steps_per_second(int steps) {
  EagerModel model(perceptron());
  EagerOptimizer optimizer(Sgd{});
  const TracedFunction gradients_of = trace([&](const Outputs& in) {
    Outputs trained;
    const Output loss = loss_of(model(in[0], {.training = true, .step = in[2]}), in[1]);
    for (const EagerVariable& variable : model.trained()) trained.push_back(variable);
    return gradients(loss, trained);
  });
  std::int64_t number = 0;
  return steps_per_second(steps, [&](const Batch& batch) {
    const auto found = gradients_of({batch.x, batch.labels, Tensor::scalar(number++)});
    optimizer.apply({found.begin(), found.end()}, model.trained());
  });
}

double session_steps_per_second(int steps) {
  Graph graph;
  const Classifier network = make_classifier(graph, perceptron(), mnist().train.image());
  const TrainOp train =
      minimize(graph, network.train.loss, network.variables.trained(), global_step(graph), Sgd{});
  Session session(graph);
  session.initialize_variables();
  Callable step = session.make_callable({train.step}, {network.x, network.labels});
  return steps_per_second(steps, [&](const Batch& batch) { step.run({batch.x, batch.labels}); });
}

int chains(bool quick) { return quick ? 2 : 300; }
int steps(bool quick) { return quick ? 16 : 3000; }

Benchmark against_session(const std::string& name, double bar, double (*ours)(int)) {
  return {"eager/" + name, "step/s", "the same step in a session", at_least(bar), [=](bool quick) {
            return in_turn(
                quick ? 1 : 5, [=] { return ours(steps(quick)); },
                [=] { return session_steps_per_second(steps(quick)); });
          }};
}

}  // namespace

std::vector<Benchmark> eager_benchmarks() {
  return {
      {"eager/chain_of_small_ops", "ns/op", "the same chain in a session", at_most(10),
       [](bool quick) {
         return in_turn(
             quick ? 1 : 5, [=] { return eager_chain_ns(chains(quick)); },
             [=] { return session_chain_ns(chains(quick)); });
       }},
      {"eager/chain_of_small_ops_vs_pytorch", "ns/op", "PyTorch", at_most(1),
       [](bool quick) {
         return in_turn(
             quick ? 1 : 3, [=] { return eager_chain_ns(chains(quick)); },
             [=] { return pytorch_eager_ns(ops_of_chain, chains(quick)); });
       }},
      against_session("mlp_784_128_10_batch_64", 0.7, eager_steps_per_second),
      against_session("mlp_784_128_10_batch_64_traced", 0.8, traced_steps_per_second),
      {"eager/mlp_784_128_10_batch_64_vs_pytorch", "step/s", "PyTorch, the better of 1 and 2 threads",
       at_least(1.5),
       [](bool quick) {
         return in_turn(
             quick ? 1 : 3, [=] { return eager_steps_per_second(steps(quick)); },
             [=] { return steps_per_second(pytorch, "mlp-128", quick); });
       }},
  };
}

}  // namespace actorflow::bench
