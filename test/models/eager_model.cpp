// Models in training loops of one's own: the same bits as the steps of a session, eagerly and traced.
#include "actors/eager/eager_model.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/export/onnx_export.h"
#include "actors/import/onnx_import.h"
#include "actors/layers/layers.h"
#include "actors/models/classifiers.h"
#include "actors/models/text/transformer.h"
#include "dataflow/graph/gradient.h"
#include "dataflow/train/replicate.h"
#include "kernels/eager/eager_optimizer.h"
#include "kernels/eager/traced_function.h"
#include "test/kernels/support/random_values.h"
#include "test/support/folder.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(eager_model)

using namespace actorflow;
using namespace actorflow::test;

namespace {

struct Batch {
  Tensor x, labels;
};

Batch batch_of(const Shape& shape, std::int64_t classes, unsigned seed) {
  Tensor labels = Tensor::allocate(DType::int64, {shape[0]});
  std::int64_t next = seed;
  for (auto& label : labels.mutable_values<std::int64_t>()) label = next++ * 7 % classes;
  return {random_values(shape, seed), labels};
}

std::vector<Batch> digits(int steps) {
  std::vector<Batch> batches;
  for (int i = 0; i < steps; ++i) batches.push_back(batch_of({16, 64}, 10, static_cast<unsigned>(i)));
  return batches;
}

Output loss_of(Output logits, Output labels) { return mean(softmax_cross_entropy(logits, labels)); }

// The variables, averages included, after the steps of a session.
std::vector<Tensor> trained_in_session(const Architecture& network, const std::vector<Batch>& batches,
                                       const Optimizer& optimizer) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {-1, 64}),
               labels = graph.placeholder(DType::int64, {-1});
  const Variable step = global_step(graph);
  ModelVariables variables;
  ModelPass pass{.graph = graph, .variables = variables, .seed = 3, .training = true, .step = step};
  const Output loss = loss_of(network.build(pass, {x})[0], labels);
  const TrainOp train = minimize(graph, loss, variables.trained(), step, optimizer);
  Session session(graph);
  session.initialize_variables();
  auto targets = pass.updates;
  targets.push_back(train.step);
  for (const Batch& batch : batches) session.run({}, {{x, batch.x}, {labels, batch.labels}}, targets);
  std::vector<Output> reads;
  for (const Variable& variable : variables.all()) reads.push_back(variable.value());
  return session.run(reads);
}

std::vector<Tensor> trained_eagerly(const Architecture& network, const std::vector<Batch>& batches,
                                    const Optimizer& chosen) {
  EagerModel model(network, 3);
  EagerOptimizer optimizer(chosen);
  for (const Batch& batch : batches) {
    GradientTape tape;
    const Output logits = model(tape.constant(batch.x), {.training = true});
    optimizer.apply(tape.gradients(loss_of(logits, tape.constant(batch.labels)), model.trained()),
                    model.trained());
  }
  std::vector<Tensor> values;
  for (const EagerVariable& variable : model.variables()) values.push_back(variable.read());
  return values;
}

// The gradients, and the changes of averages, by a function that is traced; the steps of dropout are
// fed.
std::vector<Tensor> trained_traced(const Architecture& network, const std::vector<Batch>& batches,
                                   const Optimizer& chosen) {
  EagerModel model(network, 3);
  EagerOptimizer optimizer(chosen);
  const TracedFunction gradients_of = trace([&](const Outputs& in) {
    const Output loss = loss_of(model(in[0], {.training = true, .step = in[2]}), in[1]);
    Outputs trained;
    for (const EagerVariable& variable : model.trained()) trained.push_back(variable);
    return gradients(loss, trained);
  });
  std::int64_t step = 0;
  for (const Batch& batch : batches) {
    const auto found = gradients_of({batch.x, batch.labels, Tensor::scalar(step++)});
    optimizer.apply({found.begin(), found.end()}, model.trained());
  }
  BOOST_TEST(gradients_of.traces() == 1U);
  std::vector<Tensor> values;
  for (const EagerVariable& variable : model.variables()) values.push_back(variable.read());
  return values;
}

