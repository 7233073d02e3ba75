// Steps whose parts on a GPU are launched as CUDA graphs: whatever changes between two launches, they
// compute the bits of steps whose nodes are launched one by one. Without a GPU both run on the CPU.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <thread>
#include <utility>

#include "actors/checkpoint/saver.h"
#include "actors/client/session.h"
#include "actors/task/server.h"
#include "dataflow/train/replicate.h"
#include "kernels/core/region.h"
#include "kernels/ops.h"
#include "kernels/ops/learning_rate.h"
#include "test/kernels/support/random_values.h"
#include "test/support/folder.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(cuda_graphs)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A region is captured at its third run; so these are enough to launch it as a graph, too.
constexpr int runs_until_launched = 4;

// A session of a graph on a task of its own.
struct Side {
  Side(const Graph& graph, bool cuda_graphs)
      : session(cluster.server("local", 0).target(), graph, {.cuda_graphs = cuda_graphs}) {
    if (!graph.variables().empty()) session.initialize_variables();
  }

  LocalCluster cluster{{{"local", 1}}};
  Session session;
};

// The same steps with and without CUDA graphs.
class BothSides {
 public:
  explicit BothSides(const Graph& graph) : plain_(graph, false), captured_(graph, true) {}
  // The case fails if there is a GPU and none of its steps was launched as a graph.
  ~BothSides() { BOOST_TEST((cuda_device_count() == 0 || graph_launches() > launches_before_)); }
  BothSides(const BothSides&) = delete;
  BothSides& operator=(const BothSides&) = delete;

  // What the step gives with CUDA graphs, after a comparison.
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds,
                          const std::vector<Output>& targets = {}) {
    const auto expected = plain_.session.run(fetches, feeds, targets);
    auto actual = captured_.session.run(fetches, feeds, targets);
    for (std::size_t i = 0; i < fetches.size(); ++i)
      BOOST_TEST(identical(actual[i], expected[i]), fetches[i].name());
    return actual;
  }
  // The errors of a step: one by one, and with CUDA graphs.
  std::pair<Status, Status> refusals(const std::vector<Output>& fetches, const Feeds& feeds) {
    return {status_of([&] { plain_.session.run(fetches, feeds); }),
            status_of([&] { captured_.session.run(fetches, feeds); })};
  }
  void on_each(const std::function<void(Session&)>& action) {
    action(plain_.session);
    action(captured_.session);
  }
  Session& captured() { return captured_.session; }

 private:
  const std::uint64_t launches_before_ = graph_launches();
  Side plain_, captured_;
};

// Regression with a hidden layer, dropout by the global step, and a rate that falls with each step.
struct Network {
  Network() {
    g.on("/gpu:0", [&] {
      x = g.placeholder(DType::float32, {Shape::unknown, Shape::unknown}, "x");
      y = g.placeholder(DType::float32, {Shape::unknown, 1}, "y");
      scale = g.placeholder(DType::float32, {}, "scale");
      w = g.variable("w", g.constant(random_values({8, 16}, 1)));
      bias = g.variable("bias", g.constant(random_values({16}, 2)));
      v = g.variable("v", g.constant(random_values({16, 1}, 3)));
      step = global_step(g);
      hidden = dropout(relu(bias_add(matmul(x, w.value()), bias.value())), 0.5, 7, step.value());
      loss = scale * mean(square(tanh(matmul(hidden, v.value())) - y));
      train = minimize(g, loss, {w, bias, v}, step, Momentum{0.1, 0.9}, {},
                       exponential_decay(0.1, step.value(), 3, 0.7));
    });
    new_bias = g.on(bias.device(), [&] { return g.placeholder(DType::float32, {16}); });
    assign_bias = g.assign(bias, new_bias);
  }

  Feeds batch(std::int64_t examples, unsigned seed, float scaled_by = 1) const {
    return {{x, random_values({examples, 8}, seed)},
            {y, random_values({examples, 1}, seed + 1000)},
            {scale, Tensor::scalar(scaled_by)}};
  }
  // Makes so many steps, each with another batch, and compares losses and variables.
  void train_on(BothSides& both, int steps, unsigned seed, std::int64_t examples = 12) const {
    for (int i = 0; i < steps; ++i) {
      both.run({train.step, loss}, batch(examples, seed + static_cast<unsigned>(i)));
      both.run({w, bias, v, step}, {});
    }
  }

