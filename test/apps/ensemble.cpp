// The program `ensemble`: alone, and as several processes, some of which are lost.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/checkpoint.h"
#include "actors/ensembles/ensemble.h"
#include "apps/ensembles/ensemble_report.h"
#include "test/apps/support/cifar10_images.h"
#include "test/apps/support/job_cluster.h"
#include "test/apps/support/process.h"
#include "test/apps/support/python.h"
#include "test/support/folder.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(ensemble)

using namespace actorflow;
using namespace actorflow::test;
using namespace std::string_literals;
using Json = nlohmann::json;

namespace {

using Command = std::vector<std::string>;

Command with(Command command, const Command& more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

void expect_end(Process& process, int status = 0) {
  BOOST_TEST(process.wait() == status, process.output());
}

// What it prints.
std::string run(const Command& command, int status = 0) {
  Process process(command);
  expect_end(process, status);
  return process.output();
}

Json report_of(const Command& flags) {
  const Folder folder;
  run(with(with({"ensemble"}, flags), {"--quiet", "--report", folder.file("report.json")}));
  return Json::parse(read_file(folder.file("report.json")));
}

// Of the weights of all members that were saved.
std::vector<std::uint64_t> hashes_of(const std::string& folder, int members) {
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < members; ++i) {
    const auto saved = load_latest_checkpoint(posix_storage(), folder + "/member-" + std::to_string(i));
    hashes.push_back(saved ? hash_of(saved->tensors) : 0);
  }
  return hashes;
}

Model classifier() {
  Model model = sequential({dense(8, tanh), dense(3)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.02}});
  return model;
}

Model classifier_of_two_inputs() {
  const SymbolicTensor a = input({1}), b = input({1});
  Model model({a, b}, {dense(3)(concatenate()({dense(4, tanh)(a), dense(4, tanh)(b)}))});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.02}});
  return model;
}

Model model_of_numbers() {
  Model model = sequential({dense(8, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.02}});
  return model;
}

template <class T>
Json json_of(const Tensor& tensor, const char* dtype) {
  const auto dims = tensor.shape().dims();
  const auto values = tensor.values<T>();
  return {{"dtype", dtype},
          {"shape", std::vector(dims.begin(), dims.end())},
          {"data", std::vector(values.begin(), values.end())}};
}

// Trains the ensemble, and lets the runtime answer by what it exports.
void expect_same_by_onnx(Ensemble members, const std::vector<Tensor>& inputs, const Tensor& labels) {
  FitOptions fit;
  fit.epochs = 20;
  fit.batch_size = 8;
  members.fit({inputs, {labels}}, fit);
  const Folder folder;
  members.export_onnx(folder.path());
  const Tensor y = members.predict(inputs);
  const bool numbers = members.vote() == Vote::mean;
  Json given,
      expected{{"y", numbers ? json_of<double>(y, "float32") : json_of<std::int64_t>(y, "int64")}};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    given[i == 0 ? "x" : "x_" + std::to_string(i)] = json_of<float>(inputs[i], "float32");
  if (members.vote() == Vote::soft)
    expected["probabilities"] = json_of<double>(members.predict_proba(inputs), "float32");
  const Json test{{"inputs", given}, {"outputs", expected}, {"tolerance", 1e-5}};
  write_file(folder.file("cases.json"), Json{{"serving_default", test}}.dump());
  check_with_python("run_onnx.py", {folder.path()});
}

const Command eight{"ensemble", "digits", "--members", "8", "--method", "bagging", "--epochs", "60"};

Command outputs_in(const Folder& folder) {
  return {"--save",  folder.file("saved"), "--report", folder.file("report.json"),
          "--plots", folder.file("plots")};
}

