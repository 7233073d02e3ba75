// A table in parts, saved by the servers that hold it, and restored on another number of servers.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>
#include <vector>

#include "actors/actorflow.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(partitioned_checkpoints)

using namespace actorflow;
using test::Folder;
using test::free_addresses;
using test::Process;

namespace {

constexpr std::int64_t rows = 7;

// Processes of job "ps" with a table that is cut into as many parts as there are processes.
class Job {
 public:
  Job(int ps, const Optimizer& optimizer, const std::string& folder) : folder_(folder) {
    const auto addresses = free_addresses(ps);
    std::string list;
    for (const auto& address : addresses) list += (list.empty() ? "\"" : ", \"") + address + '"';
    for (int i = 0; i < ps; ++i)
      servers_.push_back(std::make_unique<Process>(
          std::vector<std::string>{"actorflow", "server", "--cluster", R"({"ps": [)" + list + "]}", "--job",
                                   "ps", "--task", std::to_string(i), "--threads", "1"}));
    for (const auto& server : servers_) BOOST_TEST_REQUIRE(server->prints("listening"));
    build(ps, optimizer);
    session_ = std::make_unique<Session>("actorflow://" + addresses[0], graph_);
  }

  void initialize() { session_->initialize_variables(); }
  void train(int steps) {
    for (int i = 0; i < steps; ++i) session_->run(train_.step);
  }
  void save() { saver_->save(*session_, posix_storage(), folder_); }
  std::int64_t restore() { return saver_->restore(*session_, posix_storage(), folder_).value(); }
  std::vector<float> values() {
    const Tensor all = session_->run(all_);
    return {all.values<float>().begin(), all.values<float>().end()};
  }

 private:
  // loss = mean((table - target)^2), with a table that a single part holds as a plain variable.
  void build(int ps, const Optimizer& optimizer) {
    std::vector<float> numbers;
    for (int i = 0; i < 3 * rows; ++i) numbers.push_back(static_cast<float>(i * i % 11) / 8);
    graph_.on(replica_device_setter(ps, "ps", "/job:ps/task:0"), [&] {
      step_ = global_step(graph_);
      const Output initial = graph_.constant(Tensor::of({rows, 3}, numbers));
      std::vector<Variable> parts;
      if (ps == 1) {
        parts = {graph_.variable("table", initial)};
        all_ = parts[0];
      } else {
        const auto table = partitioned_variable(graph_, "table", initial, fixed_size_partitioner(ps));
        parts = table.parts();
        all_ = whole(table);
      }
      const Output error = all_ - graph_.constant(Tensor::of({3}, std::vector<float>{1, -2, 3}));
      train_ = minimize(graph_, mean(error * error), parts, step_, optimizer);
      parts.push_back(step_);
      saver_ = std::make_unique<Saver>(graph_, parts, step_);
    });
  }

  std::string folder_;
  std::vector<std::unique_ptr<Process>> servers_;
  Graph graph_;
  Variable step_;
  Output all_;
  TrainOp train_;
  std::unique_ptr<Saver> saver_;
  std::unique_ptr<Session> session_;
};

}  // namespace

// Bit by bit: what a row comes to does not depend on where it is.
BOOST_AUTO_TEST_CASE(a_table_and_its_slots_go_on_in_another_number_of_parts) {
  for (const Optimizer& optimizer : {Optimizer(Adam{0.1}), Optimizer(Momentum{0.1})}) {
    const Folder folder;
    Job before(2, optimizer, folder.path());
    before.initialize();
    before.train(5);
    before.save();
    const auto saved = before.values();
    before.train(5);
    const auto expected = before.values();
    BOOST_TEST(saved != expected);
    for (const int parts : {3, 1, 2}) {
      Job after(parts, optimizer, folder.path());
      BOOST_TEST(after.restore() == 5);
      BOOST_TEST(after.values() == saved, boost::test_tools::per_element());
      after.train(5);
      BOOST_TEST(after.values() == expected, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_checkpoint_lists_a_table_once_however_it_is_cut) {
  const Folder folder;
  Job job(3, Adam{}, folder.path());
  job.initialize();
  job.train(1);
  job.save();
  Process list({"actorflow", "checkpoint", "show", folder.path()});
  BOOST_TEST(list.wait() == 0);
  BOOST_TEST(list.prints("table/adam/m"), list.output());
  BOOST_TEST(!list.prints("part_"), list.output());
}

BOOST_AUTO_TEST_SUITE_END()
