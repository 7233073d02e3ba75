// Ops and optimizers that a program brings, on a cluster of servers behind ports and in one process.
#include <boost/test/unit_test.hpp>

#include "actors/actorflow.h"
#include "kernels/update/elementwise_optimizer.h"
#include "test/actors/support/real_servers.h"

BOOST_AUTO_TEST_SUITE(extensions)

using namespace actorflow;
using namespace actorflow::test;

namespace {

void infer_same(InferContext& c) { c.add_output(c.input(0).dtype, c.input(0).shape); }
std::vector<Output> twice_gradient(GradientContext& c) { return {c.gradient() * 2}; }

const OpDef& twice_op() {
  static const OpDef op{.name = "Twice",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = infer_same,
                        .gradient = twice_gradient};
  return op;
}

void twice_kernel(OpContext& c) {
  const Tensor x = c.input(0);
  Tensor& out = c.allocate_output(0, DType::float32, x.shape());
  const auto from = x.values<float>();
  const auto to = out.mutable_values<float>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = 2 * from[i];
}

// Moves by the learning rate, whatever the gradient.
struct March {
  static constexpr std::string_view name = "march";
  static constexpr SlotNames<1> slots = {"step"};
  double learning_rate = 1;
  static constexpr auto fields() { return std::array{&March::learning_rate}; }

  template <class T>
  struct Rule {
    T by;
    void operator()(T, T& value) const { value += by; }
  };
  template <class T>
  Rule<T> rule(std::int64_t step) const {
    return {T(learning_rate * static_cast<double>(step))};
  }
};

Extensions own_extensions() {
  return {.ops = {{&twice_op(), stateless<twice_kernel>}},
          .optimizers = {&elementwise_optimizer<March>()}};
}

// x begins as 1 on the parameter server; the worker looks at twice x.
struct Program {
  Program() {
    g.on("/job:ps/task:0", [&] {
      step = global_step(g);
      x = g.variable("x", g.constant({1.0F, 2.0F}));
    });
    g.on("/job:worker/task:0", [&] {
      doubled = add_node(twice_op(), {x});
      train = minimize(g, sum(doubled), {x}, step, March{0.5});
      slope = gradients(sum(doubled), {x})[0];
    });
  }

  void check(Session session) const {
    session.initialize_variables();
    BOOST_TEST(session.run(slope).values<float>()[0] == 2);
    for (int i = 0; i < 3; ++i) session.run(train);
    const Tensor values = session.run(doubled);  // 1 + 0.5 (1 + 2 + 3), twice
    BOOST_TEST(values.values<float>()[0] == 8);
    BOOST_TEST(values.values<float>()[1] == 10);
  }

  Graph g;
  Variable x, step;
  Output doubled, slope;
  TrainOp train;
};

// Two tasks behind ports, each with a runtime of its own.
struct Ports {
  explicit Ports(const Extensions& of_both) {
    const ClusterSpec cluster{{"ps", {nobodys_address()}}, {"worker", {nobodys_address()}}};
    for (const char* job : {"ps", "worker"}) {
      ServerOptions options;
      options.cluster = cluster;
      options.job = job;
      options.num_threads = 1;
      options.extensions = of_both;
      servers.push_back(std::make_unique<Server>(std::move(options)));
    }
  }

  std::vector<std::unique_ptr<Server>> servers;
};

}  // namespace

BOOST_AUTO_TEST_CASE(they_run_in_one_process) {
  LocalCluster cluster({{"ps", 1}, {"worker", 1}}, 2, own_extensions());
  const Program program;
  program.check(Session(cluster.server("worker", 0).target(), program.g));
}

BOOST_AUTO_TEST_CASE(they_travel_by_name_to_servers_behind_ports) {
  const Ports tasks(own_extensions());
  const Program program;
  program.check(Session(through_port(*tasks.servers[1]), program.g));
}

BOOST_AUTO_TEST_CASE(a_session_of_its_own_knows_them) {
  Graph g;
  const Output y = add_node(twice_op(), {g.constant({3.0F})});
  Session session(g, {}, own_extensions());
  BOOST_TEST(session.run(y).values<float>()[0] == 6);
}

BOOST_AUTO_TEST_CASE(a_server_without_them_says_what_it_lacks) {
  Graph g;
  const Output y = add_node(twice_op(), {g.constant({3.0F})});
  Session session(g);
  BOOST_CHECK_EXCEPTION(session.run(y), Error, [](const Error& error) {
    return std::string(error.what()).find("Twice") != std::string::npos;
  });
  LocalCluster cluster({{"ps", 1}, {"worker", 1}}, 2, {.ops = own_extensions().ops});
  const Program program;
  Session training(cluster.server("worker", 0).target(), program.g);
  training.initialize_variables();
  BOOST_CHECK_EXCEPTION(training.run(program.train), Error, [](const Error& error) {
    const std::string text = error.what();
    return text.find("'march'") != text.npos && text.find("ServerOptions::extensions") != text.npos;
  });
}

BOOST_AUTO_TEST_CASE(a_shared_runtime_has_its_own) {
  Server first = Server::local(own_extensions());
  ServerOptions options;
  options.cluster = ClusterSpec{{"other", {"localhost:0"}}};
  options.job = "other";
  options.runtime = first.runtime();
  options.extensions = own_extensions();
  BOOST_CHECK_THROW(Server{options}, Error);
}

BOOST_AUTO_TEST_SUITE_END()
