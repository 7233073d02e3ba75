// Gradients of tapes, reduced over ranks: the same bits on all, and those of the whole batch.
#include "actors/eager/all_reduce.h"

#include <boost/test/unit_test.hpp>
#include <mutex>
#include <vector>

#include "actors/eager/eager_model.h"
#include "actors/layers/layers.h"
#include "kernels/eager/eager_optimizer.h"
#include "test/actors/support/rank_checks.h"
#include "test/actors/support/ranks.h"
#include "test/kernels/support/random_values.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(eager_all_reduce)

using namespace actorflow;
using test::Ranks, test::random_values, test::status_of, test::Wrong;

namespace {

// What a rank has learned by three steps on examples of its own.
std::vector<Tensor> learned(Communicator& world) {
  EagerModel model({embedding(50, 4), flatten(), dense(3)},
                   1 + static_cast<std::uint64_t>(world.rank()));
  model.build({{DType::int64, {2, 2}}});
  broadcast_variables(world, model.variables());
  EagerOptimizer optimizer(Adam{0.1});
  for (std::int64_t step = 0; step < 3; ++step) {
    GradientTape tape;
    const std::int64_t own = 10 * world.rank() + step;
    const Output logits = model(tape.constant(Tensor::of<std::int64_t>({2, 2}, {own, 1, 2, own})));
    const Output loss = mean(softmax_cross_entropy(logits, tape.constant(Tensor{0, 2})));
    optimizer.apply(all_reduce_gradients(world, tape.gradients(loss, model.trained())), model.trained());
  }
  std::vector<Tensor> values;
  for (const EagerVariable& variable : model.variables()) values.push_back(variable.read());
  return values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_learn_the_same_bits) {
  std::vector<std::vector<Tensor>> all(3);
  Ranks(3).run(
      [&](Communicator& world) { all[static_cast<std::size_t>(world.rank())] = learned(world); });
  BOOST_TEST_REQUIRE(all[0].size() == 3U);
  for (const auto& other : {all[1], all[2]})
    for (std::size_t i = 0; i < other.size(); ++i)
      BOOST_TEST(identical(other[i], all[0][i]), "variable " << i << " differs");
}

BOOST_AUTO_TEST_CASE(the_mean_is_that_of_dense_gradients_and_of_rows) {
  Wrong wrong;
  Ranks(2).run([&](Communicator& world) {
    const auto rank = static_cast<float>(world.rank());
    const SparseGradient rows{
        {Tensor{{rank}, {4.0F}}, Tensor::of<std::int64_t>({2}, {world.rank(), 7})}};
    const auto mean = all_reduce_gradients(world, {Tensor{rank, 2.0F}, rows, Gradient()});
    wrong.unless(identical(mean[0].dense, Tensor{0.5F, 2.0F}));
    wrong.unless(identical(mean[1].rows[0].values, Tensor{{0.0F}, {2.0F}, {0.5F}, {2.0F}}));
    wrong.unless(identical(mean[1].rows[0].indices, Tensor::of<std::int64_t>({4}, {0, 7, 1, 7})));
    wrong.unless(mean[2].empty());
    const auto sum = all_reduce_gradients(world, {Tensor{rank}}, {.name = "sum"});
    wrong.unless(identical(sum[0].dense, Tensor{1.0F}));
    wrong.unless(status_of([&] {
                   all_reduce_gradients(world, {Tensor{rank}}, {.reduction = ReduceOp::max});
                 }).code == Code::invalid_argument);
  });
}

// As of sequences of different lengths.
BOOST_AUTO_TEST_CASE(ranks_may_look_up_differently_often) {
  Wrong wrong;
  Ranks(2).run([&](Communicator& world) {
    const auto row = [](float value, std::int64_t index) {
      return GradientRows{Tensor{{value}}, Tensor::of<std::int64_t>({1}, {index})};
    };
    const SparseGradient rows =
        world.rank() == 0 ? SparseGradient{row(1, 0), row(2, 3), row(3, 1)} : SparseGradient{row(4, 5)};
    const auto sum = all_reduce_gradients(world, {rows}, {.name = "sum"});
    wrong.unless(identical(sum[0].rows[0].values, Tensor{{1.0F}, {2.0F}, {3.0F}, {4.0F}}));
    wrong.unless(identical(sum[0].rows[0].indices, Tensor::of<std::int64_t>({4}, {0, 3, 1, 5})));
  });
}

BOOST_AUTO_TEST_CASE(gradients_of_different_kinds_are_refused_on_every_rank) {
  Wrong wrong;
  Ranks(2).run([&](Communicator& world) {
    const Gradient dense(Tensor{1.0F});
    const auto status = status_of([&] {
      all_reduce_gradients(world, {dense, world.rank() == 0 ? dense : Gradient()});
    });
    wrong.unless(status.code == Code::invalid_argument);
    wrong.unless(status.message.find(world.rank() == 0
                                         ? "gradient 1 is dense on rank 0, but none on 1 of 2 ranks"
                                         : "gradient 1 is none on rank 1, but dense on 1 of 2 ranks") !=
                 std::string::npos);
  });
}

// Whose data have ended earlier.
BOOST_AUTO_TEST_CASE(ranks_that_have_joined_count_for_nothing) {
  Wrong wrong;
  Ranks(2).run([&](Communicator& world) {
    if (world.rank() == 1) {
      world.join();
      return;
    }
    const auto sum = all_reduce_gradients(world, {Tensor{3.0F}}, {.name = "sum"});
    wrong.unless(identical(sum[0].dense, Tensor{3.0F}));
    world.join();
  });
}

BOOST_AUTO_TEST_SUITE_END()
