// Optimizers against trajectories that NumPy computed from the published formulas, and against those of
// Keras and PyTorch, for dense and row-sparse gradients; and rules that a program brings.
#include "test/kernels/support/optimizer_trajectories.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "dataflow/train/optimizer_choice.h"
#include "dataflow/values/error.h"
#include "kernels/library/library.h"
#include "kernels/ops.h"
#include "kernels/update/elementwise_optimizer.h"
#include "kernels/update/graph_optimizer.h"
#include "kernels/update/sparse_update.h"
#include "test/kernels/support/keras_optimizers.h"
#include "test/kernels/support/torch_optimizers.h"

BOOST_AUTO_TEST_SUITE(optimizer_trajectories)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t rows = 3, columns = 4;

template <class T>
Tensor filled(const auto& element) {
  std::vector<T> values;
  for (int place = 0; place < rows * columns; ++place)
    values.push_back(static_cast<T>(element(static_cast<double>(place))));
  return Tensor::of<T>({rows, columns}, values);
}

template <class T>
Tensor gradient(std::size_t step) {
  return filled<T>([step](double place) { return std::sin(place + 0.7 * static_cast<double>(step)); });
}

template <class T>
void check(const Tensor& tensor, const std::vector<double>& expected, double tolerance) {
  const auto values = tensor.values<T>();
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(std::abs(static_cast<double>(values[i]) - expected[i]) <= tolerance,
               "element " << i << ": " << values[i] << ", expected " << expected[i]);
}

template <class T>
void follow(const Trajectory& trajectory, double tolerance) {
  const Optimizer optimizer(trajectory.optimizer, trajectory.hyperparameters);
  VariableState state{filled<T>([](double place) { return std::cos(place); }), {}};
  make_slots(optimizer, state, cpu_device());
  for (std::size_t step = 0; step < trajectory.values.size(); ++step) {
    apply_gradient(optimizer, state, gradient<T>(step), cpu_device());
    check<T>(state.value, trajectory.values[step], tolerance);
  }
}

// A program's own rules, which are the same optimizer twice: an update by the sign of the momentum.
struct Signum {
  static constexpr std::string_view name = "signum";
  static constexpr SlotNames<1> slots = {"momentum"};
  double learning_rate = 0.01, momentum = 0.9;

  static constexpr auto fields() { return std::array{&Signum::learning_rate, &Signum::momentum}; }

  template <class T>
  struct Rule {
    T rate, keep;
    ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& m) const {
      m = keep * m + g;
      value -= m > 0 ? rate : m < 0 ? -rate : T(0);
    }
  };
  template <class T>
  Rule<T> rule(std::int64_t) const {
    return {T(learning_rate), T(momentum)};
  }
};

struct SignumOfOps : Signum {
  static constexpr std::string_view name = "signum_of_ops";
  static UpdatedState formula(const UpdateInputs& in) {
    const DType dtype = in.value.dtype();
    const Output m = in.slots[0] * cast(in.hyperparameters[1], dtype) + in.gradient;
    return {in.value - sign(m) * cast(in.hyperparameters[0], dtype), {m}};
  }
};

const OptimizerLibrary& own_library() {
  static const std::vector<const OptimizerRule*> own = {&elementwise_optimizer<Signum>(),
                                                        &graph_optimizer<SignumOfOps>()};
  static const OptimizerLibrary library(own);
  return library;
}

GradientRows some_rows(std::size_t step) {
  const Tensor whole = gradient<double>(step);
  const auto values = whole.values<double>();
  std::vector<double> chosen(values.begin() + columns, values.begin() + 2 * columns);  // row 1
  chosen.insert(chosen.end(), values.begin(), values.begin() + columns);               // row 0
  return {Tensor::of<double>({2, columns}, chosen), Tensor::of<std::int64_t>({2}, {1, 0})};
}

// The gradient whose row 2 is 0.
Tensor as_dense(std::size_t step) {
  Tensor whole = gradient<double>(step);
  for (auto& value : whole.mutable_values<double>().subspan(2 * columns)) value = 0;
  return whole;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_optimizer_follows_the_published_formula) {
  BOOST_TEST(actorflow::test::optimizer_trajectories.size() == 5u);
  for (const Trajectory& trajectory : actorflow::test::optimizer_trajectories) {
    BOOST_TEST_CONTEXT(trajectory.optimizer) {
      follow<double>(trajectory, 1e-12);
      follow<float>(trajectory, 2e-6);
    }
  }
}

