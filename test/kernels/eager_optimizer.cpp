// Eager optimizers: the bits of the rules that they apply, slots that are kept, and refused gradients.
#include "kernels/eager/eager_optimizer.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "kernels/eager/gradient_clipping.h"
#include "kernels/update/sparse_update.h"
#include "test/kernels/support/random_values.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(eager_optimizer)

using namespace actorflow;
using namespace actorflow::test;

namespace {

void check(const Status& status, const std::string& text) {
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message.find(text) != std::string::npos, status.message);
}

Gradient dense_gradient(unsigned seed) { return random_values({4, 3}, seed); }

Gradient rows_gradient(unsigned seed) {
  return SparseGradient{{random_values({3, 3}, seed), Tensor::of<std::int64_t>({3}, {2, 0, 2})}};
}

// Three updates by an optimizer, the last one by another object with its slots, and by its rule.
void check_updates(const BoundOptimizer& bound, Gradient (*gradient)(unsigned)) {
  const EagerVariable w("w", random_values({4, 3}, 9));
  EagerOptimizer optimizer(bound.optimizer), later(bound.optimizer);
  VariableState expected{w.read().clone(), {}};
  make_slots(bound, expected, cpu_device());
  for (unsigned step = 0; step < 3; ++step) {
    const Gradient g = gradient(step);
    if (step == 2) later.set_slots(w, optimizer.slots(w));
    (step == 2 ? later : optimizer).apply({g}, {w});
    apply_mean(bound, expected, std::span(&g, 1), cpu_device());
    BOOST_TEST(identical(w.read(), expected.value));
  }
  const auto slots = later.slots(w);
  BOOST_TEST_REQUIRE(slots.size() == expected.slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) BOOST_TEST(identical(slots[i], expected.slots[i]));
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_optimizer_applies_its_rule) {
  for (const OptimizerRule* rule : builtin_optimizer_rules()) {
    BOOST_TEST_CONTEXT(rule->name()) {
      const BoundOptimizer bound(make_optimizer(rule->name(), 0.01));
      check_updates(bound, dense_gradient);
      check_updates(bound, rows_gradient);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_value_that_is_held_does_not_change) {
  const EagerVariable w("w", Tensor{1.0F});
  EagerOptimizer optimizer(Sgd{1});
  const Tensor held = w.read();
  optimizer.apply({Tensor{0.25F}}, {w});
  BOOST_TEST(identical(held, Tensor{1.0F}));
  BOOST_TEST(identical(w.read(), Tensor{0.75F}));
}

BOOST_AUTO_TEST_CASE(the_learning_rate_can_be_changed) {
  const EagerVariable w("w", Tensor{1.0F});
  EagerOptimizer optimizer(Sgd{1});
  optimizer.set_learning_rate(0.5);
  BOOST_TEST(optimizer.learning_rate() == 0.5);
  optimizer.apply({Tensor{1.0F}}, {w});
  BOOST_TEST(identical(w.read(), Tensor{0.5F}));
}

BOOST_AUTO_TEST_CASE(refused_gradients_change_nothing) {
  const EagerVariable a("a", Tensor{1.0F}), b("b", Tensor{{1.0F}, {2.0F}});
  EagerOptimizer optimizer(Adam{});
  const auto apply = [&](const std::vector<Gradient>& gradients) {
    return status_of([&] { optimizer.apply(gradients, {a, b}); });
  };
  const SparseGradient beyond{{Tensor{{1.0F}}, Tensor::of<std::int64_t>({1}, {2})}};
  check(apply({Tensor{1.0F}, Tensor{1.0F}}), "variable 'b': expected float32[2,1], got float32[1]");
  check(apply({Tensor{1.0F}, beyond}), "variable 'b': expected indices from 0 to 1");
  check(apply({Tensor{1.0F}}), "1 gradients for 2 variables");
  check(apply({{}, {}}), "the loss depends on none of the variables");
  BOOST_TEST(identical(a.read(), Tensor{1.0F}));
  BOOST_TEST(optimizer.slots(a).empty());
  check(status_of([&] { optimizer.set_slots(a, {Tensor{1.0F}}); }), "needs 3 slots");
  const Tensor step = Tensor::scalar<std::int64_t>(1), slot{1.0F}, longer{1.0F, 2.0F};
  check(status_of([&] { optimizer.set_slots(a, {longer, slot, step}); }), "of eager variable 'a' is");
  check(status_of([&] { optimizer.set_slots(a, {slot, Tensor{1}, step}); }), "of eager variable 'a' is");
  check(status_of([&] { EagerOptimizer(Sgd{1}).apply({Tensor{1}}, {EagerVariable("n", Tensor{1})}); }),
        "variable 'n': expected a variable of float32 or float64");
  optimizer.apply({Tensor{1.0F}, {}}, {a, b});
  BOOST_TEST(identical(b.read(), Tensor{{1.0F}, {2.0F}}));
  BOOST_TEST(!identical(a.read(), Tensor{1.0F}));
}

// As Muon, which takes no vector.
BOOST_AUTO_TEST_CASE(a_variable_that_the_optimizer_does_not_take_changes_none) {
  const EagerVariable matrix("matrix", random_values({4, 3}, 1)), bias("bias", random_values({3}, 2));
  EagerOptimizer optimizer(Muon{});
  const Tensor before = matrix.read();
  check(status_of([&] {
          optimizer.apply({random_values({4, 3}, 3), random_values({3}, 4)}, {matrix, bias});
        }),
        "eager variable 'bias': muon updates matrices");
  BOOST_TEST(identical(matrix.read(), before));
}

BOOST_AUTO_TEST_CASE(clipping_scales_dense_gradients_and_rows) {
  const std::vector<Gradient> gradients{
      Tensor{3.0F}, Gradient(), SparseGradient{{Tensor{{4.0F}}, Tensor::of<std::int64_t>({1}, {7})}}};
  BOOST_TEST(global_norm(gradients) == 5);
  const auto clipped = clip_by_global_norm(gradients, 2.5);
  BOOST_TEST(identical(clipped[0].dense, Tensor{1.5F}));
  BOOST_TEST(clipped[1].empty());
  BOOST_TEST(identical(clipped[2].rows[0].values, Tensor{{2.0F}}));
  BOOST_TEST(identical(clipped[2].rows[0].indices, gradients[2].rows[0].indices));
  BOOST_TEST(identical(clip_by_global_norm(gradients, 6)[0].dense, Tensor{3.0F}));
  BOOST_TEST(global_norm(std::vector<Gradient>{}) == 0);
  check(status_of([&] { clip_by_global_norm(gradients, 0); }), "must be above 0");
}

BOOST_AUTO_TEST_SUITE_END()
