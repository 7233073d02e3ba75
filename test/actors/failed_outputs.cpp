// What a kernel has made when it fails.
#include <boost/test/unit_test.hpp>

#include "actors/actorflow.h"
#include "kernels/devices/pool.h"
#include "test/support/status_of.h"

using namespace actorflow;

BOOST_AUTO_TEST_SUITE(failed_outputs)

namespace {

constexpr std::int64_t elements = std::int64_t{4} << 20;

const OpDef& fails_op() {
  static const OpDef op{
      .name = "FailsWithItsOutput", .min_inputs = 0, .max_inputs = 0, .infer = [](InferContext& c) {
        c.add_output(DType::float32, {elements});
      }};
  return op;
}

void fails_kernel(OpContext& c) {
  c.allocate_output(0, DType::float32, {elements});
  throw Error(Code::resource_exhausted, "no memory for the rest");
}

std::size_t bytes_in_use() {
  return dynamic_cast<Pool&>(cpu_device().allocator()).statistics().bytes_in_use;
}

}  // namespace

// A lane keeps its frame for the next step of its kind, which may never come.
BOOST_AUTO_TEST_CASE(outputs_of_a_kernel_that_failed_are_released_with_its_step) {
  const Extensions extensions{.ops = {{&fails_op(), stateless<fails_kernel>}}, .optimizers = {}};
  Graph g;
  const Output fails = g.add(fails_op(), {});
  Session session(g, {}, extensions);
  const std::size_t before = bytes_in_use();
  const Status status = test::status_of([&] { session.run(fails); });
  BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
  BOOST_TEST(bytes_in_use() < before + elements * sizeof(float));
}

BOOST_AUTO_TEST_SUITE_END()
