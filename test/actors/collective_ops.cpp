// Collective operations as nodes of graphs.
#include "dataflow/ops/collective_ops.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/task/server.h"
#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/support/contributions.h"
#include "test/support/says.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(collective_ops)

using namespace actorflow;
using test::contribution, test::says, test::serial;

namespace {

constexpr int size = 3;

// A graph with a node for each rank.
struct RankGraph {
  LocalCluster cluster{{{"worker", size}}, 2};
  Graph g;
  RankList ranks{{"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:2"}};

  template <class Body>
  std::vector<Output> on_each(Body body) {
    std::vector<Output> outputs;
    for (int rank = 0; rank < size; ++rank)
      outputs.push_back(g.on(ranks.tasks[static_cast<std::size_t>(rank)], [&] { return body(rank); }));
    return outputs;
  }
  std::vector<Tensor> run(const std::vector<Output>& fetches) {
    Session session(cluster.server("worker", 0).target(), g);
    session.run(fetches);
    return session.run(fetches);  // a second step uses what the first has agreed on
  }
  // A program for each rank.
  static void on_threads(const std::function<void(int rank)>& body) {
    std::vector<std::future<void>> programs;
    for (int rank = 0; rank < size; ++rank)
      programs.push_back(std::async(std::launch::async, body, rank));
    for (auto& program : programs) program.get();
  }
};

Tensor floats(std::initializer_list<float> values) { return Tensor(values); }

}  // namespace

BOOST_AUTO_TEST_CASE(nodes_of_several_tasks_sum_in_one_step) {
  RankGraph r;
  const auto sums = r.on_each([&](int rank) {
    return all_reduce(r.g.constant(contribution<float>(rank, {1000})), r.ranks, "x");
  });
  for (const auto& sum : r.run(sums)) BOOST_TEST(identical(sum, serial<float>(size, {1000})));
}

BOOST_AUTO_TEST_CASE(every_operation_is_there_as_a_node) {
  RankGraph r;
  std::vector<Output> fetches;
  const auto add = [&](const std::vector<Output>& more) {
    fetches.insert(fetches.end(), more.begin(), more.end());
  };
  const auto rows = [&](int rank, std::int64_t n) {
    return r.g.constant(
        Tensor::of<std::int64_t>({n}, std::vector<std::int64_t>(static_cast<std::size_t>(n), rank)));
  };
  add(r.on_each([&](int rank) { return all_gather(rows(rank, rank), r.ranks, "gather"); }));
  add(r.on_each([&](int rank) { return broadcast(rows(rank, 2), r.ranks, 1, "broadcast"); }));
  add(r.on_each([&](int rank) {
    return reduce_scatter(rows(rank, 4), r.ranks, "scatter", {.reduction = ReduceOp::max});
  }));
  add(r.on_each([&](int rank) {
    const Output splits = r.g.constant(Tensor::of<std::int64_t>({3}, {0, 0, rank + 1}));
    return all_to_all(rows(rank, rank + 1), splits, r.ranks, "exchange");
  }));
  const auto got = r.run(fetches);
  const auto numbers = [](std::initializer_list<std::int64_t> values) { return Tensor(values); };
  for (int rank = 0; rank < size; ++rank) {
    const auto of = [&](int op) { return got[static_cast<std::size_t>(op * size + rank)]; };
    BOOST_TEST(identical(of(0), numbers({1, 2, 2})));
    BOOST_TEST(identical(of(1), numbers({1, 1})));
    BOOST_TEST(identical(of(2), rank == 0 ? numbers({2, 2}) : numbers({2})));
    BOOST_TEST(of(3).elements() == (rank == 2 ? 6 : 0));
  }
}

// Rank 2 adds 3 to a variable before the barrier; every rank reads it after the barrier.
BOOST_AUTO_TEST_CASE(what_follows_a_barrier_runs_after_what_all_ranks_do_before_it) {
  RankGraph r;
  const std::string& last = r.ranks.tasks[2];
  const Variable count = r.g.on(last, [&] { return r.g.variable("count", r.g.constant(0)); });
  const Output added = r.g.on(last, [&] { return r.g.assign_add(count, r.g.constant(3)); });
  std::vector<Output> barriers = r.on_each([&](int rank) {
    const auto add = [&] { return barrier(r.g, r.ranks, "meet"); };
    return rank == 2 ? r.g.after({added}, add) : add();
  });
  const Output seen = r.g.after({barriers[0]}, [&] {
    return r.g.on(last, [&] { return r.g.assign_add(count, r.g.constant(0)); });
  });
  BOOST_TEST(outputs_of(barriers[0]).empty());
  Session session(r.cluster.server("worker", 0).target(), r.g);
  session.initialize_variables();
  for (int step = 1; step < 4; ++step)
    BOOST_TEST(session.run({seen}, {}, barriers)[0].scalar<std::int32_t>() == 3 * step);
}

