// Tables in parts on several parameter servers, read and trained by rows; held against values computed
// by hand.
#include <boost/test/unit_test.hpp>
#include <optional>
#include <thread>

#include "actors/actorflow.h"
#include "test/actors/support/apply_rows.h"

BOOST_AUTO_TEST_SUITE(sparse_training)

using namespace actorflow;

namespace {

constexpr std::int64_t rows = 5;

Tensor ids_of(const std::vector<std::int64_t>& ids) {
  return Tensor::of<std::int64_t>({std::ssize(ids)}, ids);
}
Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>({std::ssize(values)}, values);
}

// Row i of the table is {10 i, 10 i + 1}; loss = sum(lookup(ids) scale), so that a row's gradient is the
// sum of the scales of its id.
struct Replica {
  Graph g;
  Variable step;
  std::optional<PartitionedVariable> table;
  Output ids, scale, found, all, loss;
  TrainOp train;

  Replica(int parts, PartitionStrategy strategy, const Optimizer& optimizer,
          const Replication& replication = {}) {
    const TaskName self{"worker", replication.replica};
    g.on(replica_device_setter(2, "ps", self.to_string()), [&] {
      step = global_step(g);
      Tensor initial = Tensor::allocate(DType::float32, {rows, 2});
      for (std::size_t i = 0; i < 10; ++i)
        initial.mutable_values<float>()[i] = static_cast<float>(i / 2 * 10 + i % 2);
      table = partitioned_variable(g, "table", g.constant(initial), fixed_size_partitioner(parts));
      ids = g.placeholder(DType::int64, {Shape::unknown}, "ids");
      scale = g.placeholder(DType::float32, {Shape::unknown}, "scale");
      found = embedding_lookup(*table, ids, strategy);
      all = whole(*table);
      loss = sum(found * expand_dims(scale, {1}));
      train = minimize(g, loss, table->parts(), step, optimizer, replication);
    });
  }
};

struct Cluster {
  LocalCluster tasks;
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<std::unique_ptr<Session>> sessions;

  Cluster(int parts, const Optimizer& optimizer, Replication replication = {},
          PartitionStrategy strategy = PartitionStrategy::div)
      : tasks({{"ps", 2}, {"worker", replication.replicas}}) {
    for (replication.replica = 0; replication.replica < replication.replicas; ++replication.replica) {
      replicas.push_back(std::make_unique<Replica>(parts, strategy, optimizer, replication));
      const std::string target = tasks.server("worker", replication.replica).target();
      sessions.push_back(std::make_unique<Session>(target, replicas.back()->g));
      sessions.back()->initialize_variables();
    }
  }

  void train(std::size_t replica, const std::vector<std::int64_t>& ids,
             const std::vector<float>& scale) {
    const Replica& r = *replicas[replica];
    sessions[replica]->run(r.train, {{r.ids, ids_of(ids)}, {r.scale, floats(scale)}});
  }
  std::vector<float> lookup(const std::vector<std::int64_t>& ids) {
    const Tensor found = sessions[0]->run(replicas[0]->found, {{replicas[0]->ids, ids_of(ids)}});
    return {found.values<float>().begin(), found.values<float>().end()};
  }
  // The first element of each row.
  std::vector<float> table() {
    const Tensor all = sessions[0]->run(replicas[0]->all);
    std::vector<float> first;
    for (std::size_t i = 0; i < 10; i += 2) first.push_back(all.values<float>()[i]);
    return first;
  }
};

