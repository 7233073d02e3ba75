// TensorBoard's own code reads the event files that we write, and finds the same in them.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "actors/client/session.h"
#include "actors/estimator/canned.h"
#include "actors/events/event_writer.h"
#include "actors/events/summaries.h"
#include "actors/monitored/monitored_session.h"
#include "dataflow/train/replicate.h"
#include "kernels/ops.h"
#include "test/apps/support/python.h"
#include "test/apps/support/tf_config_cluster.h"
#include "test/apps/support/trainers.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(tensorboard, *boost::unit_test::precondition(actorflow::test::has_python))

using namespace actorflow;
using namespace actorflow::test;
using Json = nlohmann::json;

namespace {

// Writes a run, and notes what it wrote.
class Run {
 public:
  explicit Run(const std::string& folder)
      : folder_(folder), writer_(posix_storage(), folder, {.now_s = [this] { return now_s_; }}) {
    for (const char* kind : {"scalars", "histograms", "images", "graph"})
      expected_[kind] = Json::object();
  }

  void scalar(std::int64_t step, const std::string& tag, double value) {
    now_s_ += 1.5;
    writer_.scalar(step, tag, value);
    expect_scalar(step, tag, value);
  }

  void summaries(std::int64_t step, const Summaries& summaries, Session& session, const Feeds& feeds) {
    writer_.write(step, summaries.values(session.run(summaries.fetches(), feeds)));
  }

  void expect_scalar(std::int64_t step, const std::string& tag, double value) {
    const Json json = std::isfinite(value) ? Json(value) : Json(std::to_string(value));
    expected_["scalars"][tag].push_back({{"step", step}, {"time", now_s_}, {"value", json}});
  }
  void expect_histogram(const std::string& tag, const std::vector<float>& values) {
    double sum = 0, squares = 0;
    for (const double value : values) {
      sum += value;
      squares += value * value;
    }
    expected_["histograms"][tag] = {{"min", std::ranges::min(values)},
                                    {"max", std::ranges::max(values)},
                                    {"num", values.size()},
                                    {"sum", sum},
                                    {"sum_squares", squares},
                                    {"values", values}};
  }
  void expect_image(const std::string& tag, int height, int width, const std::vector<int>& pixels) {
    expected_["images"][tag] = {{"height", height}, {"width", width}, {"pixels", pixels}};
  }

  void graph(const Graph& graph) {
    writer_.graph(graph.def());
    for (const Node& node : graph.def().nodes) {
      Json inputs = Json::array();
      for (const Edge& edge : node.inputs) {
        const auto& name = graph.def().node(edge.node).name;
        inputs.push_back(edge.output == 0 ? name : name + ":" + std::to_string(edge.output));
      }
      for (const NodeId control : node.controls) inputs.push_back("^" + graph.def().node(control).name);
      expected_["graph"][node.name] = {
          {"op", node.op->name}, {"inputs", inputs}, {"device", node.device}};
    }
  }

  void check() {
    writer_.flush();
    write_file(folder_ + "/expected.json", expected_.dump());
    check_with_python("read_events.py", {folder_});
  }
  const std::string& path() const { return writer_.path(); }

