// Which tasks of a step may join nodes of their GPUs into regions: none whose region could wait for what
// follows from its own results.
#include "actors/master/capturing.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/ops/collective_ops.h"
#include "dataflow/ops/conditional_accumulator.h"
#include "dataflow/ops/queue_ops.h"
#include "kernels/ops.h"

BOOST_AUTO_TEST_SUITE(capturing)

using namespace actorflow;

namespace {

std::string cpu(int task) {
  return "/job:local/replica:0/task:" + std::to_string(task) + "/device:CPU:0";
}
std::string gpu(int task) {
  return "/job:local/replica:0/task:" + std::to_string(task) + "/device:GPU:0";
}

struct Step {
  Output input(const std::string& device) {
    return g.on(device, [&] { return g.placeholder(DType::float32, {}); });
  }
  Output on(const std::string& device, Output x) {
    return g.on(device, [&] { return square(x); });
  }
  Output on(const std::string& device, Output x, Output y) {
    return g.on(device, [&] { return x * y; });
  }
  // The numbers of the tasks.
  std::vector<int> found() const {
    std::vector<int> numbers;
    for (const TaskName& task : tasks_that_may_capture(g.def())) numbers.push_back(task.index);
    return numbers;
  }
  void expect(const std::vector<int>& tasks) const {
    BOOST_TEST(found() == tasks, boost::test_tools::per_element());
  }

  Graph g;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(no_task_without_a_gpu, Step) {
  on(cpu(1), on(cpu(0), input(cpu(0))));
  expect({});
}

BOOST_FIXTURE_TEST_CASE(a_task_with_a_gpu_whose_way_back_is_its_own_cpu, Step) {
  const Output x = on(gpu(0), input(cpu(0)));
  on(gpu(0), on(cpu(0), x), x);
  expect({0});
}

// As with parameter servers: parameters come, gradients go.
BOOST_FIXTURE_TEST_CASE(a_task_that_computes_between_receiving_and_sending, Step) {
  on(cpu(1), on(gpu(0), on(gpu(0), input(cpu(1)), input(cpu(2)))));
  expect({0});
}

BOOST_FIXTURE_TEST_CASE(not_what_sends_and_computes_with_the_answer, Step) {
  const Output x = on(gpu(0), input(cpu(0)));
  const Output there = on(gpu(1), on(cpu(2), x));  // on the way back, but not there twice
  on(gpu(0), on(cpu(0), there), x);
  expect({1});
}

// Each computes a half, and both the whole.
BOOST_FIXTURE_TEST_CASE(not_what_waits_for_each_other_in_a_circle, Step) {
  const Output halves[]{on(gpu(0), input(cpu(0))), on(gpu(1), input(cpu(1)))};
  for (const int task : {0, 1}) on(gpu(task), halves[0], halves[1]);
  const Output whole = on(gpu(2), halves[0], halves[1]);  // takes part, but gives nothing
  expect({2});
  on(gpu(3), whole);
  expect({2, 3});
}

BOOST_FIXTURE_TEST_CASE(a_circle_may_have_more_than_two_tasks, Step) {
  std::vector<Output> parts;
  for (const int task : {0, 1, 2}) parts.push_back(on(gpu(task), input(cpu(task))));
  for (const std::size_t task : {0U, 1U, 2U})
    on(gpu(static_cast<int>(task)), parts[task], parts[(task + 1) % 3]);
  expect({});
}

BOOST_FIXTURE_TEST_CASE(the_way_back_may_be_one_of_control_edges, Step) {
  const Output x = on(gpu(0), input(cpu(0)));
  const Output there = on(cpu(1), x);
  g.after({there}, [&] { return on(gpu(0), x); });
  expect({});
}

BOOST_FIXTURE_TEST_CASE(the_way_back_may_be_a_queue, Step) {
  const auto build = [this](bool enqueues) {
    const Queue queue = g.on(cpu(0), [&] {
      return fifo_queue(g, {.name = "q", .components = {{DType::float32, {}}}, .capacity = 2});
    });
    const Output y = on(gpu(0), queue.dequeue().at(0));
    if (enqueues) queue.enqueue({y});
  };
  build(false);
  expect({0});
  build(true);
  expect({});
}

BOOST_FIXTURE_TEST_CASE(the_way_back_may_be_an_accumulator, Step) {
  const Output x = on(gpu(0), input(cpu(0)));
  g.on(cpu(0), [&] {
    const ConditionalAccumulator mean(g, DType::float32, {}, "mean");
    const Output one = g.constant(std::int64_t{1});
    mean.apply_grad(x, one);
    on(gpu(0), mean.take_grad(one));
  });
  expect({});
}

BOOST_FIXTURE_TEST_CASE(none_that_takes_part_in_operations_of_several_ranks, Step) {
  const RankList ranks{{"/job:local/replica:0/task:0", "/job:local/replica:0/task:1"}};
  for (const int task : {0, 1})
    g.on(cpu(task), [&] { return all_reduce(on(gpu(task), input(cpu(task))), ranks, "sum"); });
  on(gpu(2), input(cpu(2)));
  expect({2});
}

BOOST_AUTO_TEST_SUITE_END()