void check(const std::vector<float>& actual, const std::vector<float>& expected) {
  BOOST_TEST(actual == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_table_in_parts_is_the_table) {
  for (const int parts : {1, 2, 3}) {
    Cluster c(parts, Sgd{});
    check(c.table(), {0, 10, 20, 30, 40});
    check(c.lookup({4, 0, 4, 2}), {40, 41, 0, 1, 40, 41, 20, 21});
    check(c.lookup({}), {});
  }
}

BOOST_AUTO_TEST_CASE(by_mod_rows_go_round_the_parts) {
  Cluster c(2, Sgd{}, {}, PartitionStrategy::mod);
  // Part 0 has the ids 0, 2, 4; part 1 has 1, 3. It begins as rows 0, 1, 2 of the initial value.
  check(c.lookup({0, 1, 2, 3, 4}), {0, 1, 30, 31, 10, 11, 40, 41, 20, 21});
  c.train(0, {3}, {1});
  check(c.table(), {0, 10, 20, 30, 40 - 0.01F});
}

BOOST_AUTO_TEST_CASE(only_the_rows_of_a_step_are_updated) {
  Cluster c(2, Sgd{0.5});
  c.train(0, {1, 4, 1}, {2, 4, 6});
  check(c.table(), {0, 10 - 4, 20, 30, 40 - 2});
}

BOOST_AUTO_TEST_CASE(slots_are_kept_by_row) {
  Cluster c(2, Momentum{1, 0.5});
  c.train(0, {1}, {2});        // a = 2
  c.train(0, {0}, {4});        // row 1 rests
  c.train(0, {1, 3}, {2, 2});  // a = 3 for row 1, 2 for row 3
  check(c.table(), {-4, 10 - 2 - 3, 20, 30 - 2, 40});
}

// Row 1 is of both replicas, row 4 of the first, row 0 of the second, and there twice.
BOOST_AUTO_TEST_CASE(a_synchronous_step_applies_the_mean_of_each_row) {
  Cluster c(2, Sgd{1}, {.replicas = 2, .strategy = Synchronous{}});
  for (std::size_t i = 0; i < 2; ++i) c.sessions[i]->run({}, {}, {c.replicas[i]->train.local_init});
  std::jthread other([&] { c.train(1, {0, 1, 0}, {1, 4, 2}); });
  c.train(0, {1, 4}, {2, 8});
  other.join();
  check(c.table(), {0 - 3, 10 - 3, 20, 30, 40 - 8});
}

BOOST_AUTO_TEST_CASE(a_table_may_also_have_a_dense_gradient) {
  Graph g;
  const Variable table = g.variable("table", g.constant(floats({1, 2, 3})));
  const Output ids = g.placeholder(DType::int64, {Shape::unknown});
  const Output loss = sum(embedding_lookup(table, ids)) + sum(table.value());
  const Output train = minimize(g, loss, {table}, global_step(g), Sgd{1});
  Session s(g);
  s.initialize_variables();
  s.run(train, {{ids, ids_of({1})}});
  const Tensor value = s.run(table);
  check({value.values<float>().begin(), value.values<float>().end()}, {0, 0, 2});
}

BOOST_AUTO_TEST_CASE(two_lookups_of_a_table_are_one_update) {
  Graph g;
  const Variable table = g.variable("table", g.constant(floats({1, 2, 3})));
  const Output ids = g.placeholder(DType::int64, {Shape::unknown});
  const Output loss = sum(embedding_lookup(table, ids)) + 2 * sum(embedding_lookup(table, ids));
  const Output train = minimize(g, loss, {table}, global_step(g), Adagrad{1, 0});
  Session s(g);
  s.initialize_variables();
  s.run(train, {{ids, ids_of({0})}});
  const Tensor value =
      s.run(table);  // a = 9, g / sqrt(a) = 1; two updates would have made it 1 + 2 / sqrt(5)
  check({value.values<float>().begin(), value.values<float>().end()}, {0, 2, 3});
}

BOOST_AUTO_TEST_CASE(an_id_outside_of_the_table_is_named) {
  const auto says = [](const std::vector<std::string>& parts) {
    return [parts](const Error& error) {
      BOOST_TEST_MESSAGE(error.what());
      return error.code() == Code::invalid_argument && std::ranges::all_of(parts, [&](const auto& part) {
               return std::string(error.what()).find(part) != std::string::npos;
             });
    };
  };
  Cluster in_parts(2, Sgd{}), whole_table(1, Sgd{});
  BOOST_CHECK_EXCEPTION(in_parts.lookup({0, 5}), Error, says({"0 to 4", "id 5 at place 1"}));
  BOOST_CHECK_EXCEPTION(whole_table.lookup({0, 5}), Error,
                        says({"'table/part_0'", "0 to 4", "index 5"}));

  Graph g;
  g.variable("table", g.constant(floats({1, 2, 3})));
  const Output ids = g.placeholder(DType::int64, {1});
  const Output apply = test::apply_rows(g, g.constant(floats({1})), ids);
  Session s(g);
  s.initialize_variables();
  BOOST_CHECK_EXCEPTION(s.run({}, {{ids, ids_of({3})}}, {apply}), Error,
                        says({"'table'", "0 to 2", "index 3 at place 0"}));
}

BOOST_AUTO_TEST_SUITE_END()