// Compares the outputs of an ensemble of eight with those of a process that nobody disturbs: the weights
// of all members, what each and all together score, and what is taken for what.
void expect_undisturbed(const Folder& folder) {
  const Folder other;
  run(with(eight, outputs_in(other)));
  const auto report_in = [](const Folder& of) {
    Json report = Json::parse(read_file(of.file("report.json")));
    report.erase("train_seconds");
    return report;
  };
  BOOST_TEST(hashes_of(folder.file("saved"), 8) == hashes_of(other.file("saved"), 8),
             boost::test_tools::per_element());
  BOOST_TEST(report_in(folder) == report_in(other));
  for (const char* picture : {"plots/confusion.svg", "plots/mistakes.svg"})
    BOOST_TEST(read_file(folder.file(picture)) == read_file(other.file(picture)), picture);
}

}  // namespace

BOOST_AUTO_TEST_CASE(digits_with_a_report_pictures_checkpoints_and_a_model) {
  const Folder folder;
  const std::string said = run({"actorflow", "ensemble", "digits", "--members", "4", "--epochs", "5",
                                "--report", folder.file("report.json"), "--plots", folder.file("plots"),
                                "--save", folder.file("saved"), "--export", folder.file("onnx")});
  BOOST_TEST(said.find("over its members' mean (full_data, soft)") != std::string::npos, said);
  const Json report = Json::parse(read_file(folder.file("report.json")));
  BOOST_TEST(report["model"] == "mlp");
  BOOST_TEST(report["settings"] == "hidden=64");
  BOOST_TEST(report["epochs"] == 5);
  BOOST_TEST(report["batch_size"] == 64);
  BOOST_TEST(report["seed"] == 1);
  BOOST_TEST(report["learning_rate"] == 0.005);
  BOOST_TEST(report["device"] == "cpu");
  BOOST_TEST(report["path"].get<std::string>().ends_with("/digits"));
  BOOST_TEST(report["members"].size() == 4u);
  BOOST_TEST(report["member_scores"].size() == 4u);
  BOOST_TEST(report["ensemble"].get<double>() > 0.85);
  BOOST_TEST(report["ensemble"].get<double>() - report["mean_of_members"].get<double>() ==
                 report["gain"].get<double>(),
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(report["out_of_bag"].is_null());
  for (const char* name : {"members", "loss", "confusion", "mistakes"})
    BOOST_TEST(read_file(folder.file("plots/") + name + ".svg").starts_with("<svg "), name);
  BOOST_TEST(hashes_of(folder.file("saved"), 4)[3] != 0u);
  BOOST_TEST(std::filesystem::exists(folder.file("onnx/model.onnx")));
}

BOOST_AUTO_TEST_CASE(saved_members_answer_as_they_did_when_they_were_trained) {
  const Folder folder;
  const Command three{"ensemble", "iris", "--members", "3"};
  const auto scores_of = [&](const Command& command) {
    run(with(command, {"--report", folder.file("report.json")}));
    return Json::parse(read_file(folder.file("report.json")))["member_scores"];
  };
  const Json trained = scores_of(with(three, {"--save", folder.file("saved")}));
  const Command load = with(three, {"--load", folder.file("saved"), "--plots", folder.file("plots")});
  BOOST_TEST(scores_of(load) == trained);
  BOOST_TEST(!Json::parse(read_file(folder.file("report.json"))).contains("seed"));
  BOOST_TEST(!std::filesystem::exists(folder.file("plots/loss.svg")));

  std::filesystem::remove_all(folder.file("saved/member-1"));
  Process refused(with(load, {}));
  BOOST_TEST(refused.wait() == 1);
  BOOST_TEST(refused.prints("member-1"), refused.output());
  BOOST_TEST(refused.output().find("load it with --damaged left_out") != std::string::npos,
             refused.output());
  const Json left = scores_of(with(load, {"--damaged", "left_out"}));
  BOOST_TEST(left == Json({trained[0], trained[2]}));
}

BOOST_AUTO_TEST_CASE(what_is_loaded_says_itself_what_it_is) {
  const Folder folder;
  const std::string saved = folder.file("saved");
  const Command load{"ensemble", "iris", "--load", saved};
  const Command what{"--members", "3", "--hidden", "7", "--vote", "hard", "--weights", "1,2,1"};
  const auto report = [&](const Command& command) {
    run(with(command, {"--report", folder.file("report.json")}));
    const Json all = Json::parse(read_file(folder.file("report.json")));
    return Json{all["member_scores"], all["ensemble"], all["settings"], all["vote"], all["weights"]};
  };
  const Json trained = report(with({"ensemble", "iris", "--epochs", "3", "--save", saved}, what));
  BOOST_TEST(trained[2] == "hidden=7");
  BOOST_TEST(report(load) == trained);
  BOOST_TEST(report(with(load, what)) == trained);

  const auto expect = [&](const Command& command, int status, const std::string& part) {
    Process process(command);
    BOOST_TEST(process.wait() == status);
    BOOST_TEST(process.output().find(part) != std::string::npos, process.output());
  };
  const std::string in_saved = ": the ensemble in " + saved + " was saved with ";
  expect(with(load, {"--members", "4"}), 2, "--members 4" + in_saved + "3; omit the flag");
  expect(with(load, {"--hidden", "8"}), 2, "--hidden 8" + in_saved + "hidden=7");
  expect(with(load, {"--set", "hidden=8"}), 2, "--set hidden=8" + in_saved + "hidden=7");
  expect(with(load, {"--vote", "soft"}), 2, "--vote soft" + in_saved + "hard");
  expect({"ensemble", "digits", "--load", saved}, 2, "is one of iris, not of digits");

  Json too_many = Json::parse(read_file(saved + "/ensemble.json"));
  too_many["members"] = (std::int64_t{1} << 32) + 3;
  write_file(saved + "/ensemble.json", too_many.dump());
  expect(load, 1, "'members' is no number of members: 4294967299");
  write_file(saved + "/ensemble.json", "{");
  expect(load, 1, saved + "/ensemble.json: ");
  std::filesystem::remove(saved + "/ensemble.json");  // as earlier versions have saved
  BOOST_TEST(report(with(load, what)) == trained);
}

BOOST_AUTO_TEST_CASE(members_say_when_they_begin_and_when_they_are_trained) {
  const Command two{"ensemble", "iris", "--members", "2", "--epochs", "2"};
  const std::string said = run(two);
  for (const char* line : {"member 0 begins, number ", "member 1 begins, number ",
                           "member 0 is trained  ", "member 1 is trained  "})
    BOOST_TEST(said.find(line) != std::string::npos, said);
  BOOST_TEST(run(with(two, {"--quiet"})).find("begins") == std::string::npos);
}

// Flips and crops of each member's own, and filters computed from the images.
BOOST_AUTO_TEST_CASE(images_of_the_binary_version_are_learned_as_their_recipe_wants) {
  const Folder folder;
  write_file(folder.file("data_batch_1.bin"), images_as_cifar10(64));
  write_file(folder.file("test_batch.bin"), images_as_cifar10(20));
  const Json report =
      report_of({"cifar10", "--data", folder.path(), "--model", "fast", "--set", "channels=8,16,16",
                 "--members", "2", "--epochs", "2", "--batch_size", "16"});
  BOOST_TEST(report["member_scores"].size() == 2u);
  const Json losses = report["member_train_losses"];
  BOOST_TEST(losses[0].get<double>() != losses[1].get<double>());
}

// On a machine without a GPU, as everywhere, a CPU does it.
BOOST_AUTO_TEST_CASE(members_train_on_the_device_that_is_named) {
  const Command two{"digits", "--members", "2", "--epochs", "5"};
  const Json report = report_of(with(two, {"--device", "gpu:0"}));
  BOOST_TEST(report["device"] == "gpu:0");
  const auto losses_of = [](const Json& of) {
    return of["member_train_losses"].get<std::vector<double>>();
  };
  BOOST_TEST(losses_of(report) == losses_of(report_of(two)), boost::test_tools::tolerance(1e-2)
                                                                 << boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_gain_that_rounds_to_nothing_has_no_minus) {
  const auto text_of = [](double answer) {
    EnsembleReport report;
    report.run.method = "bagging";
    report.run.vote = "soft";
    report.members = {0, 1};
    report.test.ensemble = answer;
    report.test.members = {0.5, 0.5};
    return to_text(report);
  };
  BOOST_TEST(
      text_of(0.499999).find(" +0.00 over its members' mean (bagging, soft)") != std::string::npos,
      text_of(0.499999));
  BOOST_TEST(text_of(0.4999).find(" -0.01 over") != std::string::npos, text_of(0.4999));
  BOOST_TEST(text_of(0.51).find(" +1.00 over") != std::string::npos, text_of(0.51));
}

BOOST_AUTO_TEST_CASE(another_seed_makes_other_members) {
  for (const char* method : {"full_data", "bagging", "stacking", "snapshot"}) {
    const auto losses = [method](const char* seed) {
      return report_of({"iris", "--members", "2", "--epochs", "2", "--method", method, "--seed",
                        seed})["member_train_losses"];
    };
    const Json first = losses("1"), second = losses("2");
    BOOST_TEST(losses("1") == first);
    for (const Json& loss : first)
      for (const Json& other : second) BOOST_TEST(loss != other, method);
  }
}

// Snapshots set the rate themselves, and round the passes up to whole cycles.
BOOST_AUTO_TEST_CASE(rate_batch_and_passes_are_those_of_the_model_s_recipe) {
  const Folder folder;
  write_file(folder.file("data_batch_1.bin"), images_as_cifar10(32));
  write_file(folder.file("test_batch.bin"), images_as_cifar10(20));
  const Command fast{"cifar10", "--data",           folder.path(), "--model", "fast",
                     "--set",   "channels=8,16,16", "--members",   "2"};
  Process refused(with({"ensemble"}, fast));
  BOOST_TEST(refused.wait() != 0);
  BOOST_TEST(refused.output().find("a batch of 512 is larger") != std::string::npos, refused.output());
  const Json report = report_of(with(fast, {"--batch_size", "16", "--method", "snapshot"}));
  BOOST_TEST(report["epochs"] == 18);
  BOOST_TEST(report["learning_rate"] == 0.75);
  BOOST_TEST(report["member_scores"].size() == 2u);
  const Json flowers = report_of({"iris", "--method", "snapshot", "--members", "3"});
  BOOST_TEST(flowers["epochs"] == 42);
  BOOST_TEST(flowers["batch_size"] == 12);
}

BOOST_AUTO_TEST_CASE(a_member_with_all_the_weight_answers_alone) {
  const Json report = report_of({"iris", "--members", "3", "--epochs", "3", "--weights", "0,2.5,0"});
  BOOST_TEST(report["ensemble"] == report["member_scores"][1]);
}

BOOST_AUTO_TEST_CASE(onnx_runtime_answers_as_the_ensemble_does,
                     *boost::unit_test::precondition(has_python)) {
  std::vector<float> x;
  for (int i = 0; i < 80; ++i) x.push_back(static_cast<float>(i * 37 % 80) / 40 - 1);
  std::vector<std::int64_t> y;
  for (int i = 0; i < 40; ++i) y.push_back(i % 3);
  const Tensor labels = Tensor::of<std::int64_t>({40}, y);
  const EnsembleOptions stacking{.members = 2, .method = EnsembleMethod::stacking, .passthrough = true};
  const Tensor whole = Tensor::of<float>({40, 2}, x);
  const Model one = classifier(), two = classifier_of_two_inputs(), of_numbers = model_of_numbers();
  for (const EnsembleOptions& options :
       {EnsembleOptions{.members = 3}, EnsembleOptions{.members = 3, .vote = Vote::hard}, stacking})
    expect_same_by_onnx(actorflow::ensemble(one, options), {whole}, labels);
  expect_same_by_onnx(actorflow::ensemble(two, stacking),
                      {Tensor::of<float>({40, 1}, {x.begin(), x.begin() + 40}),
                       Tensor::of<float>({40, 1}, {x.begin() + 40, x.end()})},
                      labels);
  for (const EnsembleOptions& options : {EnsembleOptions{.members = 3}, stacking})
    expect_same_by_onnx(actorflow::ensemble(of_numbers, options), {whole},
                        Tensor::of<float>({40, 1}, {y.begin(), y.end()}));
}

BOOST_AUTO_TEST_CASE(out_of_bag_is_near_the_test) {
  const Json report = report_of({"digits", "--members", "16", "--method", "bagging"});
  BOOST_TEST(std::abs(report["out_of_bag"].get<double>() - report["ensemble"].get<double>()) < 0.1);
}

BOOST_AUTO_TEST_CASE(five_snapshots_are_as_good_as_the_last_in_the_mean_of_five_seeds) {
  double all = 0, last = 0;
  for (const char* seed : {"1", "2", "3", "4", "5"}) {
    const Json report = report_of({"digits", "--members", "5", "--method", "snapshot", "--seed", seed});
    BOOST_TEST(report["epochs"] == 100);
    all += report["ensemble"].get<double>();
    last += report["member_scores"].back().get<double>();
  }
  BOOST_TEST(all >= last);
}

BOOST_AUTO_TEST_CASE(iris_by_stacking) {
  for (const char* passthrough : {"false", "true"}) {
    const Json report =
        report_of({"iris", "--members", "2", "--method", "stacking", "--passthrough", passthrough});
    BOOST_TEST(report["ensemble"].get<double>() > 0.8);
    BOOST_TEST(report["vote"] == "soft");
  }
}

BOOST_AUTO_TEST_CASE(a_process_that_owns_two_of_eight_members_is_killed_and_no_bit_changes) {
  const Folder folder;
  const auto addresses = free_addresses(4);
  std::string cluster;
  for (const auto& address : addresses) cluster += (cluster.empty() ? "" : ",") + address;
  std::vector<std::unique_ptr<Process>> processes;
  for (int task = 0; task < 4; ++task)
    processes.push_back(std::make_unique<Process>(
        with(task == 0 ? with(eight, outputs_in(folder)) : Command{"ensemble", "digits"},
             {"--tasks", "1", "--cluster", cluster, "--task_index", std::to_string(task),
              "--heartbeat_timeout_ms", "1000", "--connect_timeout_ms", "20000"})));
  // Whichever has two of them first.
  std::size_t lost = 0;
  BOOST_TEST_REQUIRE(comes_true([&] {
    for (std::size_t task = 1; task < 4 && lost == 0; ++task)
      if (processes[task]->output().find("number 2 of this task") != std::string::npos) lost = task;
    return lost != 0;
  }));
  processes[lost]->send_signal(SIGKILL);
  for (std::size_t task = 0; task < 4; ++task)
    if (task != lost) expect_end(*processes[task]);
  BOOST_TEST(processes[0]->output().find("run again elsewhere") != std::string::npos,
             processes[0]->output());
  expect_undisturbed(folder);
}

BOOST_AUTO_TEST_CASE(members_that_are_trained_outlive_the_process) {
  const Folder folder;
  const Command resumable =
      with(with(eight, outputs_in(folder)),
           {"--tasks", "1", "--work_folder", folder.file("work"), "--resume", "--json"});
  {
    Process first(resumable);
    BOOST_TEST(first.prints("\"done\":"), first.output());
    first.send_signal(SIGKILL);
  }
  run(resumable);
  expect_undisturbed(folder);
}

BOOST_AUTO_TEST_CASE(mistakes_are_said_before_anything_trains) {
  const auto expect = [](const Command& flags, const std::string& part) {
    Process process(with({"ensemble"}, flags));
    BOOST_TEST(process.wait() != 0);
    BOOST_TEST(process.output().find(part) != std::string::npos, process.output());
    BOOST_TEST(process.output().find("stage 1") == std::string::npos, process.output());
  };
  expect({"digits", "--device", "/job:ps"},
         "--device: expected a device such as gpu:0 or cpu:0, got '/job:ps'");
  expect({"digits", "--method", "boosting"}, "--method: expected one of bagging, full_data, snapshot");
  expect({"digits", "--members", "1"}, "--members: expected 2 or more, got 1");
  expect({"digits", "--members", "0"}, "--members: expected 2 or more, got 0");
  expect({"digits", "--members", "1438"},
         "1438 members cannot learn from 1437 examples: expected at most");
  for (const char* method : {"full_data", "snapshot"})
    expect({"digits", "--members", "2147483647", "--method", method},
           "expected at most 10000 members, got 2147483647");
  expect({"digits", "--epochs", "0"}, "--epochs: expected 1 or more, got 0");
  expect({"digits", "--batch_size", "0"}, "--batch_size: expected 1 or more, got 0");
  expect({"digits", "--weights", "1,x"}, "--weights: expected numbers divided by commas, got '1,x'");
  expect({"digits", "--weights", "1,2"}, "weights: expected one for each of 8 members, got 2");
  expect({"digits", "--model", "lenet", "--hidden", "8"}, "--hidden is for --model mlp, but the model");
  expect({"digits", "--set", "hidden=8", "--hidden", "8"}, "--hidden and --set hidden=... say the same");
  expect({"digits", "--set", "hidden"}, "expected key=value, got 'hidden'");
  expect({"digits", "--set", "depth=3"}, "the model mlp has no setting 'depth'; it has hidden=");
  expect({"digits", "--learning_rate", "-1"}, "--learning_rate: expected a number above 0, or 0");
  expect({"digits", "--method", "stacking", "--vote", "hard"}, "--vote is not for --method stacking");
  expect({"digits", "--folds", "3"}, "--folds is for --method stacking, but the method is full_data");
  expect({"digits", "--method", "bagging", "--passthrough", "true"},
         "--passthrough is for --method stack");
  expect({"digits", "--method", "stacking", "--max_samples", "0.5"},
         "--max_samples is for --method bagg");
  expect({"digits", "--damaged", "left_out"}, "--damaged is for members that --load takes");
  for (const char* flag : {"epochs", "batch_size", "learning_rate", "seed"})
    expect({"digits", "--load", "saved", "--"s + flag, "3"},
           "--"s + flag + " is for training, but --load takes members");
  const Folder folder;
  expect({"digits", "--load", folder.path()}, "expected what an ensemble has saved");
  write_file(folder.file("taken"), "");
  expect({"digits", "--save", folder.file("taken")}, "/taken' is a file, not a folder");
  expect({"digits", "--batch_size", "5000"}, "a batch of 5000 is larger than all that member 0 learns");
  expect({"digits", "--memberz", "3"}, "--memberz was given");
  expect({"iris", "--model", "lenet"}, "the model lenet does not take examples that are float32[4]");
  expect({"digits", "--data", "/no/such"}, "/no/such: expected a folder of images, a table *.csv");
  expect({"digits", "--data", "shakespeare"}, "is a text; an ensemble learns images");
  expect({"digits", "--report", folder.file("missing/report.json")},
         "--report: the report cannot be written to '" + folder.file("missing/report.json"));
  for (const std::string& data : {"cifar10"s, folder.path(), folder.file("missing")})
    expect({"cifar10", "--data", data}, "tar xzf cifar-10-binary.tar.gz' makes cifar-10-batches-bin");
  expect({"mumps"},
         "ensemble: error: there is no job 'mumps': expected one of cifar10, digits, iris, mnist");
}

BOOST_AUTO_TEST_SUITE_END()
