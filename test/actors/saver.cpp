#include "actors/checkpoint/saver.h"

#include <boost/test/unit_test.hpp>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/actorflow.h"
#include "schema/codec/checkpoint_codec.h"
#include "test/actors/support/memory_storage.h"
#include "test/actors/support/saver_counter.h"
#include "test/support/log_lines.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(saver)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A small linear model on two parameter servers.
struct Replica {
  Graph g;
  Variable step, w, b;
  Output x, y;
  TrainOp train;
  std::unique_ptr<Saver> saver;

  Replica(int index, int replicas, const Optimizer& optimizer) {
    g.on(replica_device_setter(2, "ps", "/job:worker/task:" + std::to_string(index)), [&] {
      step = global_step(g);
      w = g.variable("w", g.constant(Tensor::of<float>({3, 2}, {.1f, -.2f, .3f, .4f, -.5f, .6f})));
      b = g.variable("b", g.constant(Tensor::zeros(DType::float32, {2})));
      x = g.placeholder(DType::float32, {4, 3}, "x");
      y = g.placeholder(DType::float32, {4, 2}, "y");
      const Output error = matmul(x, w) + b.value() - y;
      train = minimize(g, mean(error * error), {w, b}, step, optimizer,
                       {.replica = index,
                        .replicas = replicas,
                        .strategy = replicas > 1 ? Strategy(Synchronous{}) : Asynchronous{}});
    });
    saver = std::make_unique<Saver>(g, std::vector{w, b, step}, step);
  }
};

// The same numbers for the same step and replica.
Tensor data(const Shape& shape, std::int64_t step, int replica) {
  Tensor tensor = Tensor::allocate(DType::float32, shape);
  auto state = static_cast<std::uint32_t>(step * 7919 + replica * 104729 + shape[1]);
  for (auto& value : tensor.mutable_values<float>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return tensor;
}

// Two synchronous workers and two parameter servers, from start to end.
class Job {
 public:
  Job(Storage& storage, const Optimizer& optimizer)
      : tasks_({{"ps", 2}, {"worker", workers}}, runtime_on(storage)), storage_(storage) {
    for (int i = 0; i < workers; ++i) {
      replicas_.push_back(std::make_unique<Replica>(i, workers, optimizer));
      sessions_.push_back(
          std::make_unique<Session>(tasks_.server("worker", i).target(), replicas_[i]->g));
    }
  }

  void initialize() { sessions_[0]->initialize_variables(); }
  std::optional<std::int64_t> restore() {
    return chief().saver->restore(*sessions_[0], storage_, run_folder);
  }
  std::string save() { return chief().saver->save(*sessions_[0], storage_, run_folder).path; }

  void train(std::int64_t from, std::int64_t to) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < workers; ++i) threads.emplace_back([this, i, from, to] { run(i, from, to); });
  }

 private:
  static constexpr int workers = 2;

  Replica& chief() { return *replicas_[0]; }
  void run(int index, std::int64_t from, std::int64_t to) {
    Replica& replica = *replicas_[static_cast<std::size_t>(index)];
    Session& session = *sessions_[static_cast<std::size_t>(index)];
    session.run({}, {}, {replica.train.local_init});
    for (auto step = from; step < to; ++step)
      session.run(replica.train.step,
                  {{replica.x, data({4, 3}, step, index)}, {replica.y, data({4, 2}, step, index)}});
  }

  LocalCluster tasks_;
  Storage& storage_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

// A table of ten rows on any number of tasks, in slices or as a whole.
struct Table {
  Graph g;
  Variable step;
  std::vector<Variable> slices;
  std::unique_ptr<LocalCluster> tasks;
  std::unique_ptr<Session> session;
  std::unique_ptr<Saver> saver;

