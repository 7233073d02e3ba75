#include "kernels/update/optimizer_update.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "dataflow/values/error.h"
#include "test/kernels/support/teams.h"

BOOST_AUTO_TEST_SUITE(optimizer_update)

using namespace actorflow;

namespace {

constexpr double float_tolerance = 1e-6;

template <class T = float>
Tensor vector_of(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}

template <class T = float>
VariableState state_of(const Optimizer& optimizer, const std::vector<T>& values) {
  VariableState state{vector_of<T>(values), {}};
  make_slots(optimizer, state, cpu_device());
  return state;
}

template <class T = float>
void apply(const Optimizer& optimizer, VariableState& state, const std::vector<T>& gradient) {
  apply_gradient(optimizer, state, vector_of<T>(gradient), cpu_device());
}

template <class T = float>
void check_values(const Tensor& tensor, const std::vector<double>& expected,
                  double tolerance = float_tolerance) {
  const auto values = tensor.values<T>();
  BOOST_TEST_REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(static_cast<double>(values[i]) == expected[i], boost::test_tools::tolerance(tolerance));
}

template <Code code>
bool has_code(const Error& error) {
  return error.code() == code;
}

// TensorFlow's formulas again, in float64 and one element at a time: the oracle for long runs.
struct Oracle {
  double value, a = 0, b = 0;
  int t = 0;

  void apply(const Sgd& o, double g) { value -= o.learning_rate * g; }
  void apply(const Momentum& o, double g) {
    a = o.momentum * a + g;
    value -= o.learning_rate * a;
  }
  void apply(const Nesterov& o, double g) {
    a = o.momentum * a + g;
    value -= o.learning_rate * (g + o.momentum * a);
  }
  void apply(const Adagrad& o, double g) {
    if (t++ == 0) a = o.initial_accumulator;
    a += g * g;
    value -= o.learning_rate * g / std::sqrt(a);
  }
  void apply(const Adam& o, double g) {
    ++t;
    const double rate =
        o.learning_rate * std::sqrt(1 - std::pow(o.beta2, t)) / (1 - std::pow(o.beta1, t));
    a = o.beta1 * a + (1 - o.beta1) * g;
    b = o.beta2 * b + (1 - o.beta2) * g * g;
    value -= rate * a / (std::sqrt(b) + o.epsilon);
  }
  void apply(const RmsProp& o, double g) {
    if (t++ == 0) a = 1;
    a = o.decay * a + (1 - o.decay) * g * g;
    b = o.momentum * b + o.learning_rate * g / std::sqrt(a + o.epsilon);
    value -= b;
  }
};

template <class O>
bool step_of(Oracle& oracle, const Optimizer& optimizer, double g) {
  if (optimizer.name() != O::name) return false;
  oracle.apply(described<O>(optimizer.hyperparameters()), g);
  return true;
}

void oracle_step(Oracle& oracle, const Optimizer& optimizer, double g) {
  const bool known = step_of<Sgd>(oracle, optimizer, g) || step_of<Momentum>(oracle, optimizer, g) ||
                     step_of<Nesterov>(oracle, optimizer, g) || step_of<Adagrad>(oracle, optimizer, g) ||
                     step_of<Adam>(oracle, optimizer, g) || step_of<RmsProp>(oracle, optimizer, g);
  BOOST_REQUIRE(known);
}

// The CPU with memory for so many buffers and no more.
class SmallDevice final : public Device, private Allocator {
 public:
  explicit SmallDevice(int buffers) : buffers_left_(buffers) {}

  DeviceType type() const override { return DeviceType::cpu; }
  int index() const override { return 0; }
  Allocator& allocator() override { return *this; }
  Tensor to_device(const Tensor& host) override { return host; }
  Tensor to_host(const Tensor& tensor) override { return tensor; }

 private:
  BufferRef allocate(std::size_t size_bytes) override {
    if (buffers_left_-- <= 0) throw Error(Code::resource_exhausted, "no memory is left");
    return heap().allocate(size_bytes);
  }
  void release(Buffer*) override {}  // all buffers are the heap's

  int buffers_left_;
};

const std::vector<Optimizer> all_optimizers = {
    Sgd{0.1},          Momentum{0.1, 0.9},           Nesterov{0.1, 0.9},
    Adagrad{0.1, 0.1}, Adam{0.01, 0.9, 0.999, 1e-8}, RmsProp{0.01, 0.9, 0.5, 1e-10}};

}  // namespace

BOOST_AUTO_TEST_CASE(sgd_subtracts_the_scaled_gradient) {
  auto state = state_of(Sgd{0.5}, {1, 2});
  apply(Sgd{0.5}, state, {2, -4});
  check_values(state.value, {0, 4});
}

