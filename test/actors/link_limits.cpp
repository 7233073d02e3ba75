// Tensors that are too large for a link between tasks: their step fails, and nothing else.
#include <boost/test/unit_test.hpp>
#include <optional>

#include "actors/actorflow.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

using namespace actorflow;
using test::status_of;

namespace {

constexpr std::int64_t rows = 1024;
constexpr std::size_t limit_bytes = std::size_t{1} << 20;

// Two tasks behind ports that take 1 MiB at a time. A session on the worker; `small` needs both tasks.
struct NarrowLinks {
  NarrowLinks() {
    small = on_ps([&] { return x + 1.F; });
    small = on_worker([&] { return small * 2.F; });
    ps.emplace(options("ps"));
    worker.emplace(options("worker"));
  }

  ServerOptions options(const std::string& job) const {
    ServerOptions options;
    options.cluster = cluster;
    options.job = job;
    options.max_incoming_bytes = limit_bytes;
    options.full_window_timeout_ms = 1'000;
    return options;
  }
  template <class Make>
  Output on_ps(Make make) {
    return g.on("/job:ps/task:0", make);
  }
  template <class Make>
  Output on_worker(Make make) {
    return g.on("/job:worker/task:0", make);
  }
  // float32[1024,columns], made where it is used.
  Output matrix(std::int64_t columns) {
    return matmul(column, g.constant(Tensor::zeros(DType::float32, {1, columns})));
  }
  Feeds column_fed() const { return {{column, Tensor::zeros(DType::float32, {rows, 1})}}; }

  // The step fails, naming the size and the limit; the links live: a step through both goes on at once.
  Status failure_of(Output fetch, const Feeds& fed) {
    Session session(worker->target(), g);
    const Feeds one{{x, Tensor::scalar(1.F)}};
    BOOST_TEST(session.run(small, one).scalar<float>() == 4);
    const Status status = status_of([&] { session.run(fetch, fed); });
    BOOST_TEST(session.run(small, one).scalar<float>() == 4);
    BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
    return status;
  }
  void check_too_large(Output fetch, const Feeds& fed, std::size_t bytes) {
    const Status status = failure_of(fetch, fed);
    for (const std::size_t size : {bytes, limit_bytes})
      BOOST_TEST(status.message.find(std::to_string(size) + " bytes") != std::string::npos,
                 status.message);
  }

  ClusterSpec cluster{{"ps", {test::free_address()}}, {"worker", {test::free_address()}}};
  Graph g;
  Output column = g.placeholder(DType::float32, {rows, 1}, "column");
  Output x = g.placeholder(DType::float32, {}, "x");
  Output small;
  std::optional<Server> ps, worker;
};

constexpr std::size_t overhead_bytes = 4096;  // of a tensor on its way
constexpr std::size_t large_bytes = rows * rows * sizeof(float) + overhead_bytes;

Tensor large_tensor() { return Tensor::zeros(DType::float32, {rows, rows}); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(link_limits, NarrowLinks)

BOOST_AUTO_TEST_CASE(a_tensor_between_tasks) {
  const Output large = on_ps([&] { return matrix(rows); });
  check_too_large(on_worker([&] { return sum(large); }), column_fed(), large_bytes);
}

BOOST_AUTO_TEST_CASE(a_feed_of_another_task) {
  const Output fed = g.placeholder(DType::float32, {rows, rows}, "fed");
  check_too_large(on_ps([&] { return sum(fed); }), {{fed, large_tensor()}}, large_bytes);
}

BOOST_AUTO_TEST_CASE(a_result_of_another_task) {
  check_too_large(on_ps([&] { return matrix(rows); }), column_fed(), large_bytes);
}

BOOST_AUTO_TEST_CASE(a_constant_of_another_task) {
  const Output constant = on_ps([&] { return g.constant(large_tensor()); });
  const Output scaled = on_ps([&] { return sum(constant * x); });
  check_too_large(scaled, {{x, Tensor::scalar(1.F)}}, large_bytes);
}

BOOST_AUTO_TEST_CASE(a_feed_of_a_client_elsewhere) {
  const Output fed = g.placeholder(DType::float32, {rows, rows}, "fed");
  const Output total = sum(fed);
  const std::string target = worker->target();
  Session session("actorflow://localhost" + target.substr(target.rfind(':')), g);
  const Status status = status_of([&] { session.run(total, {{fed, large_tensor()}}); });
  BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
  BOOST_TEST(status.message.find("4194304 bytes") != std::string::npos, status.message);
  const Feeds one{{x, Tensor::scalar(1.F)}};
  BOOST_TEST(session.run(small, one).scalar<float>() == 4);
}

// Each is within the limit, but a node wants all of them before it gives one back.
BOOST_AUTO_TEST_CASE(tensors_of_one_step_that_are_too_many_together) {
  std::vector<Output> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(on_ps([&] { return matrix(100 + i); }));
  const Output all = on_worker([&] { return sum(concat(parts, 1)); });
  const Status status = failure_of(all, column_fed());
  BOOST_TEST(status.message.find("tensors wait: it holds") != std::string::npos, status.message);
  BOOST_TEST(status.message.find("1048576 at a time") != std::string::npos, status.message);
}

BOOST_AUTO_TEST_SUITE_END()