// Keras computes in float32, and its AdamW has the epsilon at another place: test/python/
// optimizers_of_keras.py says where its hyperparameters mean something else.
BOOST_AUTO_TEST_CASE(each_optimizer_follows_the_one_of_keras) {
  BOOST_TEST(keras_optimizers.size() == 5u);
  for (const Trajectory& trajectory : keras_optimizers) {
    BOOST_TEST_CONTEXT(trajectory.optimizer) { follow<double>(trajectory, 2e-6); }
  }
}

// In float64 on both sides; test/python/optimizers_of_torch.py says what differs by design, which is the
// tolerance.
BOOST_AUTO_TEST_CASE(each_optimizer_follows_the_one_of_pytorch) {
  BOOST_TEST(torch_optimizers.size() == 8u);
  for (const Trajectory& trajectory : torch_optimizers) {
    BOOST_TEST_CONTEXT(trajectory.optimizer) {
      const bool has_other_epsilon = trajectory.optimizer == "adam" || trajectory.optimizer == "muon";
      follow<double>(trajectory, has_other_epsilon ? 1e-7 : 1e-10);
    }
  }
}

BOOST_AUTO_TEST_CASE(one_formula_gives_dense_updates_and_those_of_rows) {
  for (const char* name : {"signum", "signum_of_ops"}) {
    const BoundOptimizer optimizer({name, {0.1, 0.5}}, own_library());
    const Tensor start = filled<double>([](double place) { return std::cos(place); });
    VariableState dense{start.clone(), {}}, sparse{start.clone(), {}};
    make_slots(optimizer, dense, cpu_device());
    make_slots(optimizer, sparse, cpu_device());
    for (std::size_t step = 0; step < 3; ++step) {
      apply_gradient(optimizer, dense, as_dense(step), cpu_device());
      apply_sparse_gradient(optimizer, sparse, {some_rows(step)}, cpu_device());
    }
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(identical(dense.value, sparse.value));
      BOOST_TEST(identical(dense.slots[0], sparse.slots[0]));
      BOOST_TEST(!identical(dense.value, start));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_formula_of_ops_and_one_of_elements_agree) {
  std::vector<Tensor> values;
  for (const char* name : {"signum", "signum_of_ops"}) {
    const BoundOptimizer optimizer({name, {0.1, 0.5}}, own_library());
    VariableState state{filled<double>([](double place) { return std::cos(place); }), {}};
    make_slots(optimizer, state, cpu_device());
    const std::vector<Tensor> means = {gradient<double>(1), gradient<double>(2), gradient<double>(3)};
    apply_mean(optimizer, state, means, cpu_device());
    values.push_back(state.value);
  }
  BOOST_TEST(identical(values[0], values[1]));
}

BOOST_AUTO_TEST_CASE(the_mean_of_rows_becomes_dense_where_a_formula_needs_the_whole) {
  const Lamb lamb{0.1, 0.9, 0.99, 1e-6, 0.1};
  const Tensor start = filled<double>([](double place) { return std::cos(place); });
  VariableState dense{start.clone(), {}}, sparse{start.clone(), {}};
  make_slots(lamb, dense, cpu_device());
  make_slots(lamb, sparse, cpu_device());
  // Both rows are in the first gradient, row 0 alone is in the second: it is divided by 2.
  const GradientRows both = some_rows(1);
  const GradientRows first{Tensor::zeros(DType::float64, {1, columns}),
                           Tensor::of<std::int64_t>({1}, {0})};
  const std::vector<SparseGradient> parts = {{both}, {first}};
  apply_sparse_mean(lamb, sparse, parts, cpu_device());
  Tensor mean = as_dense(1);
  for (auto& value : mean.mutable_values<double>().subspan(0, columns)) value /= 2;
  apply_gradient(lamb, dense, mean, cpu_device());
  BOOST_TEST(identical(dense.value, sparse.value));
  BOOST_TEST(sparse.slots[2].scalar<std::int64_t>() == 1);
}

BOOST_AUTO_TEST_CASE(readers_of_a_variable_keep_its_old_value) {
  VariableState state{filled<double>([](double place) { return std::cos(place); }), {}};
  make_slots(Muon{}, state, cpu_device());
  const Tensor before = state.value, copy = before.clone();
  apply_gradient(Muon{}, state, gradient<double>(0), cpu_device());
  BOOST_TEST(identical(before, copy));
  BOOST_TEST(!identical(state.value, copy));
}

BOOST_AUTO_TEST_CASE(muon_refuses_what_is_no_matrix) {
  VariableState state{Tensor{1.0, 2.0}, {}};
  make_slots(Muon{}, state, cpu_device());
  BOOST_CHECK_EXCEPTION(
      apply_gradient(Muon{}, state, Tensor{1.0, 1.0}, cpu_device()), Error, [](const Error& error) {
        return error.code() == Code::invalid_argument &&
               std::string(error.what()).find("muon_for_matrices") != std::string::npos;
      });
  BOOST_TEST(identical(state.value, Tensor{1.0, 2.0}));
}

BOOST_AUTO_TEST_CASE(muon_takes_filters_as_matrices) {
  VariableState filter{Tensor::of<double>({1, 3, 1, 4}, std::vector<double>(12, 0.5)), {}};
  VariableState matrix{Tensor::of<double>({3, 4}, std::vector<double>(12, 0.5)), {}};
  make_slots(Muon{}, filter, cpu_device());
  make_slots(Muon{}, matrix, cpu_device());
  apply_gradient(Muon{}, filter, gradient<double>(0).reshaped({1, 3, 1, 4}), cpu_device());
  apply_gradient(Muon{}, matrix, gradient<double>(0), cpu_device());
  BOOST_TEST(identical(filter.value.reshaped({3, 4}), matrix.value));
}

BOOST_AUTO_TEST_CASE(variables_choose_their_optimizers_by_shape_and_name) {
  Graph g;
  const auto variable = [&](const char* name, const Shape& shape) {
    return g.variable(name, g.constant(Tensor::zeros(DType::float32, shape)));
  };
  const Variable w = variable("w", {2, 3}), bias = variable("bias", {3}),
                 table = variable("embedding", {5, 2});
  const OptimizerChoice choice = muon_for_matrices(Muon{}, AdamW{}, {"embedding"});
  BOOST_TEST(choice.of(w).name() == "muon");
  BOOST_TEST(choice.of(bias).name() == "adamw");
  BOOST_TEST(choice.of(table).name() == "adamw");
  BOOST_CHECK_THROW(OptimizerChoice(Muon{}).of(bias), Error);
  const OptimizerChoice decaying = decay_except(AdamW{.weight_decay = 0.5}, {"bias", "norm"});
  BOOST_TEST((decaying.of(w) == Optimizer(AdamW{.weight_decay = 0.5})));
  BOOST_TEST((decaying.of(bias) == Optimizer(AdamW{.weight_decay = 0})));
}

BOOST_AUTO_TEST_CASE(unknown_and_double_names_are_refused) {
  const auto says = [](Code code, const char* part) {
    return [=](const Error& error) {
      return error.code() == code && std::string(error.what()).find(part) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION(BoundOptimizer(Optimizer("signum", {0.1, 0.9})), Error,
                        says(Code::not_found, "ServerOptions::extensions"));
  BOOST_CHECK_EXCEPTION(BoundOptimizer({"signum", {0.1}}, own_library()), Error,
                        says(Code::invalid_argument, "has 2 hyperparameters, got 1"));
  const std::vector<const OptimizerRule*> twice = {&elementwise_optimizer<Signum>(),
                                                   &elementwise_optimizer<Signum>()};
  BOOST_CHECK_EXCEPTION(OptimizerLibrary{twice}, Error, says(Code::already_exists, "'signum'"));
  static const OpDef without_shape{.name = "Nothing"};
  BOOST_CHECK_EXCEPTION(Library(Extensions{.ops = {{&without_shape}}}), Error,
                        says(Code::invalid_argument, "shape function"));
}

BOOST_AUTO_TEST_SUITE_END()
