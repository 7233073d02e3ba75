#include "kernels/update/sparse_update.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "dataflow/values/error.h"
#include "test/kernels/support/names.h"
#include "test/kernels/support/teams.h"

BOOST_AUTO_TEST_SUITE(sparse_update)

using namespace actorflow;
using test::names;

namespace {

const std::vector<Optimizer> all_optimizers = {Sgd{0.1}, Momentum{0.1, 0.9}, Adagrad{0.1, 0.1},
                                               Adam{0.01, 0.9, 0.999, 1e-8},
                                               RmsProp{0.01, 0.9, 0.5, 1e-10}};

// sin(phase), sin(1 + phase), ...
template <class T = float>
Tensor waves(const Shape& shape, double phase = 0) {
  Tensor tensor = Tensor::allocate(dtype_of<T>, shape);
  double i = 0;
  for (T& value : tensor.mutable_values<T>()) value = static_cast<T>(std::sin(phase + i++));
  return tensor;
}

Tensor indices_of(const std::vector<std::int64_t>& indices) {
  return Tensor::of<std::int64_t>({std::ssize(indices)}, indices);
}

VariableState state_of(const Optimizer& optimizer, const Tensor& value) {
  VariableState state{value, {}};
  make_slots(optimizer, state, cpu_device());
  return state;
}

// The gradient that these rows stand for.
Tensor dense(const SparseGradient& gradient, const Shape& shape) {
  Tensor sum = Tensor::zeros(DType::float32, shape);
  const auto width = static_cast<std::size_t>(shape[1]);
  auto out = sum.mutable_values<float>();
  for (const auto& rows : gradient) {
    const auto values = rows.values.values<float>();
    std::size_t next = 0;
    for (const std::int64_t index : rows.indices.values<std::int64_t>())
      for (std::size_t j = 0; j < width; ++j)
        out[static_cast<std::size_t>(index) * width + j] += values[next++];
  }
  return sum;
}

bool same_row(const Tensor& a, const Tensor& b, std::int64_t row) {
  const auto width = a.shape()[1];
  const auto begin = static_cast<std::size_t>(row * width);
  const auto of = [&](const Tensor& t) {
    return t.values<float>().subspan(begin, static_cast<std::size_t>(width));
  };
  return std::ranges::equal(of(a), of(b));
}

void check_identical(const VariableState& a, const VariableState& b) {
  BOOST_TEST(identical(a.value, b.value));
  for (std::size_t i = 0; i < a.slots.size(); ++i) BOOST_TEST(identical(a.slots[i], b.slots[i]));
}

Tensor updated(const SparseGradient& gradient, const Tensor& value) {
  auto state = state_of(Sgd{1}, value);
  apply_sparse_gradient(Sgd{1}, state, gradient, cpu_device());
  return state.value;
}

}  // namespace

// All rows are given, the formulas are the same: dense updates are the oracle.
BOOST_AUTO_TEST_CASE(with_all_rows_it_is_the_dense_update) {
  for (const auto& optimizer : all_optimizers) BOOST_TEST_CONTEXT(optimizer.name()) {
      auto sparse = state_of(optimizer, waves({5, 7})), whole = state_of(optimizer, waves({5, 7}));
      for (const double phase : {1.0, 2.0, 3.0}) {
        const SparseGradient gradient{{waves({5, 7}, phase), indices_of({3, 0, 4, 1, 2})}};
        apply_sparse_gradient(optimizer, sparse, gradient, cpu_device());
        apply_gradient(optimizer, whole, dense(gradient, {5, 7}), cpu_device());
      }
      check_identical(sparse, whole);
    }
}

BOOST_AUTO_TEST_CASE(rows_that_are_not_given_stay_as_they_are) {
  for (const auto& optimizer : all_optimizers) BOOST_TEST_CONTEXT(optimizer.name()) {
      auto state = state_of(optimizer, waves({4, 3}));
      const SparseGradient all{{waves({4, 3}, 1), indices_of({0, 1, 2, 3})}},
          one{{waves({1, 3}, 2), indices_of({2})}};
      apply_sparse_gradient(optimizer, state, all, cpu_device());
      const VariableState before = state;
      apply_sparse_gradient(optimizer, state, one, cpu_device());
      for (const std::int64_t row : {0, 1, 3}) {
        BOOST_TEST(same_row(state.value, before.value, row));
        for (std::size_t i = 0; i < state.slots.size(); ++i)
          if (state.slots[i].shape().rank() == 2)
            BOOST_TEST(same_row(state.slots[i], before.slots[i], row));
      }
      BOOST_TEST(!same_row(state.value, before.value, 2));
    }
}

BOOST_AUTO_TEST_CASE(equal_indices_add_up_before_the_formula_sees_them) {
  for (const auto& optimizer : all_optimizers) BOOST_TEST_CONTEXT(optimizer.name()) {
      const SparseGradient twice{{waves({3, 2}, 1), indices_of({1, 0, 1})},
                                 {waves({2, 2}, 5), indices_of({2, 1})}};
      auto sparse = state_of(optimizer, waves({3, 2})), whole = state_of(optimizer, waves({3, 2}));
      apply_sparse_gradient(optimizer, sparse, twice, cpu_device());
      apply_gradient(optimizer, whole, dense(twice, {3, 2}), cpu_device());
      check_identical(sparse, whole);
    }
}

BOOST_AUTO_TEST_CASE(rows_add_up_in_their_order) {
  const Tensor values = Tensor::of<float>({3, 1}, {1e8F, 3, -1e8F});
  const Tensor zero = Tensor::zeros(DType::float32, {1, 1});
  BOOST_TEST(updated({{values, indices_of({0, 0, 0})}}, zero).values<float>()[0] == 0.0F);
  const Tensor other_order = Tensor::of<float>({3, 1}, {1e8F, -1e8F, 3});
  BOOST_TEST(updated({{other_order, indices_of({0, 0, 0})}}, zero).values<float>()[0] == -3.0F);
}

