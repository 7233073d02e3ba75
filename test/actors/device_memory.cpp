// A GPU that runs out of memory. Skipped, visibly, without a GPU.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>

#include "actors/client/session.h"
#include "actors/task/server.h"
#include "kernels/devices/device.h"
#include "kernels/ops.h"
#include "test/support/has_gpu.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(device_memory, *boost::unit_test::precondition(actorflow::test::has_gpu))

using namespace actorflow;
using namespace actorflow::test;

// A product twice as large as the device, of a row that has its size from what is fed.
BOOST_AUTO_TEST_CASE(out_of_memory_on_the_gpu_fails_the_step_and_says_who_holds_what) {
  LocalCluster cluster({{"local", 1}});
  Graph g;
  Output row, product, small;
  Variable kept;
  g.on("/gpu:0", [&] {
    kept = g.variable("kept", fill(g, {1 << 20}, 1));  // 4 MiB
    small = sum(kept);
    row = g.placeholder(DType::float32, {1, Shape::unknown});
    product = sum(matmul(transpose(row), row));
  });
  Session session(cluster.server("local", 0).target(), g);
  session.initialize_variables();
  BOOST_TEST(session.run(small).scalar<float>() == float{1 << 20});

  std::int64_t width = 1;
  while (width * width * 4 < 2 * cuda_device(0).memory_bytes()) width *= 2;
  const Status status = status_of([&] {
    session.run(product, {{row, Tensor::zeros(DType::float32, {1, width})}});
  });
  BOOST_TEST((status.code == Code::resource_exhausted), status.message);
  for (const std::string& part : {std::string("MatMul"), std::string("out of memory on GPU:0"),
                                  "could not allocate " + std::to_string(width * width * 4) + " bytes",
                                  std::string("tensors in use hold")})
    BOOST_TEST(status.message.find(part) != std::string::npos, status.message << " lacks " << part);

  BOOST_TEST(session.run(small).scalar<float>() == float{1 << 20});
  BOOST_TEST(session.run(product, {{row, Tensor::of<float>({1, 2}, {1, 2})}}).scalar<float>() == 9.F);
}

BOOST_AUTO_TEST_SUITE_END()
