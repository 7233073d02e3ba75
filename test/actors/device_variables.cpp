// Variables on the device that their nodes are placed on: on a GPU where there is one, and on the CPU.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "actors/checkpoint/saver.h"
#include "actors/client/session.h"
#include "dataflow/train/replicate.h"
#include "kernels/ops.h"
#include "test/actors/support/apply_rows.h"
#include "test/actors/support/real_servers.h"
#include "test/support/folder.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(device_variables)

using namespace actorflow;
using namespace actorflow::test;

namespace {

std::vector<std::string> devices() {
  std::vector<std::string> all{"/cpu:0"};
  if (cuda_device_count() > 0) all.push_back("/gpu:0");
  return all;
}

// Linear regression: finds w of y = w x.
struct Regression {
  explicit Regression(const std::string& device,
                      const Optimizer& optimizer = Adam{.learning_rate = 0.1}) {
    graph.on(device, [&] {
      x = graph.placeholder(DType::float32, {2, 3}, "x");
      w = graph.variable("w", graph.constant(Tensor::of<float>({3, 1}, {1, 2, 3})));
      step = graph.variable("step", graph.constant(std::int64_t{0}));
      loss = mean(square(matmul(x, w.value()) - graph.constant(5.0F)));
      train = minimize(graph, loss, {w}, step, optimizer);
    });
  }

  Session session() { return Session(cluster.server("local", 0).target(), graph); }
  Tensor batch(float scale) const { return Tensor::of<float>({2, 3}, {scale, 2, 1, 0.5F, -scale, 3}); }

  LocalCluster cluster{{{"local", 1}}};
  Graph graph;
  Output x, loss;
  Variable w, step;
  TrainOp train;
};

std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

std::vector<float> trained(const std::string& device, const Optimizer& optimizer) {
  Regression model(device, optimizer);
  Session session = model.session();
  session.initialize_variables();
  for (int i = 0; i < 5; ++i)
    session.run({model.train.step}, {{model.x, model.batch(static_cast<float>(i))}});
  BOOST_TEST(session.run(model.step.value()).scalar<std::int64_t>() == 5);
  return values_of(session.run(model.w.value()));
}

void refuse_a_bad_gradient(const std::string& device) {
  Regression model(device);
  Session session = model.session();
  session.initialize_variables();
  const Tensor bad = model.batch(std::numeric_limits<float>::quiet_NaN());
  const Status status = status_of([&] { session.run({model.train.step}, {{model.x, bad}}); });
  BOOST_TEST((status.code == Code::not_finite));
  BOOST_TEST(status.message.find("'w'") != std::string::npos);
  BOOST_TEST(values_of(session.run(model.w.value())) == (std::vector<float>{1, 2, 3}),
             boost::test_tools::per_element());
}

void save_and_restore(const std::string& device) {
  const Folder folder;
  Regression model(device);
  const Saver saver(model.graph, {model.w, model.step}, model.step);
  Session session = model.session();
  session.initialize_variables();
  const auto train = [&](float scale) {
    session.run({model.train.step}, {{model.x, model.batch(scale)}});
  };
  train(1);
  saver.save(session, posix_storage(), folder.path());
  train(2);
  const auto expected = values_of(session.run(model.w.value()));
  saver.restore(session, posix_storage(), folder.path());
  train(2);
  BOOST_TEST(values_of(session.run(model.w.value())) == expected, boost::test_tools::per_element());
}

// A table whose rows are found by ids, one of them in two ways.
struct Table {
  explicit Table(const std::string& device, const Optimizer& optimizer = Momentum{0.1}) {
    graph.on(device, [&] {
      ids = graph.placeholder(DType::int64, {Shape::unknown}, "ids");
      scale = graph.placeholder(DType::float32, {}, "scale");
      table =
          graph.variable("table", graph.constant(Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}, {7, 8}})));
      bias = graph.variable("bias", graph.constant(Tensor{1.0F, 2.0F}));
      step = graph.variable("step", graph.constant(std::int64_t{0}));
      const Output found = gather(table, ids) + bias.value();
      const Output loss = scale * (sum(square(found)) + 0.5F * sum(gather(table, ids)));
      train = minimize(graph, loss, {table, bias}, step, optimizer);
    });
  }

  Session session() { return Session(cluster.server("local", 0).target(), graph); }
  void run(Session& session, const std::vector<std::int64_t>& rows, float by) const {
    session.run({train.step}, {{ids, Tensor::of<std::int64_t>({std::ssize(rows)}, rows)},
                               {scale, Tensor::scalar(by)}});
  }

  LocalCluster cluster{{{"local", 1}}};
  Graph graph;
  Output ids, scale;
  Variable table, bias, step;
  TrainOp train;
};