// Row 0 is of both gradients, row 1 of the first only (twice), row 2 of the second only.
BOOST_AUTO_TEST_CASE(the_mean_of_a_row_is_over_the_gradients_that_have_it) {
  const auto rows = [](const std::vector<float>& values, const std::vector<std::int64_t>& indices) {
    return SparseGradient{{Tensor::of<float>({std::ssize(values), 1}, values), indices_of(indices)}};
  };
  const std::vector<SparseGradient> gradients{rows({2, 3, 5}, {0, 1, 1}), rows({6, 7}, {0, 2})};
  auto state = state_of(Sgd{1}, Tensor::zeros(DType::float32, {4, 1}));
  apply_sparse_mean(Sgd{1}, state, gradients, cpu_device());
  BOOST_TEST(state.value.values<float>() == (std::vector<float>{-4, -8, -7, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(adam_counts_updates_of_the_variable) {
  auto state = state_of(Adam{}, waves({3, 2}));
  for (const std::int64_t row : {0, 2}) {
    const SparseGradient gradient{{waves({1, 2}), indices_of({row})}};
    apply_sparse_gradient(Adam{}, state, gradient, cpu_device());
  }
  apply_sparse_gradient(Adam{}, state, {{waves({0, 2}), indices_of({})}}, cpu_device());
  BOOST_TEST(state.slots[2].scalar<std::int64_t>() == 3);
}

BOOST_AUTO_TEST_CASE(no_rows_change_nothing) {
  const Tensor value = waves({3, 2});
  BOOST_TEST(identical(updated({{waves({0, 2}), indices_of({})}}, value), value));
  BOOST_TEST(identical(updated({}, value), value));
}

BOOST_AUTO_TEST_CASE(a_vector_has_rows_of_one_element) {
  const Tensor value = Tensor::of<double>({3}, {1, 2, 3});
  auto state = state_of(Sgd{1}, value);
  apply_sparse_gradient(Sgd{1}, state, {{Tensor::of<double>({1}, {5}), indices_of({1})}}, cpu_device());
  BOOST_TEST(state.value.values<double>()[1] == -3.0);
}

BOOST_AUTO_TEST_CASE(state_that_nobody_else_holds_is_updated_in_place) {
  for (const auto& optimizer : all_optimizers) {
    auto state = state_of(optimizer, waves({3, 2}));
    const void* memory = state.value.data();
    const SparseGradient gradient{{waves({1, 2}), indices_of({1})}};
    apply_sparse_gradient(optimizer, state, gradient, cpu_device());
    BOOST_TEST(state.value.data() == memory);
  }
}

BOOST_AUTO_TEST_CASE(a_reader_keeps_what_it_has_read) {
  for (const auto& optimizer : all_optimizers) BOOST_TEST_CONTEXT(optimizer.name()) {
      auto state = state_of(optimizer, waves({3, 2})), undisturbed = state_of(optimizer, waves({3, 2}));
      const VariableState held = state;
      const SparseGradient gradient{{waves({1, 2}, 4), indices_of({1})}};
      apply_sparse_gradient(optimizer, state, gradient, cpu_device());
      apply_sparse_gradient(optimizer, undisturbed, gradient, cpu_device());
      BOOST_TEST(identical(held.value, waves({3, 2})));
      check_identical(state, undisturbed);
    }
}

BOOST_AUTO_TEST_CASE(a_team_computes_the_same_bits) {
  constexpr std::int64_t rows = 5000;
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < rows; ++i) indices.push_back(i * i % 997);
  const SparseGradient gradient{{waves({rows, 33}), indices_of(indices)}};
  for (const auto& optimizer : all_optimizers) {
    auto shared = state_of(optimizer, waves({1000, 33})), alone = state_of(optimizer, waves({1000, 33}));
    test::Backwards team;
    apply_sparse_gradient(optimizer, shared, gradient, cpu_device(), &team);
    apply_sparse_gradient(optimizer, alone, gradient, cpu_device());
    BOOST_TEST(team.most_parts > 1);
    check_identical(shared, alone);
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_and_changes_nothing) {
  auto state = state_of(Momentum{}, waves({3, 2}));
  const auto refused = [&](const SparseGradient& gradient, std::string_view why) {
    BOOST_CHECK_EXCEPTION(apply_sparse_gradient(Momentum{}, state, gradient, cpu_device()), Error,
                          [&](const Error& e) { return names(e, why); });
  };
  refused({{waves({2, 2}), indices_of({0, 3})}}, "from 0 to 2, got the index 3 at place 1");
  refused({{waves({1, 2}), indices_of({-1})}}, "the index -1 at place 0");
  refused({{waves({2, 2}), indices_of({0})}}, "float32[1,2]");
  refused({{waves({1, 3}), indices_of({0})}}, "float32[1,2]");
  refused({{waves<double>({1, 2}), indices_of({0})}}, "float64[1,2]");
  refused({{waves({1, 2}), Tensor::of<std::int32_t>({1}, {0})}}, "int64[n]");
  BOOST_CHECK_THROW(apply_sparse_mean(Momentum{}, state, {}, cpu_device()), Error);
  auto scalar = state_of(Sgd{}, Tensor::scalar(1.0F));
  BOOST_CHECK_THROW(apply_sparse_gradient(Sgd{}, scalar, {{waves({1}), indices_of({0})}}, cpu_device()),
                    Error);
  BOOST_TEST(identical(state.value, waves({3, 2})));
}

BOOST_AUTO_TEST_SUITE_END()
