// State that training loops go back to, and hand to ranks that come.
#include "actors/eager/committed_state.h"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "kernels/eager/gradient_tape.h"
#include "test/actors/support/rank_checks.h"
#include "test/actors/support/ranks.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(committed_state)

using namespace actorflow;
using test::Ranks, test::says, test::Wrong;

namespace {

struct Loop {
  EagerVariable weights{"weights", Tensor{1.0F, 2.0F}};
  EagerOptimizer optimizer{Adam{0.1}};
  std::int64_t step = 0;
  CommittedState state{{{weights}, {optimizer}}, {step}};

  void train(float gradient) {
    optimizer.apply({Tensor{gradient, 2 * gradient}}, {weights});
    ++step;
  }
  // Variables, slots and numbers.
  std::vector<Tensor> values() const {
    std::vector<Tensor> all = optimizer.slots(weights);
    all.push_back(weights.read());
    all.push_back(Tensor::scalar(step));
    return all;
  }
};

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, identical);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_loop_goes_back_to_its_newest_commit) {
  Loop loop;
  BOOST_CHECK_EXCEPTION(loop.state.restore(), Error, says("call commit() before"));
  loop.state.commit();
  const auto first = loop.values();
  loop.train(1);
  loop.state.restore();
  BOOST_TEST(same(loop.values(), first), "the optimizer had no slots then");
  loop.train(1);
  loop.train(3);
  loop.state.commit();
  const auto second = loop.values();
  loop.train(5);
  BOOST_TEST(!same(loop.values(), second));
  loop.state.restore();
  loop.state.restore();
  BOOST_TEST(same(loop.values(), second));
  BOOST_TEST(loop.state.commits() == 2);
}

BOOST_AUTO_TEST_CASE(ranks_get_the_state_of_the_one_with_the_most_commits) {
  Wrong wrong;
  Loop expected;
  for (const float gradient : {3.F, 1.F}) expected.train(gradient);
  Ranks(4).run([&](Communicator& world) {
    Loop loop;
    // Ranks 2 and 3 have two steps, and rank 3 has changed something since.
    if (world.rank() >= 2) {
      for (const float gradient : {3.F, 1.F}) {
        loop.train(gradient);
        loop.state.commit();
      }
      if (world.rank() == 3) loop.train(7);
    }
    loop.state.sync(world);
    wrong.unless(same(loop.values(), expected.values()));
    wrong.unless(loop.state.commits() == 2);
    loop.train(9);
    loop.state.restore();
    wrong.unless(same(loop.values(), expected.values()));
  });
}

BOOST_AUTO_TEST_CASE(at_the_beginning_ranks_get_what_rank_0_has) {
  Wrong wrong;
  Loop expected;
  expected.train(2);
  Ranks(3).run([&](Communicator& world) {
    Loop loop;
    if (world.rank() == 0) loop.train(2);
    loop.state.sync(world);
    wrong.unless(same(loop.values(), expected.values()));
    wrong.unless(loop.state.commits() == 1);
  });
}

BOOST_AUTO_TEST_CASE(other_variables_on_a_rank_are_refused_there_and_change_nothing) {
  Ranks ranks(2);
  const auto statuses = ranks.statuses([](Communicator& world) {
    EagerVariable one("one", Tensor{1.0F}), two("two", Tensor{2.0F, 3.0F});
    CommittedState state({world.rank() == 0 ? std::vector{one} : std::vector{two}});
    try {
      state.sync(world);
    } catch (const Error&) {
      BOOST_TEST(identical(two.read(), Tensor{2.0F, 3.0F}));
      BOOST_TEST(state.commits() == 0);
      throw;
    }
  });
  BOOST_TEST(statuses[0].ok());
  BOOST_TEST((statuses[1].code == Code::invalid_argument), statuses[1].to_string());
}

BOOST_AUTO_TEST_CASE(a_loop_begins_again_as_often_as_it_may) {
  Ranks ranks(1);
  EagerVariable weights("weights", Tensor{0});
  std::int64_t step = 0;
  CommittedState state({{weights}}, {step});
  int worlds = 0;
  const auto open = [&] {
    ++worlds;
    return Communicator(ranks.server(0));
  };
  const auto train = [&](const Communicator&) {
    for (; step < 4; state.commit()) {
      weights.assign(Tensor{weights.read().values<int>()[0] + 10});
      if (step == 2 && worlds < 3) throw Error(Code::unavailable, "rank 7 is lost");
      ++step;
    }
  };
  run_elastic(state, open, train);
  BOOST_TEST(worlds == 3);
  BOOST_TEST(weights.read().values<int>()[0] == 40);
  worlds = 0;
  BOOST_CHECK_EXCEPTION(
      run_elastic(
          state, open, [](const Communicator&) { throw Error(Code::unavailable, "rank 7 is lost"); }, 2),
      Error, says("rank 7 is lost"));
  BOOST_TEST(worlds == 3);
  BOOST_CHECK_EXCEPTION(
      run_elastic(state, open,
                  [](const Communicator&) { throw Error(Code::invalid_argument, "a mistake"); }),
      Error, says("a mistake"));
}

BOOST_AUTO_TEST_SUITE_END()