BOOST_AUTO_TEST_CASE(momentum_accumulates_gradients) {
  const Momentum momentum{0.1, 0.5};
  auto state = state_of(momentum, {1});
  apply(momentum, state, {1});  // a = 1
  apply(momentum, state, {1});  // a = 1.5
  check_values(state.value, {1 - 0.1 - 0.15});
  check_values(state.slots[0], {1.5});
}

BOOST_AUTO_TEST_CASE(nesterov_looks_ahead_along_its_momentum) {
  const Nesterov nesterov{0.1, 0.5};
  auto state = state_of(nesterov, {1});
  apply(nesterov, state, {1});  // a = 1: 0.1 (1 + 0.5 * 1)
  check_values(state.value, {1 - 0.15});
  apply(nesterov, state, {1});  // a = 1.5: 0.1 (1 + 0.5 * 1.5)
  check_values(state.value, {1 - 0.15 - 0.175});
  check_values(state.slots[0], {1.5});
}

BOOST_AUTO_TEST_CASE(adagrad_starts_from_its_initial_accumulator) {
  const Adagrad adagrad{1, 0.75};
  auto state = state_of(adagrad, {1});
  apply(adagrad, state, {0.5});  // a = 0.75 + 0.25
  check_values(state.value, {0.5});
}

// The values of TensorFlow's own adam_test.py: var0 after three steps of a constant gradient.
BOOST_AUTO_TEST_CASE(adam_moves_by_the_learning_rate_while_the_gradient_is_constant) {
  const Adam adam{0.001, 0.9, 0.999, 1e-8};
  auto state = state_of(adam, {1, 2});
  for (int step = 1; step <= 3; ++step) {
    apply(adam, state, {0.1F, 0.1F});
    check_values(state.value, {1 - 0.001 * step, 2 - 0.001 * step});
    BOOST_TEST(state.slots[2].scalar<std::int64_t>() == step);
  }
}

BOOST_AUTO_TEST_CASE(rmsprop_starts_from_a_mean_square_of_one) {
  const RmsProp rmsprop{0.1, 0.75, 0, 0};
  auto state = state_of(rmsprop, {1});
  apply(rmsprop, state, {1});  // s = 1
  check_values(state.slots[0], {1});
  check_values(state.value, {0.9});
}

BOOST_AUTO_TEST_CASE(rmsprop_adds_epsilon_inside_the_root) {
  const RmsProp rmsprop{0.1, 0.5, 0.5, 3};
  auto state = state_of(rmsprop, {1});
  apply(rmsprop, state, {1});  // s = 1, a = 0.1 / sqrt(1 + 3) = 0.05
  check_values(state.value, {0.95});
  apply(rmsprop, state, {1});  // s = 1, a = 0.5 * 0.05 + 0.05
  check_values(state.value, {0.875});
}

BOOST_AUTO_TEST_CASE(adam_adds_epsilon_to_the_root_before_the_bias_is_corrected) {
  const Adam adam{1, 0.5, 0.75, 0.5};
  auto state = state_of(adam, {1});
  // m = 0.5, v = 0.25, rate = sqrt(1 - 0.75) / (1 - 0.5) = 1: 1 - 0.5 / (0.5 + 0.5). With epsilon beside
  // the corrected root it would be 1 - 1 / 1.5.
  apply(adam, state, {1});
  check_values(state.value, {0.5});
}

BOOST_AUTO_TEST_CASE(every_optimizer_follows_its_formula_over_many_steps_and_blocks) {
  constexpr std::size_t elements = 2500;  // more than two blocks, and a rest
  for (const auto& optimizer : all_optimizers) {
    std::vector<double> start(elements);
    for (std::size_t i = 0; i < elements; ++i) start[i] = std::cos(static_cast<double>(i));
    auto state = state_of<double>(optimizer, start);
    std::vector<Oracle> oracles;
    for (const double value : start) oracles.push_back({value});
    for (int step = 0; step < 5; ++step) {
      std::vector<double> gradient(elements);
      for (std::size_t i = 0; i < elements; ++i)
        gradient[i] = std::sin(static_cast<double>(i) + 0.7 * step);
      apply<double>(optimizer, state, gradient);
      for (std::size_t i = 0; i < elements; ++i) oracle_step(oracles[i], optimizer, gradient[i]);
    }
    std::vector<double> expected;
    for (const auto& oracle : oracles) expected.push_back(oracle.value);
    BOOST_TEST_CONTEXT(optimizer.name()) check_values<double>(state.value, expected, 1e-11);
  }
}

