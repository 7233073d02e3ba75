// Tapes: values and gradients at once, lifetimes, errors, variables, and what is refused.
#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "dataflow/ops/queue_ops.h"
#include "kernels/control/control_flow.h"
#include "kernels/devices/pool.h"
#include "kernels/eager/eager_optimizer.h"
#include "kernels/eager/gradient_tape.h"
#include "kernels/ops.h"

BOOST_AUTO_TEST_SUITE(eager)

using namespace actorflow;

namespace {

using Floats = std::vector<float>;

Floats floats(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

// The error that `body` throws.
template <class Body>
Error error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  BOOST_FAIL("nothing was thrown");
  return Error(Code::ok, "");
}

void check_error(const Error& error, Code code, const std::string& text) {
  BOOST_TEST((error.code() == code), error.what());
  BOOST_TEST(std::string(error.what()).find(text) != std::string::npos, error.what());
}

// Ops of a program: x factor of scalars, whose gradient by the factor passes an op that counts its
// calls.
int calls = 0;

void infer_first(InferContext& c) { c.add_output(c.input(0).dtype, c.input(0).shape); }

void count_call(OpContext& c) {
  ++calls;
  c.set_output(0, c.input(0));
}

void scale(OpContext& c) {
  c.set_output(0, Tensor::scalar(c.input(0).scalar<float>() * c.input(1).scalar<float>()));
}

const OpDef& counted_op() {
  static const OpDef op{.name = "Counted", .min_inputs = 1, .max_inputs = 1, .infer = infer_first};
  return op;
}

std::vector<Output> scaled_gradient(GradientContext& c) {
  return {c.gradient() * c.input(1), add_node(counted_op(), {c.gradient() * c.input(0)})};
}

const OpDef& scaled_op() {
  static const OpDef op{.name = "Scaled",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_first,
                        .gradient = scaled_gradient};
  return op;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_op_computes_at_once_and_control_flow_decides_on_its_value) {
  GradientTape tape;
  Output x = tape.constant(1.0F);
  int doublings = 0;
  for (; value(x < 100.0F).scalar<bool>(); ++doublings) x = x * 2.0F;
  BOOST_TEST(doublings == 7);
  BOOST_TEST(value(x).scalar<float>() == 128);
}

BOOST_AUTO_TEST_CASE(a_constant_is_not_copied) {
  const Tensor tensor{1.0F, 2.0F};
  GradientTape tape;
  BOOST_TEST(value(tape.constant(tensor)).data() == tensor.data());
}

BOOST_AUTO_TEST_CASE(gradients_of_any_tensor_as_often_as_wanted) {
  GradientTape tape;
  const Output x = tape.constant(3.0F), y = x * x, unused = tape.constant(1.0F);
  const auto by = tape.gradients(y * y, {x, y, unused});
  BOOST_TEST(by[0].scalar<float>() == 4 * 27);
  BOOST_TEST(by[1].scalar<float>() == 2 * 9);
  BOOST_TEST(!by[2].valid());
  BOOST_TEST(tape.gradients(y, {x})[0].scalar<float>() == 6);
}

BOOST_AUTO_TEST_CASE(gradients_can_be_differentiated_again) {
  GradientTape tape;
  const Output x = tape.constant(2.0);
  const Output slope = gradients(x * x * x, {x})[0];
  BOOST_TEST(value(slope).scalar<double>() == 12);
  BOOST_TEST(tape.gradients(slope, {x})[0].scalar<double>() == 12);
  const Output curvature = gradients(slope, {x})[0];
  BOOST_TEST(tape.gradients(curvature, {x})[0].scalar<double>() == 6);
}

// Its second derivative would lack a part.
BOOST_AUTO_TEST_CASE(a_gradient_that_has_none_itself_is_refused_where_one_is_wanted) {
  GradientTape tape;
  const Output x = tape.constant(Tensor::zeros(DType::float32, {1, 4, 4, 1}));
  const Output slope = gradients(sum(max_pool(x, {2, 2}, {2, 2})), {x})[0];
  check_error(error_of([&] { tape.gradients(sum(slope), {x}); }), Code::unimplemented, "MaxPoolGrad");
}

// Where a tensor is two inputs of an op, its gradient is counted once.
BOOST_AUTO_TEST_CASE(the_second_gradient_of_gelu) {
  GradientTape tape;
  const Output x = tape.constant(0.0);
  const Output slope = gradients(gelu(x), {x})[0];
  BOOST_TEST(value(slope).scalar<double>() == 0.5);
  BOOST_TEST(tape.gradients(slope, {x})[0].scalar<double>() == 2 * 0.3989422804014327,
             boost::test_tools::tolerance(1e-12));
  // d/dx of g gelu'(x) with g = x: gelu'(0) + 0.
  const Output product = gradients(std::vector<Output>{gelu(x)}, {x}, {x})[0];
  BOOST_TEST(tape.gradients(product, {x})[0].scalar<double>() == 0.5,
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_gradient_computes_only_what_is_wanted_of_it) {
  EagerContext context({.extensions = {.ops = {{&counted_op(), stateless<count_call>},
                                               {&scaled_op(), stateless<scale>}}}});
  GradientTape tape(context);
  const Output x = tape.constant(3.0F), factor = tape.constant(2.0F);
  const Output y = add_node(scaled_op(), {x, factor});
  calls = 0;
  BOOST_TEST(tape.gradients(y, {x})[0].scalar<float>() == 2);
  BOOST_TEST(calls == 0);
  BOOST_TEST(tape.gradients(y, {factor})[0].scalar<float>() == 3);
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(a_variable_is_read_where_it_is_mentioned) {
  const EagerVariable w("w", Tensor{1.0F, 2.0F});
  GradientTape tape;
  const Output before = w * 10.0F;
  w.assign(Tensor{3.0F, 4.0F});
  const Output after = w * w;
  BOOST_TEST(floats(value(before)) == (Floats{10, 20}), boost::test_tools::per_element());
  BOOST_TEST(floats(value(after)) == (Floats{9, 16}), boost::test_tools::per_element());
  const auto gradient = tape.gradients(sum(before) + sum(after), {w});
  BOOST_TEST(floats(gradient[0].dense) == (Floats{16, 18}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(variables_outlive_tapes_and_are_shared_by_threads) {
  const EagerVariable total("total", Tensor::scalar<std::int64_t>(0));
  for (int i = 0; i < 3; ++i)
    std::thread([&] {
      GradientTape tape;
      total.assign(total + 1);
    }).join();
  BOOST_TEST(total.read().scalar<std::int64_t>() == 3);
}

// A large product is shared by threads, each of which has a tape of its own in the same context.
BOOST_AUTO_TEST_CASE(threads_compute_side_by_side) {
  const EagerVariable w("w", Tensor::zeros(DType::float32, {300, 300}));
  EagerContext context({.num_threads = 3});
  std::vector<Tensor> results(4);
  std::vector<std::thread> threads;
  for (Tensor& result : results)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        GradientTape tape(context);
        const Output x = w + 1.0F;
        result = tape.gradients(sum(square(matmul(x, x))), {x})[0];
      }
    });
  for (auto& thread : threads) thread.join();
  for (const Tensor& result : results) BOOST_TEST(identical(result, results[0]));
}

BOOST_AUTO_TEST_CASE(the_innermost_tape_reads) {
  const EagerVariable w("w", Tensor::scalar(2.0F));
  GradientTape outer;
  {
    GradientTape inner;
    BOOST_TEST((Output(w).graph == &inner.graph()));
  }
  BOOST_TEST((Output(w).graph == &outer.graph()));
}

BOOST_AUTO_TEST_CASE(the_gradient_of_an_embedding_is_row_sparse) {
  const EagerVariable table("table", Tensor::zeros(DType::float32, {1000, 2}));
  EagerOptimizer optimizer(Sgd{1});
  GradientTape tape;
  const Output rows = embedding_lookup(table, tape.constant(Tensor{7, 5, 7}));
  const auto gradients = tape.gradients(sum(rows), {table});
  BOOST_TEST_REQUIRE(gradients[0].rows.size() == 1U);
  BOOST_TEST(gradients[0].rows[0].values.shape().to_string() != "[1000,2]");
  optimizer.apply(gradients, {table});
  const auto values = floats(table.read());
  BOOST_TEST(values[14] == -2);
  BOOST_TEST(values[10] == -1);
  BOOST_TEST(values[0] == 0);
}

BOOST_AUTO_TEST_CASE(conditions_and_loops_of_graphs_work) {
  GradientTape tape;
  const Output x = tape.constant(3.0F), none = tape.constant(Tensor::zeros(DType::float32, {0}));
  // The branch that is not taken would fail if it were computed.
  const Output y = cond(
      x > 0.0F, [&] { return x * x; },
      [&] { return element(gather(none, tape.constant(Tensor{5})), 0); });
  BOOST_TEST(value(y).scalar<float>() == 9);
  BOOST_TEST(tape.gradients(y, {x})[0].scalar<float>() == 6);
}

BOOST_AUTO_TEST_CASE(an_error_is_thrown_where_the_op_is_called_and_the_tape_goes_on) {
  GradientTape tape;
  const Output x = tape.constant(Tensor{1, 2}), zero = tape.constant(Tensor{0, 1});
  const auto nodes = tape.graph().def().size();
  check_error(error_of([&] { divide(x, zero); }), Code::invalid_argument, "'Div' (Div)");
  BOOST_TEST(tape.graph().def().size() == nodes);
  BOOST_TEST(value(x + zero).values<int>()[0] == 1);
}

// What it has begun to write is no tensor of the node that has its number next.
BOOST_AUTO_TEST_CASE(an_error_changes_no_gradient) {
  GradientTape tape;
  const Output x = tape.constant(Tensor{3.0F, 4.0F}), loss = sum(square(x));
  BOOST_CHECK_THROW(gather(tape.constant(Tensor{5.0F}), tape.constant(Tensor{9})), Error);
  BOOST_CHECK_THROW(
      softmax_cross_entropy(tape.constant(Tensor{{1.0F, 2.0F, 3.0F}}), tape.constant(Tensor{7})), Error);
  BOOST_TEST(floats(tape.gradients(loss, {x})[0]) == (Floats{6, 8}));
}

// As two models of the same layers have.
BOOST_AUTO_TEST_CASE(two_variables_of_one_name_are_two) {
  const EagerVariable w("w", Tensor::scalar(2.0F)), other("w", Tensor::scalar(5.0F));
  GradientTape tape;
  const auto by = tape.gradients(w * other * other, {w, other});
  BOOST_TEST(by[0].dense.scalar<float>() == 25);
  BOOST_TEST(by[1].dense.scalar<float>() == 20);
}

// Nodes that change a variable know its name only.
BOOST_AUTO_TEST_CASE(a_node_changes_the_one_that_it_was_given) {
  const EagerVariable w("w", Tensor::scalar(2.0F)), other("w", Tensor::scalar(5.0F));
  GradientTape tape;
  for (const EagerVariable& variable : {other, w, other})
    tape.graph().assign_add(variable.in_graph(), tape.constant(1.0F));
  BOOST_TEST(w.read().scalar<float>() == 3);
  BOOST_TEST(other.read().scalar<float>() == 7);
}

// Each ends before the next is made, which may be at its place in memory.
BOOST_AUTO_TEST_CASE(variables_may_end_before_the_tape) {
  GradientTape tape;
  for (int i = 0; i < 50; ++i) {
    const EagerVariable w("w", Tensor::scalar(static_cast<float>(i)));
    const auto gradient = tape.gradients(square(w), {w});
    BOOST_TEST(gradient[0].dense.scalar<float>() == 2 * i);
  }
}

BOOST_AUTO_TEST_CASE(no_sum_of_several_threads_is_lost) {
  const EagerVariable total("total", Tensor::scalar<std::int64_t>(0));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 500; ++j) {
        GradientTape tape;
        tape.graph().assign_add(total.in_graph(), tape.constant<std::int64_t>(1));
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(total.read().scalar<std::int64_t>() == 1500);
}

// Both branches are built, whichever is taken.
BOOST_AUTO_TEST_CASE(a_branch_neither_assigns_nor_reads_first) {
  const EagerVariable w("w", Tensor::scalar(2.0F)), other("other", Tensor::scalar(3.0F));
  GradientTape tape;
  const Output x = tape.constant(1.0F), before = w;
  const auto branch = [&](const auto& body) {
    return error_of([&] { cond(x > 0.0F, body, [&] { return x; }); });
  };
  check_error(branch([&] {
                w.assign(x);
                return x;
              }),
              Code::failed_precondition, "let the body return the value");
  check_error(branch([&] { return other + x; }), Code::failed_precondition, "read it before");
  BOOST_TEST(w.read().scalar<float>() == 2);
  BOOST_TEST(value(cond(
                       x > 0.0F, [&] { return w + x; }, [&] { return x; }))
                 .scalar<float>() == 3);
  BOOST_TEST(value(other + before).scalar<float>() == 5);
}

BOOST_AUTO_TEST_CASE(a_tensor_of_a_tape_that_has_ended_is_recognised) {
  Output x;
  {
    GradientTape ended;
    x = ended.constant(1.0F);
  }
  GradientTape tape;  // at the place of the one that has ended, perhaps
  const Output y = tape.constant(2.0F);
  BOOST_TEST(!x.exists());
  BOOST_TEST(!(x.graph == y.graph));
  check_error(error_of([&] { value(x); }), Code::failed_precondition,
              "value() was given a tensor whose");
  check_error(error_of([&] { x + y; }), Code::failed_precondition, "has ended");
  check_error(error_of([&] { y + x; }), Code::failed_precondition, "has ended");
  check_error(error_of([&] { tape.gradients(x, {y}); }), Code::failed_precondition, "the loss is a");
}

BOOST_AUTO_TEST_CASE(what_needs_a_session_is_refused) {
  GradientTape tape;
  Graph& graph = tape.graph();
  const Output x = tape.constant(1.0F);
  check_error(error_of([&] { graph.placeholder(DType::float32, {}); }), Code::unimplemented,
              "use GradientTape::constant(tensor)");
  check_error(error_of([&] {
                Queue(graph, QueueKind::fifo,
                      {.name = "jobs", .components = {{DType::float32, {}}}, .capacity = 1})
                    .enqueue({x});
              }),
              Code::unimplemented, "build a Graph and run it in a Session");
  check_error(error_of([&] { graph.on("/job:ps/task:0", [&] { return x + x; }); }), Code::unimplemented,
              "it is placed on '/job:ps/task:0'");
  BOOST_TEST(value(graph.on("/cpu:0", [&] { return x + x; })).scalar<float>() == 2);
}

BOOST_AUTO_TEST_CASE(mistakes_say_what_to_do) {
  const EagerVariable w("w", Tensor::scalar(1.0F));
  check_error(error_of([&] { w + 1.0F; }), Code::failed_precondition, "make a tape first");
  Graph graph;
  check_error(error_of([&] { value(graph.constant(1)); }), Code::failed_precondition, "Session::run()");
  GradientTape tape;
  check_error(error_of([&] {
                w.assign(Tensor{1.0F, 2.0F});
              }),
              Code::invalid_argument, "is float32[], but was assigned float32[2]");
  check_error(error_of([&] { EagerVariable("", Tensor{1}); }), Code::invalid_argument, "needs a name");
  check_error(error_of([&] { EagerContext({.device = "/job:ps/cpu:0"}); }), Code::invalid_argument,
              "EagerOptions::device");
  check_error(error_of([&] { EagerContext({.device = "cpu:7"}); }), Code::not_found, "cpu:7");
  check_error(error_of([&] { EagerContext({.num_threads = -1}); }), Code::invalid_argument, "got -1");
}

BOOST_AUTO_TEST_CASE(a_loop_of_tapes_does_not_grow) {
  const EagerVariable w("w", Tensor::zeros(DType::float32, {64, 64}));
  EagerOptimizer optimizer(Adam{});
  const auto step = [&] {
    GradientTape tape;
    const Output loss = mean(square(matmul(w, w) - 1.0F));
    optimizer.apply(tape.gradients(loss, {w}), {w});
    check_error(error_of([&] { matmul(w, tape.constant(1.0F)); }), Code::invalid_argument, "MatMul");
  };
  step();
  const auto& pool = dynamic_cast<const Pool&>(cpu_device().allocator());
  const auto before = pool.statistics().buffers_in_use;
  for (int i = 0; i < 100; ++i) step();
  BOOST_TEST(pool.statistics().buffers_in_use == before);
}

BOOST_AUTO_TEST_SUITE_END()