// Rank r has r + 1 steps, each in a session of its own, as ranks that are programs have.
BOOST_AUTO_TEST_CASE(ranks_that_have_joined_add_zeros_until_all_have) {
  RankGraph r;
  const auto sums = r.on_each([&](int) { return all_reduce(r.g.constant(1.0F), r.ranks, "x"); });
  const auto joins = r.on_each([&](int) { return join(r.g, r.ranks, "end"); });
  std::vector<std::vector<float>> seen(size);
  std::vector<std::int64_t> last(size, -1);
  for (int epoch = 0; epoch < 2; ++epoch) {
    r.on_threads([&](int rank) {
      const auto place = static_cast<std::size_t>(rank);
      Session session(r.cluster.server("worker", rank).target(), r.g);
      for (int step = 0; step <= rank; ++step)
        seen[place].push_back(session.run(sums[place]).scalar<float>());
      last[place] = session.run(joins[place]).scalar<std::int64_t>();
    });
    BOOST_TEST((last == std::vector<std::int64_t>{2, 2, 2}));
  }
  BOOST_TEST((seen[0] == std::vector{3.F, 3.F}));
  BOOST_TEST((seen[1] == std::vector{3.F, 2.F, 3.F, 2.F}));
  BOOST_TEST((seen[2] == std::vector{3.F, 2.F, 1.F, 3.F, 2.F, 1.F}));
}

BOOST_AUTO_TEST_CASE(a_join_that_is_given_up_ends_the_wait_of_the_others) {
  RankGraph r;
  const auto joins = r.on_each([&](int) { return join(r.g, r.ranks, "end"); });
  Session one(r.cluster.server("worker", 0).target(), r.g);
  one.run(joins);
  const Status late = test::status_of([&] { one.run(joins[0], {}, {.timeout_ms = 200}); });
  BOOST_TEST((late.code == Code::deadline_exceeded), late.to_string());
  // A late word of the step that was given up may end the next one, too.
  for (int step = 0; step < 3; ++step) {
    const Status status = test::status_of([&] { one.run(joins); });
    BOOST_TEST((status.ok() || status.code == Code::aborted), status.to_string());
  }
  for (const auto& last : one.run(joins)) BOOST_TEST(last.scalar<std::int64_t>() < size);
}

BOOST_AUTO_TEST_CASE(a_barrier_and_a_join_have_no_gradient) {
  Graph g;
  const RankList alone{{"/job:worker/task:0"}};
  const Output x = g.constant(1.0F);
  const Output y = g.after({join(g, alone, "end"), barrier(g, alone, "meet")}, [&] { return x * x; });
  BOOST_TEST(bool(gradients(y, {x})[0]));
  BOOST_CHECK_EXCEPTION(barrier(g, {}, "x"), Error, says("the tasks of the ranks"));
  BOOST_CHECK_EXCEPTION(join(g, {{"worker 0"}}, "x"), Error, says("the tasks of the ranks"));
}

BOOST_AUTO_TEST_CASE(several_tensors_are_reduced_and_scattered_as_one) {
  RankGraph r;
  const auto parts = r.on_each([&](int rank) {
    const float one = static_cast<float>(rank + 1);
    return grouped_reduce_scatter({r.g.constant(Tensor{{one, 2 * one}, {3 * one, 4 * one}}),
                                   r.g.constant(5 * one), r.g.constant(Tensor{6 * one, 7 * one})},
                                  r.ranks, {3, 0, 4}, "parts");
  });
  const auto got = r.run(parts);
  BOOST_TEST(identical(got[0], floats({6, 12, 18})));
  BOOST_TEST(got[1].elements() == 0);
  BOOST_TEST(identical(got[2], floats({24, 30, 36, 42})));
  Graph g;
  BOOST_CHECK_EXCEPTION(grouped_reduce_scatter({g.constant(Tensor{1.F, 2.F})}, r.ranks, {1, 1, 1}, "x"),
                        Error, says("the 2 elements that there are"));
  BOOST_CHECK_EXCEPTION(grouped_reduce_scatter({g.constant(Tensor{1.F, 2.F})}, r.ranks, {1, 1}, "x"),
                        Error, says("the elements of each of 3 ranks"));
}