std::vector<float> trained_table(const std::string& device, const Optimizer& optimizer) {
  Table model(device, optimizer);
  Session session = model.session();
  session.initialize_variables();
  for (const auto& rows :
       std::vector<std::vector<std::int64_t>>{{2}, {0, 3, 0}, {1, 1, 1, 1, 3}, {}, {3, 0}})
    model.run(session, rows, 0.1F);
  BOOST_TEST(session.run(model.step.value()).scalar<std::int64_t>() == 5);
  return values_of(session.run(model.table.value()));
}

void refuse_bad_rows(const std::string& device) {
  Table model(device);
  Session session = model.session();
  session.initialize_variables();
  model.run(session, {0, 1}, 0);  // moves the variables to the device
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Status status = status_of([&] { model.run(session, {1, 3}, nan); });
  BOOST_TEST((status.code == Code::not_finite));
  BOOST_TEST(values_of(session.run(model.table.value())) == (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}),
             boost::test_tools::per_element());
  model.run(session, {1}, 1);
  BOOST_TEST(values_of(session.run(model.table.value()))[2] < 3);
}

// What the shard says of a gradient of a table of three rows.
std::string said_of_rows(const std::string& device, const std::vector<std::int64_t>& rows,
                         const std::vector<float>& values) {
  LocalCluster cluster{{{"local", 1}}};
  Graph g;
  Output ids, apply;
  g.on(device, [&] {
    g.variable("table", g.constant(Tensor{1.0F, 2.0F, 3.0F}));
    ids = g.placeholder(DType::int64, {Shape::unknown});
    apply = apply_rows(g, g.constant(Tensor::of<float>({std::ssize(values)}, values)), ids);
  });
  Session session(cluster.server("local", 0).target(), g);
  session.initialize_variables();
  const Tensor indices = Tensor::of<std::int64_t>({std::ssize(rows)}, rows);
  const auto says = error_of([&] { session.run({}, {{ids, indices}}, {apply}); });
  BOOST_TEST(error_of([&] { session.run({}, {{ids, indices}}, {apply}); }) == says);  // once it is there
  return says;
}

}  // namespace

BOOST_DATA_TEST_CASE(training_finds_the_same_as_on_the_cpu, devices(), device) {
  for (const Optimizer& optimizer : std::vector<Optimizer>{Sgd{0.01}, Momentum{0.01}, Adam{0.1}}) {
    const auto expected = trained("/cpu:0", optimizer), actual = trained(device, optimizer);
    for (std::size_t i = 0; i < expected.size(); ++i)
      BOOST_TEST(actual[i] == expected[i], boost::test_tools::tolerance(1e-5F));
  }
}

BOOST_DATA_TEST_CASE(a_gradient_that_is_not_finite_is_refused_and_changes_nothing, devices(), device) {
  refuse_a_bad_gradient(device);
}

BOOST_DATA_TEST_CASE(rows_are_trained_as_on_the_cpu, devices(), device) {
  for (const Optimizer& optimizer : std::vector<Optimizer>{Sgd{0.1}, Momentum{0.1}, Adam{0.1}}) {
    const auto expected = trained_table("/cpu:0", optimizer), actual = trained_table(device, optimizer);
    for (std::size_t i = 0; i < expected.size(); ++i)
      BOOST_TEST(actual[i] == expected[i], boost::test_tools::tolerance(1e-5F));
  }
}

BOOST_DATA_TEST_CASE(rows_that_are_not_finite_are_refused_and_change_nothing, devices(), device) {
  refuse_bad_rows(device);
}

BOOST_DATA_TEST_CASE(bad_rows_are_named_as_on_the_cpu, devices(), device) {
  const auto expect = [&](const std::vector<std::int64_t>& rows, const std::vector<float>& values,
                          const std::string& what) {
    const auto says = said_of_rows(device, rows, values);
    BOOST_TEST(says.find(what) != std::string::npos, says);
    BOOST_TEST(says == said_of_rows("/cpu:0", rows, values));
  };
  expect({0, 3, 4}, {1, 2, 3}, "index 3 at place 1");
  expect({-1}, {1}, "index -1 at place 0");
  expect({0, 1}, {1, INFINITY}, "1 of 2 elements of a gradient of variable 'table'");
  expect({0, 1}, {1, 2, 3}, "float32[2]");
}

BOOST_DATA_TEST_CASE(a_checkpoint_restores_value_and_slots, devices(), device) {
  save_and_restore(device);
}

BOOST_AUTO_TEST_SUITE_END()