 private:
  std::string folder_;
  double now_s_ = 1.7e9;
  EventWriter writer_;
  Json expected_;
};

// Checks which steps of these scalars and histograms TensorBoard finds in a folder.
using Steps = std::map<std::string, std::vector<std::int64_t>>;
void check_steps(const std::string& folder, const Steps& scalars, const Steps& histograms = {}) {
  Json expected{{"scalars", Json::object()}, {"histograms", Json::object()}, {"images", Json::object()},
                {"graph", Json::object()},   {"histogram_steps", histograms}};
  for (const auto& [tag, steps] : scalars)
    for (const auto step : steps) expected["scalars"][tag].push_back({{"step", step}});
  write_file(folder + "/expected.json", expected.dump());
  check_with_python("read_events.py", {folder});
}

// Multiples of a power of two: sums are exact in any order.
std::vector<float> random_values(std::size_t count) {
  std::mt19937 random(7);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 256;
  return values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tensorboard_reads_scalars_whatever_they_are) {
  Folder folder;
  Run run(folder.path());
  for (int step = 0; step < 200; ++step) run.scalar(step, "loss", 1.0 / (step + 1));
  run.scalar(1'000'000'000'000, "far", -1e30);
  run.scalar(1, "odd", std::nan(""));
  run.scalar(2, "odd", std::numeric_limits<double>::infinity());
  run.scalar(3, "odd", -std::numeric_limits<double>::infinity());
  run.check();
}

BOOST_AUTO_TEST_CASE(tensorboard_reads_what_a_step_summarises) {
  Folder folder;
  Graph graph;
  const std::vector<float> values = random_values(20'000);
  const Output weights = graph.on("/job:local/task:0", [&] {
    return graph.constant(Tensor::of<float>({100, 200}, values), "weights");
  });
  const Output grey = graph.constant(Tensor::of<std::uint8_t>({1, 2, 3, 1}, {0, 1, 50, 100, 200, 255}));
  const Output colour = graph.placeholder(DType::float32, {Shape::unknown, 1, 2, 3}, "colour");
  Summaries summaries;
  summaries.scalar("mean", mean(weights));
  summaries.histogram("layer/weights", weights);
  summaries.image("grey", grey);
  summaries.image("colour", colour, 1);
  Session session(graph);
  Run run(folder.path());
  run.graph(graph);
  run.summaries(7, summaries, session,
                {{colour, Tensor::of<float>({2, 1, 2, 3}, {0, 0.5, 1, 2, 1, 0, 9, 9, 9, 9, 9, 9})}});
  double sum = 0;
  for (const double value : values) sum += value;
  run.expect_scalar(7, "mean", sum / static_cast<double>(values.size()));
  run.expect_histogram("layer/weights", values);
  run.expect_image("grey/image/0", 2, 3, {0, 1, 50, 100, 200, 255});
  run.expect_image("colour/image/0", 1, 2, {0, 64, 128, 255, 128, 0});
  run.check();
}

BOOST_AUTO_TEST_CASE(tensorboard_reads_a_file_whose_writer_was_killed) {
  Folder folder;
  Run run(folder.path());
  run.scalar(1, "loss", 2);
  run.check();
  const std::string whole = read_file(run.path());
  write_file(run.path(), whole + whole.substr(0, whole.size() - 3));
  check_with_python("read_events.py", {folder.path()});
}

BOOST_AUTO_TEST_CASE(tensorboard_shows_what_training_writes) {
  Folder folder;
  for (const char* steps : {"--train-steps=25", "--train-steps=45"})
    train_in_one_process({"--ps=2", "--workers=2", "--hidden=16", steps, "--save-summaries-steps=10",
                          "--checkpoint-dir=" + folder.file("model"),
                          "--summary-dir=" + folder.file("events")});
  const std::vector<std::int64_t> shown{0, 10, 20, 25, 35};  // it went on from the checkpoint of step 25
  check_steps(folder.file("events"),
              {{"loss", shown}, {"accuracy", shown}, {"global_step/sec", {10, 20, 35}}},
              {{"hidden1/weights", shown}, {"hidden1/biases", shown}});
}

BOOST_AUTO_TEST_CASE(tensorboard_drops_the_steps_that_a_recovery_takes_back) {
  Folder folder;
  Graph graph;
  const Variable step = global_step(graph);
  const Output next = graph.assign_add(step, graph.constant(std::int64_t{1}));
  Summaries summaries;
  summaries.scalar("next", next);
  MonitoredOptions options;
  options.checkpoint_dir = folder.file("model");
  options.save_checkpoint = {.steps = 2};
  options.summary_dir = folder.file("events");
  options.summaries = &summaries;
  options.save_summaries = {.steps = 1};
  MonitoredSession session(graph, options);
  for (int i = 0; i < 5; ++i) session.run(next);  // saved at steps 0, 2 and 4
  int attempts = 0;
  session.run_step([&](StepContext& context) {
    if (++attempts == 1) throw Error(Code::aborted, "a task is lost");
    context.run(next);  // from step 4 on
  });
  session.close();
  check_steps(folder.file("events"),
              {{"next", {0, 1, 2, 3, 4}}, {"global_step/sec", {1, 2, 3}}});
}

BOOST_AUTO_TEST_CASE(tensorboard_shows_what_an_evaluator_finds) {
  Folder folder;
  train_in_one_process({"--train-steps=20", "--checkpoint-dir=" + folder.path()});
  write_file(folder.file("training-complete"), "20\n");
  Process evaluator({"/usr/bin/env",
                     R"(TF_CONFIG={"cluster": {"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]},
                                   "task": {"type": "evaluator", "index": 0}})",
                     ACTORFLOW_BIN_DIR "/trainer", "--checkpoint_dir=" + folder.path(), "--train_steps=20",
                     "--summary_dir=" + folder.file("events")});
  BOOST_TEST(evaluator.wait() == 0, evaluator.output());
  check_steps(folder.file("events/eval"), {{"accuracy", {20}}, {"loss", {20}}});
}

BOOST_AUTO_TEST_CASE(an_estimator_tells_of_its_training_and_of_its_evaluations) {
  const Folder folder;
  const Tensor points = Tensor::of<float>({4}, {1, 2, 3, 4});
  const InputFn input = tensor_input_fn({{"x", points}}, points, {.batch_size = 2});
  const LinearRegressor line({.feature_columns = {numeric_column("x")},
                              .config = {.model_dir = folder.path(), .save_summary_steps = 5}});
  line.train(input, {.max_steps = 7});
  line.evaluate(input);
  line.train(input, {.max_steps = 13});
  line.evaluate(input);
  check_steps(folder.path(), {{"loss", {1, 6, 8, 13}}, {"global_step/sec", {6, 13}}});
  const std::vector<std::int64_t> evaluated{7, 13};
  check_steps(folder.file("eval"),
              {{"loss", evaluated}, {"label/mean", evaluated}, {"prediction/mean", evaluated}});
}

// The chief alone writes; another one in its place begins with the newest checkpoint, and what it tells
// again takes the place of what the first one told.
BOOST_AUTO_TEST_CASE(fit_on_a_cluster_tells_each_epoch_once_although_its_chief_was_killed) {
  for (const Jobs& jobs : {Jobs{{"ps", 2}, {"chief", 1}, {"worker", 2}}, Jobs{{"worker", 3}}}) {
    const Folder folder;
    const std::string chief = jobs.contains("chief") ? "chief" : "worker";
    TfConfigCluster cluster({ACTORFLOW_BIN_DIR "/stopping_trainer", "--epochs=40",
                             "--checkpoint_dir=" + folder.file("checkpoints"),
                             "--events_dir=" + folder.file("events")},
                            jobs);
    cluster.start_all();
    BOOST_REQUIRE_MESSAGE(cluster.process(chief, 0).prints("epoch 15/"),
                          cluster.process(chief, 0).output());
    cluster.replace(chief, 0);
    cluster.expect_all_end(0);
    std::vector<std::int64_t> epochs(40);
    std::iota(epochs.begin(), epochs.end(), 1);
    check_steps(folder.file("events"), {{"epoch_loss", epochs}});
  }
}

BOOST_AUTO_TEST_SUITE_END()