  Table(Storage& storage, const std::vector<std::int64_t>& rows)
      : tasks(std::make_unique<LocalCluster>(
            std::vector<LocalCluster::Job>{{"ps", static_cast<int>(rows.size())}},
            runtime_on(storage))) {
    step = g.on("/job:ps/task:0", [&] { return global_step(g); });
    std::int64_t first = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string name = rows.size() == 1 ? "table" : "table/part_" + std::to_string(i);
      std::vector<std::int32_t> values;
      for (auto k = 3 * first; k < 3 * (first + rows[i]); ++k) values.push_back(static_cast<int>(k));
      slices.push_back(g.on("/job:ps/task:" + std::to_string(i), [&] {
        const VariableSlice slice{rows.size() == 1 ? "" : "table", {10, 3}, {first, 0}};
        return g.variable(name, g.constant(Tensor::of({rows[i], 3}, values)), slice);
      }));
      first += rows[i];
    }
    auto variables = slices;
    variables.push_back(step);
    saver = std::make_unique<Saver>(g, variables, step);
    session = std::make_unique<Session>(tasks->server("ps", 0).target(), g);
  }

  std::vector<std::int32_t> values() {
    std::vector<std::int32_t> all;
    for (const auto& tensor : session->run({slices.begin(), slices.end()}))
      all.insert(all.end(), tensor.values<std::int32_t>().begin(), tensor.values<std::int32_t>().end());
    return all;
  }
};

// A disk whose next file waits to be written until it is let through.
class GatedStorage final : public Storage {
 public:
  std::unique_ptr<NewFile> create(const std::string& path) override {
    return std::make_unique<Gated>(*this, disk.create(path));
  }
  std::unique_ptr<OpenFile> open(const std::string& path) override { return disk.open(path); }
  void append(const std::string& path, std::span<const std::byte> bytes) override {
    disk.append(path, bytes);
  }
  bool exists(const std::string& path) override { return disk.exists(path); }
  std::vector<std::string> list(const std::string& in) override { return disk.list(in); }
  void remove(const std::string& path) override { disk.remove(path); }
  void sync(const std::string& in) override { disk.sync(in); }
  double wall_time_s() override { return disk.wall_time_s(); }

  MemoryStorage disk;
  std::latch reached{1}, gate{1};

 private:
  struct Gated final : NewFile {
    Gated(GatedStorage& storage, std::unique_ptr<NewFile> file)
        : owner(storage), inner(std::move(file)) {}
    void write(std::span<const std::byte> bytes) override {
      if (!owner.reached.try_wait()) owner.reached.count_down();
      owner.gate.wait();
      inner->write(bytes);
    }
    void commit() override { inner->commit(); }
    GatedStorage& owner;
    std::unique_ptr<NewFile> inner;
  };
};

}  // namespace

BOOST_AUTO_TEST_CASE(training_that_is_saved_killed_and_restored_ends_with_the_same_bits) {
  for (const Optimizer& optimizer :
       {Optimizer(Sgd{0.1}), Optimizer(Momentum{0.1}), Optimizer(Adagrad{0.1}), Optimizer(Adam{0.01}),
        Optimizer(RmsProp{0.01, 0.9, 0.5})}) {
    MemoryStorage undisturbed, storage;
    {
      Job job(undisturbed, optimizer);
      job.initialize();
      job.train(0, 200);
      job.save();
    }
    {
      Job job(storage, optimizer);
      job.initialize();
      job.train(0, 100);
      job.save();
      job.train(100, 103);  // lost
    }
    Job job(storage, optimizer);
    BOOST_TEST(job.restore().value() == 100);
    job.train(100, 200);
    job.save();
    const auto expected = *load_latest_checkpoint(undisturbed, run_folder);
    const auto resumed = *load_latest_checkpoint(storage, run_folder);
    BOOST_TEST_CONTEXT(optimizer.name()) {
      BOOST_TEST(expected.global_step == 200);
      BOOST_TEST(resumed.global_step == 200);
      BOOST_TEST(expected.tensors.size() ==
                 3 + 2 * builtin_optimizers().at(optimizer.name()).slots().size());
      BOOST_TEST(hash_of(resumed.tensors) == hash_of(expected.tensors));
    }
  }
}

