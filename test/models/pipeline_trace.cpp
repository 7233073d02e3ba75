// What a traced step of a pipeline shows: the order of its passes, the activations that stages hold, and
// how long they idle.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <map>
#include <tuple>

#include "actors/models/model_graph.h"
#include "test/models/support/toy_data.h"

BOOST_AUTO_TEST_SUITE(pipeline_trace)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Pass = std::tuple<int, int, bool>;  // stage, micro-batch, whether backward

// When the first kernel of a pass began, and when its last one ended.
struct Span {
  std::int64_t begin_us, end_us;
};
using Passes = std::map<Pass, Span>;

// The pass that a node belongs to by its name; false if it is of none.
bool is_of_pass(const NodeTrace& node, Pass& pass) {
  int stage = 0, micro_batch = 0;
  char direction = 0;
  const auto at = node.node.find("stage_");
  if (at == std::string::npos || node.op == "Const" || node.op == "Send" || node.op == "Recv")
    return false;
  const char* rest = node.node.c_str() + at;
  if (std::sscanf(rest, "stage_%d/%cor", &stage, &direction) != 2) return false;
  const bool backward = std::sscanf(rest, "stage_%d/backward_%d/", &stage, &micro_batch) == 2;
  if (!backward && std::sscanf(rest, "stage_%d/forward_%d/", &stage, &micro_batch) != 2) return false;
  pass = {stage, micro_batch, backward};
  return true;
}

// A step of a perceptron with as many layers as stages, each stage on a task of this process.
Passes trace_step(PipelineSchedule schedule, int stages, int micro_batches) {
  std::vector<Layer> layers;
  for (int i = 0; i < stages; ++i) layers.push_back(dense(5, tanh));
  const Architecture architecture = chain(layers, input({5}));
  auto parts = cut(architecture, {{DType::float32, {5}}}, {.stages = stages});
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i].device = [i](const Node&) { return TaskName{"stage", static_cast<int>(i)}.to_string(); };
  LocalCluster cluster({{"stage", stages}});
  Graph graph;
  const CompileOptions options{.loss = mean_squared_error(), .optimizer = Sgd{0.1}};
  ModelGraph nodes(graph, architecture, {{DType::float32, {5}}}, &options, {}, parts);
  nodes.add_testing(options, {{DType::float32, {5}}});
  const StepNodes step =
      nodes.add_training(options, {}, {.micro_batches = MicroBatchOptions{micro_batches, schedule}});
  Session session(cluster.server("stage", 0).target(), graph);
  session.initialize_variables();

  const Tensor x = Tensor::zeros(DType::float32, {2, 5});
  const std::vector<Tuple> batch(static_cast<std::size_t>(micro_batches), Tuple{x, x});
  const auto values = nodes.micro_batch_values(step, batch, static_cast<float>(2 * micro_batches));
  const auto placeholders = ModelGraph::micro_batch_feeds(step);
  Feeds feeds;
  for (std::size_t i = 0; i < values.size(); ++i) feeds.emplace_back(placeholders[i], values[i]);
  RunMetadata metadata;
  session.run({step.op.step}, feeds, {}, {.trace = true}, &metadata);

  Passes passes;
  for (const NodeTrace& node : metadata.trace.nodes) {
    Pass pass;
    if (!is_of_pass(node, pass)) continue;
    const auto [entry, fresh] = passes.try_emplace(pass, Span{node.start_us, node.end_us});
    entry->second.begin_us = std::min(entry->second.begin_us, node.start_us);
    entry->second.end_us = std::max(entry->second.end_us, node.end_us);
  }
  BOOST_TEST_REQUIRE(passes.size() == static_cast<std::size_t>(2 * stages * micro_batches));
  return passes;
}

// The passes of a stage by time, which must not overlap.
std::vector<Pass> order_of(int stage, const Passes& passes) {
  std::vector<Pass> order;
  for (const auto& [pass, span] : passes)
    if (std::get<0>(pass) == stage) order.push_back(pass);
  std::ranges::sort(order, {}, [&](const Pass& pass) {
    return std::pair(passes.at(pass).begin_us, passes.at(pass).end_us);
  });
  for (std::size_t i = 1; i < order.size(); ++i)
    BOOST_TEST(passes.at(order[i - 1]).end_us <= passes.at(order[i]).begin_us);
  return order;
}

// The duration of the step if each pass took one unit, tensors no time, and each stage made its passes
// in this order.
int ideal_duration(const std::vector<std::vector<Pass>>& orders) {
  const int stages = static_cast<int>(orders.size());
  std::map<Pass, int> ends;
  std::vector<std::size_t> next(orders.size());
  std::vector<int> stage_free(orders.size());
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t s = 0; s < orders.size(); ++s) {
      if (next[s] == orders[s].size()) continue;
      const auto& [stage, micro_batch, backward] = orders[s][next[s]];
      const bool turns = backward && stage == stages - 1;
      const Pass before{turns ? stage : stage + (backward ? 1 : -1), micro_batch, backward && !turns};
      const bool is_first = !backward && stage == 0;
      if (!is_first && !ends.contains(before)) continue;
      const int begin = std::max(stage_free[s], is_first ? 0 : ends.at(before));
      stage_free[s] = ends[orders[s][next[s]++]] = begin + 1;
      progress = true;
    }
  }
  return *std::ranges::max_element(stage_free);
}

int most_in_flight(const std::vector<Pass>& order) {
  int now = 0, most = 0;
  for (const Pass& pass : order) most = std::max(most, now += std::get<2>(pass) ? -1 : 1);
  return most;
}

void expect_as_published(PipelineSchedule schedule, int stages, int micro_batches) {
  const Passes passes = trace_step(schedule, stages, micro_batches);
  std::vector<std::vector<Pass>> orders;
  for (int stage = 0; stage < stages; ++stage) {
    orders.push_back(order_of(stage, passes));
    const bool gpipe = schedule == PipelineSchedule::gpipe;
    BOOST_TEST(most_in_flight(orders.back()) ==
               (gpipe ? micro_batches : std::min(stages - stage, micro_batches)));
  }
  // A stage works for 2 m units.
  const int duration = ideal_duration(orders);
  const double idle = 1 - 2.0 * micro_batches / duration;
  BOOST_TEST(idle == (stages - 1.0) / (micro_batches + stages - 1), boost::test_tools::tolerance(1e-12));
}

}  // namespace

BOOST_AUTO_TEST_CASE(with_gpipe_a_stage_holds_all_micro_batches_and_idles_as_published) {
  expect_as_published(PipelineSchedule::gpipe, 2, 4);
  expect_as_published(PipelineSchedule::gpipe, 3, 5);
}

BOOST_AUTO_TEST_CASE(with_1f1b_a_stage_holds_no_more_than_stages_follow_and_idles_as_published) {
  expect_as_published(PipelineSchedule::one_forward_one_backward, 2, 4);
  expect_as_published(PipelineSchedule::one_forward_one_backward, 3, 5);
  expect_as_published(PipelineSchedule::one_forward_one_backward, 4, 2);
}

BOOST_AUTO_TEST_CASE(one_stage_never_holds_more_than_one_micro_batch) {
  expect_as_published(PipelineSchedule::one_forward_one_backward, 1, 6);
}

BOOST_AUTO_TEST_SUITE_END()