// The loss is the sum over ranks r of sum(weight_r * y_r); the gradients are known.
BOOST_AUTO_TEST_CASE(every_operation_has_its_gradient) {
  const auto gradients_of = [](std::int64_t rows_of_0, auto op) {
    RankGraph r;
    std::vector<Output> xs, terms;
    for (int rank = 0; rank < size; ++rank)
      r.g.on(r.ranks.tasks[static_cast<std::size_t>(rank)], [&] {
        const std::int64_t n = rows_of_0 + rank;
        xs.push_back(r.g.constant(contribution<float>(rank, {n})));
        const Output y = op(r, rank, xs.back());
        const Output weight = r.g.constant(static_cast<float>(rank + 1));
        terms.push_back(sum(y * weight));
      });
    const Output loss = terms[0] + terms[1] + terms[2];
    return r.run(gradients(loss, xs));
  };
  // Each x is in every y: 1 + 2 + 3.
  auto got =
      gradients_of(2, [](RankGraph& r, int, const Output& x) { return all_gather(x, r.ranks, "g"); });
  BOOST_TEST(identical(got[0], floats({6, 6})));
  BOOST_TEST(identical(got[2], floats({6, 6, 6, 6})));

  const auto same = [](auto op) {
    return [op](RankGraph& r, int rank, const Output& x) { return op(r, rank, slice(x, {0}, {3})); };
  };
  got = gradients_of(3, same([](RankGraph& r, int, const Output& x) {
                       return all_reduce(x, r.ranks, "s", {.prescale = 0.5, .postscale = 4});
                     }));
  for (int rank = 0; rank < size; ++rank)
    BOOST_TEST(got[static_cast<std::size_t>(rank)].values<float>()[0] == 12.0F);
  got = gradients_of(3, same([](RankGraph& r, int, const Output& x) {
                       return all_reduce(x, r.ranks, "m", {.reduction = ReduceOp::average});
                     }));
  BOOST_TEST(got[1].values<float>()[2] == 2.0F);
  got = gradients_of(
      3, same([](RankGraph& r, int, const Output& x) { return broadcast(x, r.ranks, 2, "b"); }));
  BOOST_TEST(got[0].values<float>()[0] == 0.0F);
  BOOST_TEST(got[2].values<float>()[0] == 6.0F);
  // Row i goes to rank i, whose weight is i + 1.
  got = gradients_of(
      3, same([](RankGraph& r, int, const Output& x) { return reduce_scatter(x, r.ranks, "c"); }));
  for (int rank = 0; rank < size; ++rank)
    for (std::size_t i = 0; i < 3; ++i)
      BOOST_TEST(got[static_cast<std::size_t>(rank)].values<float>()[i] == static_cast<float>(i + 1));
  // The first row goes to rank 2, the others to rank 0.
  got = gradients_of(
      3, same([](RankGraph& r, int, const Output& x) {
        return all_to_all(x, r.g.constant(Tensor::of<std::int64_t>({3}, {2, 0, 1})), r.ranks, "a");
      }));
  for (int rank = 0; rank < size; ++rank)
    BOOST_TEST(std::ranges::equal(got[static_cast<std::size_t>(rank)].values<float>().first(3),
                                  std::vector<float>{1, 1, 3}));
}

BOOST_AUTO_TEST_CASE(a_maximum_has_no_gradient_and_says_so) {
  Graph g;
  const Output x = g.constant(1.0F);
  const Output y = all_reduce(x, {{"/job:worker/task:0"}}, "x", {.reduction = ReduceOp::max});
  BOOST_CHECK_EXCEPTION(gradients(y, {x}), Error,
                        says("only a sum and an average of ranks have a gradient, not a max"));
}