BOOST_AUTO_TEST_CASE(restoring_says_that_a_checkpoint_is_not_of_one_step) {
  MemoryStorage storage;
  SavedCounter c(storage);
  c.session.initialize_variables();
  const std::string path = c.saver.save(c.session, storage, run_folder).path;
  Manifest manifest = read_manifest(storage, path);
  for (const bool one_step : {true, false}) {
    manifest.one_step = one_step;
    storage.write_atomically(path, encode_manifest(manifest));
    const auto said = [&] {
      LogLines log;
      c.saver.restore_from(c.session, storage, path);
      return log.all();
    }();
    BOOST_TEST((said.find("may be of different steps") == said.npos) == one_step, said);
  }
}

BOOST_AUTO_TEST_CASE(each_task_writes_its_own_file_with_its_slots) {
  MemoryStorage storage;
  Job job(storage, Adam{});
  job.initialize();
  job.train(0, 1);
  BOOST_TEST(job.save() == run_folder + "/step-1.manifest");
  BOOST_TEST(storage.exists(run_folder + "/step-1.1-of-2.safetensors"));
  BOOST_TEST(storage.exists(run_folder + "/step-1.2-of-2.safetensors"));
  const Checkpoint saved = *load_latest_checkpoint(storage, run_folder);
  for (const auto* name : {"w", "w/adam/m", "w/adam/v", "w/adam/step", "b/adam/m", "global_step"})
    BOOST_TEST(saved.tensors.contains(name), name);
}

// As callbacks of a program have it, in a file of the same checkpoint.
BOOST_AUTO_TEST_CASE(extra_state_comes_back_with_the_variables_that_it_was_saved_with) {
  MemoryStorage storage;
  SavedCounter c(storage);
  c.session.initialize_variables();
  const ExtraState extra{{"best", Tensor::scalar(0.5)}, {"names", Tensor::of<std::string>({1}, {"w"})}};
  const std::string with = c.saver.save(c.session, storage, run_folder, {}, extra).path;
  BOOST_TEST(verify_checkpoint(storage, with).empty());
  BOOST_TEST(storage.exists(run_folder + "/step-0.2-of-2.safetensors"));
  BOOST_TEST(!load_checkpoint(storage, with).tensors.contains("@best"));
  c.session.run(c.next);
  const std::string without = c.saver.save(c.session, storage, run_folder).path;

  ExtraState restored;
  BOOST_TEST(c.saver.restore_from(c.session, storage, with, &restored) == 0);
  BOOST_TEST_REQUIRE(restored.size() == 2U);
  for (const auto& [name, tensor] : extra) BOOST_TEST(identical(restored.at(name), tensor), name);
  BOOST_TEST(c.saver.restore_from(c.session, storage, with) == 0);
  BOOST_TEST(c.saver.restore_from(c.session, storage, without, &restored) == 1);
  BOOST_TEST(restored.empty());
}

BOOST_AUTO_TEST_CASE(a_checkpoint_whose_extra_state_is_damaged_is_passed_over) {
  MemoryStorage storage;
  SavedCounter c(storage);
  c.session.initialize_variables();
  c.saver.save(c.session, storage, run_folder, {}, {{"best", Tensor::scalar(0.5)}});
  c.session.run(c.next);
  c.saver.save(c.session, storage, run_folder, {}, {{"best", Tensor::scalar(0.25)}});
  storage.files.at(run_folder + "/step-1.2-of-2.safetensors").back() ^= std::byte{1};
  ExtraState restored;
  BOOST_TEST(c.saver.restore(c.session, storage, run_folder, false, &restored).value() == 0);
  BOOST_TEST(restored.at("best").scalar<double>() == 0.5);
}