void check_same(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  BOOST_TEST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    BOOST_TEST(identical(actual[i], expected[i]), "variable " << i << " differs");
}

// The traced logits and gradients of a model against those of a tape.
void check_traced(const Architecture& network, const Batch& batch) {
  EagerModel model(network);
  const auto compute = [&](const Outputs& in) {
    const Output logits = model(in[0]);
    const Output flat = reshape(logits, {-1, logits.shape()[logits.shape().rank() - 1]});
    return Outputs{logits, loss_of(flat, reshape(in[1], {-1}))};
  };
  GradientTape tape;
  const Outputs eager = compute({tape.constant(batch.x), tape.constant(batch.labels)});
  std::vector<Tensor> expected{value(eager[0]), value(eager[1])};
  std::vector<Output> reads;
  for (const EagerVariable& variable : model.trained()) reads.push_back(variable);
  for (const Tensor& gradient : tape.gradients(eager[1], reads)) expected.push_back(gradient);

  const auto traced = trace([&](const Outputs& in) {
    Outputs results = compute(in), trained;
    for (const EagerVariable& variable : model.trained()) trained.push_back(variable);
    for (const Output& gradient : gradients(Output(results[1]), trained)) results.push_back(gradient);
    return results;
  });
  check_same(traced({batch.x, batch.labels}), expected);
}

void infer_twice(InferContext& c) { c.add_output(c.input(0).dtype, c.input(0).shape); }

void compute_twice(OpContext& c) { c.set_output(0, Tensor{{2 * c.input(0).values<float>()[0]}}); }

const OpDef& twice_op() {
  static const OpDef op{.name = "Twice", .min_inputs = 1, .max_inputs = 1, .infer = infer_twice};
  return op;
}

const Architecture network =
    chain({dense(32), batch_norm({.relu = true}), dropout(0.2), dense(16, tanh), dense(10)});

}  // namespace