// In the step of another session, on any of the tasks.
BOOST_AUTO_TEST_CASE(a_node_says_who_waits_for_whom) {
  RankGraph r;
  const auto sums = r.on_each([&](int) { return all_reduce(r.g.constant(1.0F), r.ranks, "x"); });
  const auto waits = r.on_each([&](int) { return collective_waits(r.g); });
  Session session(r.cluster.server("worker", 0).target(), r.g);
  const auto nothing = session.run(waits[2]);
  BOOST_TEST(nothing.elements() == 0);
  session.run(sums);
  auto two = std::async(std::launch::async, [&] { return session.run({sums[0], sums[1]}); });
  const std::string missing = "    for rank 2 (/job:worker/task:2): it finished all_reduce 'x'";
  for (const auto& node : waits)
    for (bool told = false; !told;) {
      const Tensor lines = session.run(node);
      for (const auto& line : lines.values<std::string>()) told = told || line.starts_with(missing);
    }
  session.run(sums[2]);
  BOOST_TEST(two.get()[1].scalar<float>() == 3);
}

BOOST_AUTO_TEST_CASE(a_node_says_for_whom_a_group_waits_before_it_is_open) {
  RankGraph r;
  const auto sums = r.on_each([&](int) { return all_reduce(r.g.constant(1.0F), r.ranks, "x"); });
  const auto waits = r.on_each([&](int) { return collective_waits(r.g); });
  Session session(r.cluster.server("worker", 0).target(), r.g);
  auto two = std::async(std::launch::async, [&] { return session.run({sums[0], sums[1]}); });
  const auto wait_until_told = [&](const Output& node, const std::string& what) {
    for (bool told = false; !told;) {
      const Tensor lines = session.run(node);
      for (const auto& line : lines.values<std::string>()) told = told || line.find(what) != line.npos;
    }
  };
  wait_until_told(waits[0], "rank 2 (/job:worker/task:2) since ");
  wait_until_told(waits[1], "' waits for rank 0 (/job:worker/task:0) since ");
  session.run(sums[2]);
  BOOST_TEST(two.get()[0].scalar<float>() == 3);
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused_when_the_graph_is_built) {
  Graph g;
  const RankList two{{"/job:worker/task:0", "/job:worker/task:1"}};
  BOOST_CHECK_EXCEPTION(all_reduce(g.constant(true), two, "x"), Error, says("got bool"));
  BOOST_CHECK_EXCEPTION(all_reduce(g.constant(1), two, "x", {.reduction = ReduceOp::average}), Error,
                        says("got int32"));
  BOOST_CHECK_EXCEPTION(all_reduce(g.constant(1), two, ""), Error,
                        says("the name of a collective operation"));
  BOOST_CHECK_EXCEPTION(all_reduce(g.constant(1), {}, "x"), Error, says("the tasks of the ranks"));
  BOOST_CHECK_EXCEPTION(all_reduce(g.constant(1), {{"worker 0"}}, "x"), Error,
                        says("the tasks of the ranks"));
  BOOST_CHECK_EXCEPTION(broadcast(g.constant(1), two, 2, "x"), Error, says("a root from 0 to 1, got 2"));
  BOOST_CHECK_EXCEPTION(all_gather(g.constant(1), two, "x"), Error, says("1 dimension or more"));
  BOOST_CHECK_EXCEPTION(
      all_to_all(g.constant(Tensor{1}), g.constant(Tensor::of<std::int64_t>({3}, {1, 0, 0})), two, "x"),
      Error, says("an int64 for each of 2 ranks"));
}

BOOST_AUTO_TEST_CASE(ranks_that_differ_fail_the_step_and_the_next_one_works) {
  RankGraph r;
  const auto wrong = r.on_each([&](int rank) {
    return all_reduce(r.g.constant(contribution<float>(rank, {rank == 1 ? 3 : 2})), r.ranks, "wrong");
  });
  const auto right = r.on_each([&](int rank) {
    return all_reduce(r.g.constant(contribution<float>(rank, {2})), r.ranks, "right");
  });
  Session session(r.cluster.server("worker", 0).target(), r.g);
  BOOST_CHECK_EXCEPTION(session.run(wrong), Error, says("the shape [3]"));
  for (int step = 0; step < 3; ++step) {
    // A late word of the failed step may end the next one, too.
    const Status status = test::status_of([&] { session.run(right); });
    BOOST_TEST((status.ok() || status.code == Code::aborted), status.to_string());
  }
  for (const auto& sum : session.run(right)) BOOST_TEST(identical(sum, serial<float>(size, {2})));
}

BOOST_AUTO_TEST_SUITE_END()