BOOST_AUTO_TEST_CASE(a_table_restores_into_any_number_of_slices) {
  const std::vector<std::vector<std::int64_t>> layouts{{10}, {4, 6}, {3, 3, 4}, {1, 8, 1}};
  std::vector<std::int32_t> expected(30);
  for (int i = 0; i < 30; ++i) expected[static_cast<std::size_t>(i)] = i;
  for (const auto& before : layouts)
    for (const auto& after : layouts) {
      MemoryStorage storage;
      Table first(storage, before), second(storage, after);
      first.session->initialize_variables();
      first.saver->save(*first.session, storage, run_folder);
      BOOST_TEST(second.saver->restore(*second.session, storage, run_folder).value() == 0);
      BOOST_TEST(second.values() == expected);
      BOOST_TEST(load_latest_checkpoint(storage, run_folder)->tensors.at("table").shape().to_string() ==
                 "[10,3]");
    }
}

// It takes as much memory as the model.
BOOST_AUTO_TEST_CASE(what_was_kept_for_a_checkpoint_that_failed_is_dropped) {
  MemoryStorage storage;
  SavedCounter c(storage);
  const Output below_zero = c.g.assign(c.step, c.g.constant<std::int64_t>(-1));
  const Output kept = c.g.add(take_from_snapshot_op(), {c.g.constant(Tensor::scalar(run_folder))},
                              {{"name", "count"}, {"dtype", DType::float32}, {"shape", Shape{2}}});
  c.session.extend();
  c.session.initialize_variables();
  c.session.run(std::vector<Output>{}, {}, {below_zero});
  BOOST_CHECK_EXCEPTION(c.saver.save(c.session, storage, run_folder), Error,
                        error_with(Code::failed_precondition, {"from 0 on"}));
  BOOST_CHECK_EXCEPTION(c.session.run(kept), Error, error_with(Code::aborted, {"keeps no 'count'"}));
}

BOOST_AUTO_TEST_CASE(an_empty_folder_restores_nothing) {
  MemoryStorage storage;
  Job job(storage, Sgd{});
  BOOST_TEST(!job.restore().has_value());
}

BOOST_AUTO_TEST_CASE(all_differences_from_the_graph_are_listed_at_once) {
  MemoryStorage storage;
  save_checkpoint(storage, run_folder,
                  {5, {{"count", Tensor::of<float>({3}, {1, 2, 3})}, {"old", Tensor::scalar(1.0f)}}});
  SavedCounter c(storage);
  BOOST_CHECK_EXCEPTION(
      c.saver.restore(c.session, storage, run_folder), Error,
      error_with(Code::failed_precondition,
                 {"'global_step' (int64[]) is missing",
                  "'count' is float32[3] in the checkpoint, but float32[2] in the graph",
                  "'old' is in the checkpoint only", "another model"}));
}

BOOST_AUTO_TEST_CASE(some_variables_restore_under_other_names_and_the_rest_stays) {
  MemoryStorage storage;
  save_checkpoint(storage, run_folder,
                  {5, {{"total", Tensor::of<float>({2}, {7, 8})}, {"other", Tensor::scalar(1.0f)}}});
  CounterGraph c;
  Saver saver(c.g, {c.count}, c.step, {.names = {{"count", "total"}}});
  LocalCluster tasks({{"local", 1}}, runtime_on(storage));
  Session session(tasks.server("local", 0).target(), c.g);
  session.initialize_variables();
  session.run(c.next);
  BOOST_TEST(saver.restore(session, storage, run_folder).value() == 5);
  BOOST_TEST(session.run(c.count).values<float>()[1] == 8);
  BOOST_TEST(session.run(c.step).scalar<std::int64_t>() == 1);
}