BOOST_AUTO_TEST_CASE(state_that_nobody_else_holds_is_updated_in_place) {
  for (const auto& optimizer : all_optimizers) {
    auto state = state_of(optimizer, {1, 2, 3});
    const void* value = state.value.data();
    apply(optimizer, state, {1, 1, 1});
    BOOST_TEST(state.value.data() == value);
  }
}

BOOST_AUTO_TEST_CASE(a_reader_keeps_what_it_has_read) {
  for (const auto& optimizer : all_optimizers) {
    auto state = state_of(optimizer, {1, 2, 3});
    auto undisturbed = state_of(optimizer, {1, 2, 3});
    const VariableState snapshot = state;
    std::vector<Tensor> slots_before;
    for (const auto& slot : snapshot.slots) slots_before.push_back(slot.clone());
    apply(optimizer, state, {1, -1, 2});
    apply(optimizer, undisturbed, {1, -1, 2});

    check_values(snapshot.value, {1, 2, 3}, 0);
    for (std::size_t i = 0; i < slots_before.size(); ++i)
      BOOST_TEST(identical(snapshot.slots[i], slots_before[i]));
    BOOST_TEST(identical(state.value, undisturbed.value));
    for (std::size_t i = 0; i < state.slots.size(); ++i)
      BOOST_TEST(identical(state.slots[i], undisturbed.slots[i]));
  }
}

BOOST_AUTO_TEST_CASE(when_memory_runs_out_nothing_has_changed) {
  auto state = state_of(Adam{}, {1, 2, 3});
  const VariableState snapshot = state;
  for (const int buffers : {0, 1, 2}) {  // value, m and v need one each
    SmallDevice device(buffers);
    BOOST_CHECK_EXCEPTION(apply_gradient(Adam{}, state, vector_of({1, 1, 1}), device), Error,
                          has_code<Code::resource_exhausted>);
    BOOST_TEST(state.value.data() == snapshot.value.data());
    for (std::size_t i = 0; i < state.slots.size(); ++i)
      BOOST_TEST(state.slots[i].data() == snapshot.slots[i].data());
  }
  check_values(state.value, {1, 2, 3}, 0);
  BOOST_TEST(state.slots[2].scalar<std::int64_t>() == 0);
}

BOOST_AUTO_TEST_CASE(nan_is_applied_as_it_comes) {
  auto state = state_of(Sgd{1}, {1, 2});
  apply(Sgd{1}, state, {std::numeric_limits<float>::quiet_NaN(), 1});
  BOOST_TEST(std::isnan(state.value.values<float>()[0]));
  BOOST_TEST(state.value.values<float>()[1] == 1);
}

BOOST_AUTO_TEST_CASE(an_empty_variable_stays_empty) {
  auto state = state_of(Adam{}, {});
  apply(Adam{}, state, {});
  BOOST_TEST(state.value.elements() == 0);
}

BOOST_AUTO_TEST_CASE(a_gradient_of_another_type_is_refused_and_changes_nothing) {
  auto state = state_of(Momentum{}, {1, 2});
  const auto apply_wrong = [&](const Tensor& gradient) {
    apply_gradient(Momentum{}, state, gradient, cpu_device());
  };
  const auto names_both = [](const Error& error) {
    const std::string message = error.what();
    return error.code() == Code::invalid_argument && message.find("float32[2]") != message.npos &&
           (message.find("float32[3]") != message.npos || message.find("float64[2]") != message.npos);
  };
  BOOST_CHECK_EXCEPTION(apply_wrong(vector_of({1, 2, 3})), Error, names_both);
  BOOST_CHECK_EXCEPTION(apply_wrong(vector_of<double>({1, 2})), Error, names_both);
  check_values(state.value, {1, 2}, 0);
}

BOOST_AUTO_TEST_CASE(slots_of_another_optimizer_are_refused) {
  auto state = state_of(Momentum{}, {1});
  BOOST_CHECK_EXCEPTION(apply(Adam{}, state, {1}), Error, has_code<Code::invalid_argument>);
}

BOOST_AUTO_TEST_CASE(integer_variables_are_refused) {
  VariableState state{Tensor::of<std::int32_t>({1}, {1}), {}};
  BOOST_CHECK_EXCEPTION(make_slots(Sgd{}, state, cpu_device()), Error, has_code<Code::invalid_argument>);
}

BOOST_AUTO_TEST_CASE(the_mean_divides_by_how_many_there_are) {
  auto state = state_of(Sgd{1}, {10, 10});
  const std::vector<Tensor> gradients = {vector_of({1, 2}), vector_of({3, 4}), vector_of({5, 9})};
  apply_mean(Sgd{1}, state, gradients, cpu_device());
  check_values(state.value, {7, 5});
  check_values(gradients[0], {1, 2}, 0);
}