BOOST_AUTO_TEST_CASE(training_gives_the_bits_of_a_session) {
  const auto batches = digits(20);
  for (const Optimizer& optimizer :
       {Optimizer(Sgd{0.1}), Optimizer(Adam{0.01}), Optimizer(Lamb{0.01})}) {
    BOOST_TEST_CONTEXT(optimizer.name()) {
      const auto expected = trained_in_session(network, batches, optimizer);
      check_same(trained_eagerly(network, batches, optimizer), expected);
      check_same(trained_traced(network, batches, optimizer), expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_traced_lenet_gives_the_bits_of_a_tape) {
  check_traced(lenet(), batch_of({2, 28, 28, 1}, 10, 1));
}

BOOST_AUTO_TEST_CASE(a_traced_transformer_gives_the_bits_of_a_tape) {
  Tensor characters = Tensor::allocate(DType::int64, {2, 8});
  std::int64_t next = 0;
  for (auto& character : characters.mutable_values<std::int64_t>()) character = next++ * 5 % 11;
  check_traced(character_transformer(11, {.context = 8, .layers = 2, .heads = 2, .width = 16}),
               {characters, characters});
}

BOOST_AUTO_TEST_CASE(a_model_is_called_for_inference_and_keeps_its_variables) {
  EagerModel model({dense(4), batch_norm(), dense(3)});
  const Batch batch = batch_of({5, 6}, 3, 1);
  Tensor first;
  {
    GradientTape tape;
    first = value(model(tape.constant(batch.x)));
  }
  BOOST_TEST(model.variables().size() == 8U);
  BOOST_TEST(model.trained().size() == 6U);
  BOOST_TEST(model.variables()[0].name() == "dense/weights");
  GradientTape tape;
  BOOST_TEST(identical(value(model(tape.constant(batch.x))), first));
}

BOOST_AUTO_TEST_CASE(a_call_that_fails_makes_no_variables) {
  EagerModel model({dense(4)});
  GradientTape tape;
  BOOST_CHECK_THROW(model(tape.constant(Tensor{{1, 2}})), Error);
  const Output loss = sum(model(tape.constant(Tensor{{1.0F, 2.0F}})));
  BOOST_TEST_REQUIRE(model.trained().size() == 2U);
  for (const Gradient& gradient : tape.gradients(loss, model.trained())) BOOST_TEST(gradient.is_dense());
}

BOOST_AUTO_TEST_CASE(models_of_the_same_layers_work_together) {
  EagerModel generator({dense(3), batch_norm()}), critic({dense(3), batch_norm()}, 2);
  GradientTape tape;
  const Output made = generator(tape.constant(batch_of({5, 6}, 3, 1).x), {.training = true});
  const Output loss = mean(critic(made, {.training = true}));
  for (EagerModel* model : {&generator, &critic})
    for (const Gradient& gradient : tape.gradients(loss, model->trained()))
      BOOST_TEST(gradient.is_dense());
  // Each has changed its own averages.
  for (const EagerModel* model : {&generator, &critic})
    for (const EagerVariable& variable : model->variables())
      if (variable.name() == "batch_norm/moving_mean")
        BOOST_TEST(!identical(variable.read(), Tensor::zeros(DType::float32, {3})));
}

// The averages move once for each call, as on a tape.
BOOST_AUTO_TEST_CASE(a_traced_function_calls_several_models_several_times) {
  const auto values_after = [](const auto& call) {
    EagerModel generator({dense(3), batch_norm()}), critic({dense(3), batch_norm()}, 2);
    const Tensor result = call([&](const Outputs& in) {
      const EagerCall training{.training = true, .step = in[0].graph->constant<std::int64_t>(0)};
      return Outputs{mean(critic(generator(in[0], training), training) + critic(in[0], training))};
    });
    std::vector<Tensor> values{result};
    for (const EagerModel* model : {&generator, &critic})
      for (const EagerVariable& variable : model->variables()) values.push_back(variable.read());
    return values;
  };
  const Tensor x = batch_of({5, 3}, 3, 1).x;
  const auto eager = values_after([&](const TracedFunction::Function& function) {
    GradientTape tape;
    return value(function({tape.constant(x)})[0]);
  });
  check_same(
      values_after([&](const TracedFunction::Function& function) { return trace(function)({x})[0]; }),
      eager);
}

BOOST_AUTO_TEST_CASE(a_clone_has_variables_of_its_own) {
  EagerModel model({dense(2)}, 1, "critic");
  model.build({{DType::float32, {1, 3}}});
  BOOST_TEST(model.variables()[0].name() == "critic/dense/weights");
  const EagerModel shared = model;
  EagerModel clone = model.clone();
  BOOST_TEST(identical(clone.variables()[0].read(), model.variables()[0].read()));
  clone.variables()[0].assign(Tensor::zeros(DType::float32, {3, 2}));
  BOOST_TEST(!identical(clone.variables()[0].read(), model.variables()[0].read()));
  BOOST_TEST(shared.variables()[0].is(model.variables()[0]));
  GradientTape tape;
  BOOST_TEST(value(sum(clone(tape.constant(Tensor{{1.0F, 2.0F, 3.0F}})))).scalar<float>() == 0);
}

// Its op is known in a context of the program's own only.
BOOST_AUTO_TEST_CASE(a_model_is_built_where_its_inputs_are) {
  EagerContext context({.extensions = {.ops = {{&twice_op(), stateless<compute_twice>}}}});
  const Layer layer("twice", [](LayerScope& scope, Output x) {
    return add_node(twice_op(), {x}) + scope.weight("offset", {1}, filled_with(1));
  });
  EagerModel model({layer}), traced({layer});
  GradientTape tape(context);
  BOOST_TEST(identical(value(model(tape.constant(Tensor{{3.0F}}))), Tensor{{7.0F}}));
  const auto function = trace([&](const Outputs& in) { return Outputs{traced(in[0])}; }, {}, context);
  BOOST_TEST(identical(function({Tensor{{3.0F}}})[0], Tensor{{7.0F}}));
}

BOOST_AUTO_TEST_CASE(penalties_are_losses) {
  EagerModel model({dense(2, {}, {.weights = filled_with(2), .regularizer = l2(0.5)})});
  GradientTape tape;
  model(tape.constant(Tensor::zeros(DType::float32, {1, 3})));
  BOOST_TEST_REQUIRE(model.losses().size() == 1U);
  BOOST_TEST(value(model.losses()[0]).scalar<float>() == 0.5F * 4 * 6);
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_layer) {
  EagerModel model({dense(4), dense(3)});
  GradientTape tape;
  model(tape.constant(Tensor::zeros(DType::float32, {1, 6})));
  const Status status = status_of([&] { model(tape.constant(Tensor::zeros(DType::float32, {1, 5}))); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("layer 'dense'") != std::string::npos, status.message);
  BOOST_TEST((status_of([&] { model(std::vector<Output>{}); }).code == Code::invalid_argument));
}

// A session runs what was traced, and changes variables of its own.
BOOST_AUTO_TEST_CASE(a_session_runs_a_traced_function) {
  const EagerVariable w("w", Tensor{1.0F, 2.0F});
  const auto traced = trace([&](const Outputs& in) {
    const Output sum = in[0] + w;
    w.assign(sum);
    return Outputs{sum * 2.0F};
  });
  const ConcreteFunction& function = traced.concrete({{DType::float32, {-1}}});
  Session session(function.graph());
  session.initialize_variables();
  const Tensor x{10.0F, 20.0F};
  const auto run = [&] {
    return session.run({function.outputs()[0]}, {{function.inputs()[0], x}}, function.updates())[0];
  };
  BOOST_TEST(identical(run(), Tensor{22.0F, 44.0F}));
  BOOST_TEST(identical(run(), Tensor{42.0F, 84.0F}));
  BOOST_TEST(identical(w.read(), Tensor{1.0F, 2.0F}));
  BOOST_TEST(identical(function({x})[0], Tensor{22.0F, 44.0F}));
  BOOST_TEST(identical(w.read(), Tensor{11.0F, 22.0F}));
}

BOOST_AUTO_TEST_CASE(a_traced_model_is_exported_with_the_values_of_now) {
  EagerModel model({dense(4, relu), dense(3)});
  const TensorType type{DType::float32, {-1, 6}};
  const auto predict =
      trace([&](const Outputs& in) { return Outputs{model(in[0])}; }, {.specs = {type}});
  const ConcreteFunction& function = predict.concrete({type});
  model.trained()[0].assign(random_values({6, 4}, 5));

  const Folder folder;
  const Signature signature{{{"x", function.inputs()[0]}}, {{"y", function.outputs()[0]}}};
  export_onnx(posix_storage(), folder.path(), {{serving_default, signature}}, function.values());
  Graph graph;
  const Signature imported = import_onnx(posix_storage(), folder.file("model.onnx"), graph);
  Session session(graph);
  const Tensor x = random_values({5, 6}, 6);
  const Tensor actual = session.run(imported.outputs.at("y"), {{imported.inputs.at("x"), x}});
  const Tensor expected = predict({x})[0];
  BOOST_TEST_REQUIRE(actual.describe() == expected.describe());
  for (std::size_t i = 0; i < expected.values<float>().size(); ++i)
    BOOST_TEST(std::abs(actual.values<float>()[i] - expected.values<float>()[i]) < 1e-5F);
}

BOOST_AUTO_TEST_SUITE_END()