  Graph g;
  Output x, y, scale, hidden, loss, new_bias, assign_bias;
  Variable w, bias, v, step;
  TrainOp train;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(training_learns_the_same_bits, Network) {
  BothSides both(g);
  train_on(both, 10, 1);
}

BOOST_FIXTURE_TEST_CASE(batches_may_change_their_size_between_steps, Network) {
  BothSides both(g);
  unsigned seed = 0;
  for (int epoch = 0; epoch < runs_until_launched; ++epoch)
    for (const std::int64_t examples : {12, 12, 12, 5}) train_on(both, 1, ++seed, examples);
  for (const std::int64_t examples : {1, 2, 3, 4, 6, 7, 8, 9, 12, 5}) {  // more than graphs are kept
    for (int i = 0; i < runs_until_launched; ++i) both.run({hidden, loss}, batch(examples, ++seed));
  }
}

BOOST_FIXTURE_TEST_CASE(each_feed_is_read_anew, Network) {
  BothSides both(g);
  std::vector<float> losses;
  for (int i = 0; i < runs_until_launched + 3; ++i)
    losses.push_back(both.run({loss}, batch(4, 1, static_cast<float>(i))).at(0).scalar<float>());
  for (std::size_t i = 0; i < losses.size(); ++i)
    BOOST_TEST(losses[i] == losses[1] * static_cast<float>(i));
  for (unsigned seed = 1; seed < 4; ++seed) both.run({loss}, batch(4, seed));
}

BOOST_FIXTURE_TEST_CASE(dropout_draws_anew_in_each_step, Network) {
  BothSides both(g);
  const Feeds always_the_same = batch(32, 1, 0);  // no gradient, so that only the step changes
  std::vector<Tensor> drawn;
  for (int i = 0; i < runs_until_launched + 3; ++i) {
    drawn.push_back(both.run({hidden, train.step, loss}, always_the_same).at(0));
    for (std::size_t before = 0; before + 1 < drawn.size(); ++before)
      BOOST_TEST(!identical(drawn[before], drawn.back()));
  }
}

BOOST_FIXTURE_TEST_CASE(variables_that_are_assigned_between_steps_count_in_the_next_one, Network) {
  BothSides both(g);
  train_on(both, runs_until_launched, 1);
  for (unsigned seed = 20; seed < 23; ++seed) {
    const Feeds feeds = batch(12, 5);
    const float before = both.run({loss}, feeds).at(0).scalar<float>();
    both.run({}, {{new_bias, random_values({16}, seed)}}, {assign_bias});
    BOOST_TEST(both.run({loss}, feeds).at(0).scalar<float>() != before);
    train_on(both, 2, seed);
  }
}

BOOST_FIXTURE_TEST_CASE(a_checkpoint_that_is_restored_between_steps_counts_in_the_next_one, Network) {
  const Saver saver(g, {w, bias, v, step}, step);
  BothSides both(g);
  const Folder folders[2];
  const auto with_folders = [&](const auto& action) {
    const Folder* folder = folders;
    both.on_each([&](Session& session) { action(session, (folder++)->path()); });
  };
  train_on(both, runs_until_launched, 1);
  with_folders([&](Session& s, const std::string& path) { saver.save(s, posix_storage(), path); });
  const Feeds feeds = batch(12, 50);
  const Tensor saved = both.run({loss}, feeds).at(0);
  train_on(both, 3, 30);
  BOOST_TEST(!identical(both.run({loss}, feeds).at(0), saved));
  with_folders([&](Session& s, const std::string& path) { saver.restore(s, posix_storage(), path); });
  BOOST_TEST(identical(both.run({loss}, feeds).at(0), saved));
  train_on(both, 3, 40);
}

BOOST_FIXTURE_TEST_CASE(what_is_not_finite_is_refused_and_changes_nothing, Network) {
  BothSides both(g);
  train_on(both, runs_until_launched, 1);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Tensor before = both.run({w}, {}).at(0);
    const auto [plain, captured] = both.refusals({train.step}, batch(12, 9, bad));
    BOOST_TEST((plain.code == Code::not_finite));
    BOOST_TEST((captured.code == Code::not_finite));
    BOOST_TEST(identical(both.run({w}, {}).at(0), before));
    train_on(both, 2, 10);
  }
}

BOOST_FIXTURE_TEST_CASE(an_error_of_a_node_names_it_and_the_next_step_goes_on, Network) {
  BothSides both(g);
  train_on(both, runs_until_launched, 1);
  Feeds wrong = batch(12, 9);
  wrong[0].second = random_values({12, 7}, 9);
  const auto [plain, captured] = both.refusals({train.step}, wrong);
  BOOST_TEST((plain.code == Code::invalid_argument));
  BOOST_TEST((captured.code == Code::invalid_argument));
  BOOST_TEST(plain.message.find("MatMul") != std::string::npos, plain.message);
  BOOST_TEST(captured.message == plain.message);
  train_on(both, 3, 10);
}

// Their launches follow each other on the GPU, each with inputs of its own.
BOOST_FIXTURE_TEST_CASE(steps_in_flight_do_not_mix, Network) {
  BothSides both(g);
  constexpr unsigned threads = 4, rounds = 50;
  std::vector<Tensor> expected;
  for (unsigned i = 0; i < threads; ++i) expected.push_back(both.run({loss}, batch(64, i)).at(0));
  std::vector<int> wrong(threads);
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      for (unsigned round = 0; round < rounds; ++round)
        if (!identical(both.captured().run(loss, batch(64, i)), expected[i])) ++wrong[i];
    });
  for (auto& thread : running) thread.join();
  BOOST_TEST(wrong == std::vector<int>(threads), boost::test_tools::per_element());
}

// The other task's answer depends on what the GPU computes, and what it computes then on both.
BOOST_AUTO_TEST_CASE(a_way_by_another_task_and_back_is_no_deadlock) {
  LocalCluster cluster{{{"local", 2}}};
  Graph g;
  Output x, first, there, back;
  g.on("/job:local/task:0/gpu:0", [&] {
    x = g.placeholder(DType::float32, {Shape::unknown}, "x");
    first = relu(square(x) * x + x);
  });
  there = g.on("/job:local/task:1", [&] { return square(first) - first; });
  back = g.on("/job:local/task:0/gpu:0", [&] { return sum(first * there + tanh(first)); });
  Session plain(cluster.server("local", 0).target(), g, {.cuda_graphs = false}),
      captured(cluster.server("local", 0).target(), g);
  for (unsigned i = 0; i < runs_until_launched; ++i) {
    const Feeds feeds{{x, random_values({5}, i)}};
    BOOST_TEST(identical(captured.run(back, feeds, {.timeout_ms = 30'000}), plain.run(back, feeds)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