BOOST_AUTO_TEST_CASE(the_mean_adds_in_the_given_order) {
  const Tensor huge = vector_of({1e8F}), minus_huge = vector_of({-1e8F}), three = vector_of({3});
  const auto mean = [](const std::vector<Tensor>& gradients) {
    auto state = state_of(Sgd{1}, {0});
    apply_mean(Sgd{1}, state, gradients, cpu_device());
    return -state.value.scalar<float>();
  };
  BOOST_TEST(mean({huge, minus_huge, three}) == 1.0F);
  BOOST_TEST(mean({huge, three, minus_huge}) == 0.0F);  // 1e8 + 3 is 1e8 in float32
}

BOOST_AUTO_TEST_CASE(applying_a_mean_is_applying_the_gradient_that_it_is) {
  const std::vector<float> values(2500, 1), low(2500, 0.5F), high(2500, 1.5F), between(2500, 1);
  for (const auto& optimizer : all_optimizers) {
    auto by_mean = state_of(optimizer, values), at_once = state_of(optimizer, values);
    const std::vector<Tensor> gradients = {vector_of(low), vector_of(high)};
    for (int step = 0; step < 2; ++step) {
      apply_mean(optimizer, by_mean, gradients, cpu_device());
      apply(optimizer, at_once, between);
    }
    BOOST_TEST(identical(by_mean.value, at_once.value));
    for (std::size_t i = 0; i < by_mean.slots.size(); ++i)
      BOOST_TEST(identical(by_mean.slots[i], at_once.slots[i]));
  }
}

BOOST_AUTO_TEST_CASE(a_team_computes_the_same_bits) {
  std::vector<float> values(100'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  for (const auto& optimizer : all_optimizers) {
    auto shared = state_of(optimizer, values), alone = state_of(optimizer, values);
    test::Backwards team;
    apply_gradient(optimizer, shared, vector_of(values), cpu_device(), &team);
    apply_gradient(optimizer, alone, vector_of(values), cpu_device());
    BOOST_TEST(team.most_parts > 1);
    BOOST_TEST(identical(shared.value, alone.value));
  }
}

BOOST_AUTO_TEST_CASE(the_mean_of_different_shapes_or_of_nothing_is_refused) {
  auto state = state_of(Sgd{}, {1});
  const std::vector<Tensor> different = {vector_of({1}), vector_of({1, 2})};
  BOOST_CHECK_EXCEPTION(apply_mean(Sgd{}, state, different, cpu_device()), Error,
                        has_code<Code::invalid_argument>);
  BOOST_CHECK_EXCEPTION(apply_mean(Sgd{}, state, std::span<const Tensor>{}, cpu_device()), Error,
                        has_code<Code::invalid_argument>);
  check_values(state.value, {1}, 0);
}

BOOST_AUTO_TEST_CASE(one_of_several_variables_that_cannot_be_updated_leaves_the_others) {
  // Adds the gradient, but not to two elements.
  class Adding final : public OptimizerRule {
   public:
    std::string_view name() const override { return "adding"; }
    std::span<const std::string_view> slots() const override { return {}; }
    double initial_slot(Hyperparameters, std::string_view) const override { return 0; }
    void check(Hyperparameters) const override {}
    void apply(Hyperparameters, VariableState& state, std::span<const Tensor> gradients, Device&,
               Team*) const override {
      if (state.value.elements() == 2) throw Error(Code::resource_exhausted, "two");
      state.value = gradients[0];
    }
    void apply_rows(Hyperparameters, VariableState&, std::span<const SparseGradient>, Device&,
                    Team*) const override {}
  };
  std::vector<VariableState> states{
      {vector_of({1}), {}}, {vector_of({1, 2}), {}}, {vector_of({1, 2, 3}), {}}};
  std::vector<VariableUpdate> updates{{{}, &states[0], vector_of({5})},
                                      {{}, &states[1], vector_of({5, 6})},
                                      {{}, &states[2], vector_of({5, 6, 7})}};
  Adding().apply_each(updates, cpu_device(), nullptr);
  check_values(states[0].value, {5}, 0);
  check_values(states[1].value, {1, 2}, 0);
  check_values(states[2].value, {5, 6, 7}, 0);
  BOOST_TEST(!updates[0].failure);
  BOOST_TEST(!updates[2].failure);
  BOOST_REQUIRE(updates[1].failure);
  BOOST_CHECK_EXCEPTION(std::rethrow_exception(updates[1].failure), Error,
                        has_code<Code::resource_exhausted>);
}

BOOST_AUTO_TEST_SUITE_END()