BOOST_AUTO_TEST_CASE(a_saver_that_would_lose_a_variable_is_refused) {
  CounterGraph c;
  const auto refused = [&](const std::vector<Variable>& variables, const std::string& text,
                           const SaverOptions& options = {}) {
    BOOST_CHECK_EXCEPTION(Saver(c.g, variables, c.step, options), Error, says(text));
  };
  refused({c.count, c.count}, "'count' and 'count', which are both 'count'");
  const Variable other = c.g.on("/job:ps/task:1", [&] {
    return c.g.variable("other", c.g.constant(Tensor::of<float>({2}, {1, 2})));
  });
  refused({c.count, other}, "both 'count'", {.names = {{"other", "count"}}});
  refused({c.count}, "'cuont', which is none of the saver's variables", {.names = {{"cuont", "old"}}});
  BOOST_CHECK_EXCEPTION(Saver(c.g, {c.count}, c.count), Error, says("by an int64 scalar"));
}

BOOST_AUTO_TEST_CASE(training_goes_on_while_the_snapshot_is_written) {
  GatedStorage storage;
  SavedCounter c(storage);
  c.session.initialize_variables();
  std::jthread saving([&] { c.saver.save(c.session, storage, run_folder); });
  storage.reached.wait();
  for (int i = 0; i < 3; ++i) c.session.run(c.more);
  BOOST_TEST(c.session.run(c.count).values<float>()[0] == 31);
  storage.gate.count_down();
  saving.join();
  BOOST_TEST(load_latest_checkpoint(storage, run_folder)->tensors.at("count").values<float>()[0] == 1);
}

BOOST_AUTO_TEST_CASE(disk_full_while_saving_fails_the_saving_only) {
  MemoryStorage storage;
  Job job(storage, Adam{});
  job.initialize();
  job.train(0, 2);
  job.save();
  const auto before = storage.files;
  job.train(2, 4);
  for (const int commits : {0, 1, 2}) {
    storage.commits_left = commits;
    BOOST_CHECK_EXCEPTION(job.save(), Error,
                          error_with(Code::resource_exhausted, {"step-4", "no space"}));
  }
  job.train(4, 6);
  storage.commits_left = 0;
  BOOST_CHECK_THROW(job.save(), Error);
  BOOST_TEST(load_latest_checkpoint(storage, run_folder)->global_step == 2);
  BOOST_TEST(
      (storage.files.at(run_folder + "/step-2.manifest") == before.at(run_folder + "/step-2.manifest")));
  storage.commits_left = 100;
  BOOST_TEST(job.save() == run_folder + "/step-6.manifest");
  BOOST_TEST(storage.files.size() == 6u);  // of steps 2 and 6
}

BOOST_AUTO_TEST_CASE(an_isolated_session_saves_and_restores_its_own_variables) {
  MemoryStorage storage;
  CounterGraph c;
  Saver saver(c.g, {c.count, c.step}, c.step);
  LocalCluster tasks({{"local", 1}}, runtime_on(storage));
  const std::string target = tasks.server("local", 0).target();
  Session shared(target, c.g), isolated(target, c.g, SessionOptions{.isolate = true});
  for (auto* session : {&shared, &isolated}) session->initialize_variables();
  isolated.run(c.more);
  saver.save(isolated, storage, run_folder);
  isolated.run(c.more);
  saver.restore(isolated, storage, run_folder);
  BOOST_TEST(isolated.run(c.count).values<float>()[0] == 11);
  BOOST_TEST(shared.run(c.count).values<float>()[0] == 1);
}

BOOST_AUTO_TEST_CASE(a_variable_without_a_value_cannot_be_saved) {
  MemoryStorage storage;
  CounterGraph c;
  Saver saver(c.g, {c.count}, c.step);
  LocalCluster tasks({{"local", 1}}, runtime_on(storage));
  Session session(tasks.server("local", 0).target(), c.g);
  session.run({}, {}, {c.step.initializer()});
  BOOST_CHECK_EXCEPTION(saver.save(session, storage, run_folder), Error,
                        error_with(Code::failed_precondition, {"'count'", "has no value"}));
}

BOOST_AUTO_TEST_SUITE_END()
