// Every mistake gets one clear line and a non-zero status; nothing hangs.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "actors/runtime/exit_status.h"
#include "test/apps/support/process.h"
#include "test/support/contains.h"
#include "test/support/folder.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(bad_input)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Runs a program that must fail with `status` and a line of its own that has all of `words` in it.
void expect_failure(const std::vector<std::string>& command, int status,
                    const std::vector<std::string>& words) {
  BOOST_TEST_CONTEXT(command.front() << " must complain of " << words.front()) {
    Process process(command);
    BOOST_TEST(process.wait() == status);
    const std::string output = process.output();
    const auto start = output.find(command.front() + ": error: ");
    BOOST_REQUIRE_MESSAGE(start != std::string::npos, output);
    const std::string line = output.substr(start, output.find('\n', start) - start);
    BOOST_TEST(output.size() == start + line.size() + 1, output << "is more than one line at the end");
    for (const auto& word : words)
      BOOST_TEST(line.find(word) != std::string::npos, line << " lacks " << word);
  }
}

std::vector<std::string> trainer(const std::string& ps, const std::string& workers,
                                 const std::string& job, const std::string& task,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> command{"trainer", "--ps_hosts=" + ps, "--worker_hosts=" + workers,
                                   "--job_name=" + job, "--task_index=" + task};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

std::vector<std::string> server(const std::string& cluster, const std::string& job,
                                const std::string& task) {
  return {"actorflow", "server", "--cluster", cluster, "--job", job, "--task", task};
}

}  // namespace

BOOST_AUTO_TEST_CASE(arguments_that_do_not_fit) {
  expect_failure({"actorflow"}, bad_usage, {"expected a command"});
  expect_failure({"actorflow", "trian", "mnist"}, bad_usage, {"got 'trian'", "did you mean 'train'?"});
  expect_failure({"actorflow", "train"}, bad_usage, {"what to train"});
  expect_failure({"actorflow", "train", "minst"}, bad_usage,
                 {"expected one of mnist, digits", "got 'minst'", "see actorflow train --help"});
  expect_failure({"actorflow", "checkpoint", "lst", "x"}, bad_usage, {"list", "got 'lst'"});
  expect_failure({"actorflow", "train", "mnist", "--lr", "0.1"}, bad_usage,
                 {"did not expect '--lr 0.1'", "see actorflow train mnist --help"});
  expect_failure({"actorflow", "train", "mnist", "--batch_sise=9"}, bad_usage,
                 {"did not expect '--batch_sise=9'", "did you mean '--batch_size'?"});
  expect_failure({"actorflow", "train", "--data=x"}, bad_usage,
                 {"expected one of mnist, digits", "before '--data=x'"});
  expect_failure({"actorflow", "checkpoint"}, bad_usage, {"expected one of list, show, verify;"});
  expect_failure({"actorflow", "records", "--data", ACTORFLOW_SOURCE_DIR "/README.md", "--output", "x"},
                 bad_usage, {"expected a folder of images", "README.md' is a file"});
  expect_failure({"actorflow", "records", "--data=no_such", "--output", "x"}, bad_usage,
                 {"'no_such' is not there"});
  expect_failure({"actorflow", "summaries", ACTORFLOW_SOURCE_DIR "/README.md"}, bad_usage,
                 {"README.md' is a file"});
  expect_failure({"actorflow", "train", "iris", "--data=iris.csv"}, failed_run,
                 {"nothing is there", "the project's own table is named iris"});
  expect_failure({"iris", "--data=no_such.csv"}, failed_run,
                 {"there is no data file no_such.csv", "in the current folder /"});
  expect_failure({"iris", "--data=/proc"}, failed_run, {"/proc is a folder"});
  expect_failure({"actorflow", "simulate", "--seeds=-1"}, bad_usage, {"--seeds: expected a number"});
  expect_failure({"actorflow", "train", "mnist", "--learning_rate", "fast"}, bad_usage,
                 {"--learning-rate: expected a number, got 'fast'"});
  expect_failure({"actorflow", "train", "mnist", "--learning_rate", "0"}, bad_usage,
                 {"--learning-rate: expected a number above 0, got '0'"});
  for (const char* rate : {"nan", "1e400"})
    expect_failure({"actorflow", "train", "mnist", "--learning_rate", rate}, bad_usage,
                   {"--learning-rate: expected a finite number, got '" + std::string(rate)});
  expect_failure({"actorflow", "train", "digits", "--epochs", "1e18"}, failed_run,
                 {"expected fewer than 2^63 steps", "fewer epochs"});
  expect_failure({"actorflow", "train", "mnist", "--heartbeat_timeout=-1"}, bad_usage,
                 {"expected 0 or a number above it, got '-1'"});
  expect_failure({"actorflow", "train", "mnist", "--data=no_such"}, failed_run,
                 {"no_such: expected a folder of images", "nothing is there"});
  expect_failure({"actorflow", "job"}, bad_usage, {"word_count", "actorflow job --help"});
  expect_failure({"word_count", "--memory", "lots"}, bad_usage, {"--memory", "lots"});
  expect_failure({"word_count", "--input=", "--output=counts"}, bad_usage, {"the job wants --input"});
  expect_failure({"actorflow", "train", "mnist", "--workers", "0"}, bad_usage, {"--workers"});
  expect_failure({"actorflow", "train", "mnist", "--sync", "--async"}, bad_usage, {"--sync", "--async"});
  expect_failure({"actorflow", "train", "mnist", "--staleness_bound=1"}, bad_usage,
                 {"--staleness_bound", "--async"});
  expect_failure({"actorflow", "train", "mnist", "--optimizer", "adm"}, bad_usage, {"'adm'", "adam"});
  expect_failure({"actorflow", "train", "mnist", "--data=digits", "--batch-size=5000"}, bad_usage,
                 {"--batch-size is 5000", "1437 images"});
  expect_failure(
      {"actorflow", "train", "mnist", "--data=digits", "--sync", "--workers=3", "--batch-size=480"},
      bad_usage, {"--batch-size is 480", "takes 1440 images", "there are 1437", "at most 479"});
  expect_failure({"actorflow", "train", "mnist", "--model=lenet", "--hidden=9"}, bad_usage,
                 {"--hidden", "--model=mlp", "lenet"});
  expect_failure({"actorflow", "train", "mnist", "--model=fast", "--set=channels=8,8"}, bad_usage,
                 {"three numbers for channels", "got 2"});
  expect_failure({"actorflow", "train", "mnist", "--train_steps=", "--async"}, bad_usage,
                 {"--train-steps"});
  expect_failure(
      {"trainer", "--ps_hosts=", "--worker_hosts=localhost:2223", "--job_name=ps", "--task_index=0"},
      bad_usage, {"the task's job 'ps' is not one of 'worker'"});
  expect_failure({"actorflow", "train", "cifar10"}, failed_run, {"no data_batch_1.bin", "--data"});
  expect_failure({"actorflow", "help", "bake"}, bad_usage, {"'bake'"});
  expect_failure({"trainer"}, bad_usage, {"ps_hosts"});
}

BOOST_AUTO_TEST_CASE(a_line_of_a_scenario_that_is_not_understood) {
  const Folder folder;
  write_file(folder.file("a.scenario"), "workerz = 3\n");
  expect_failure({"actorflow", "simulate", folder.file("a.scenario")}, bad_usage,
                 {"there is no option 'workerz'; a line is option = value"});
}

BOOST_AUTO_TEST_CASE(a_trace_that_cannot_be_written) {
  const Folder folder;
  const std::string file = folder.file("always.scenario"), trace = folder.file("trace.json");
  write_file(file,
             "data = digits\ntrain_steps = 50\nasync = true\nrandom_faults = 8\naccuracy_within = 0\n");
  const auto told = [&](const std::string& path) {
    Process simulate({"actorflow", "simulate", file, "--seeds", "1..20", "--trace", path});
    BOOST_TEST(simulate.wait() == failed_run, simulate.output());
    return simulate.output();
  };
  BOOST_TEST(contains(told(file + "/trace.json"), "what happened could not be written to " + file));
  BOOST_TEST(contains(told(trace), "what happened is in " + trace));
  BOOST_TEST(std::filesystem::exists(trace));
}

BOOST_AUTO_TEST_CASE(a_table_without_a_heading) {
  const Folder folder;
  std::string rows;
  for (int i = 0; i < 100; ++i) rows += i % 2 == 0 ? "1.5,2,0\n" : "-1e-3,7,1\n";
  write_file(folder.file("bare.csv"), rows);
  write_file(folder.file("headed.csv"), "100,2,even,odd\n" + rows);
  const auto warns = [&](const std::string& file) {
    Process train({"actorflow", "train", "iris", "--epochs=1", "--data", folder.file(file)});
    BOOST_TEST(train.wait() == 0, train.output());
    return contains(train.output(),
                    "the first line, '1.5,2,0', is taken for the heading, not for a row");
  };
  BOOST_TEST(warns("bare.csv"));
  BOOST_TEST(!warns("headed.csv"));
}

// At once, though some of them write at their end.
BOOST_AUTO_TEST_CASE(an_output_of_a_job_that_is_a_file) {
  const Folder folder;
  const std::string file = folder.file("letter");
  write_file(file, "dear");
  for (const char* program : {"word_count", "top_k", "inverted_index", "mean", "terasort", "k_means",
                              "logistic_regression", "histogram"})
    expect_failure({program, "--input", file, "--output", file, "--overwrite"}, bad_usage,
                   {"the output '" + file +
                    "': expected a folder that is empty or not there, but it is a "
                    "file: give another one"});
  expect_failure({"word_count", "--input", file, "--output", file + "/counts"}, bad_usage,
                 {"the output '" + file + "/counts'", "but '" + file + "' is a file"});
  BOOST_TEST(read_file(file) == "dear");
}

// Before the job runs, so no stage is reported. Root gives up the right to write everywhere.
BOOST_AUTO_TEST_CASE(an_output_of_a_job_that_may_not_be_written) {
  const Folder folder;
  const std::string closed = folder.file("closed");
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(closed, std::filesystem::perms(0555));
  std::vector<std::string> command;
  if (geteuid() == 0) command = {"/usr/bin/setpriv", "--bounding-set=-dac_override"};
  for (const std::string& word : {std::string(ACTORFLOW_BIN_DIR "/word_count"), std::string("--input"),
                                  std::string(ACTORFLOW_SOURCE_DIR "/apps/data/iris.csv"),
                                  std::string("--output"), closed + "/counts"})
    command.push_back(word);
  Process process(command);
  BOOST_TEST(process.wait() == failed_run);
  BOOST_TEST(process.output() == "word_count: error: the output folder '" + closed +
                                     "/counts' cannot be written: '" + closed +
                                     "': Permission denied; give another one\n");
}

BOOST_AUTO_TEST_CASE(numbers_that_a_job_cannot_use) {
  const Folder folder;
  write_file(folder.file("words"), "a b");
  const auto expect = [&](const std::string& flag, const char* number, const char* word) {
    expect_failure(
        {"top_k", "--input", folder.file("words"), "--output", folder.file("out"), flag, number},
        bad_usage, {flag + ": expected " + word});
  };
  expect("--k", "0", "1 or more, got 0");
  for (const char* flag : {"--split_bytes", "--spill_bytes", "--skip_bad_records", "--memory"})
    expect(flag, "-1", "0 or a number above it, got '-1'");
  BOOST_TEST(!std::filesystem::exists(folder.file("out")));
}

BOOST_AUTO_TEST_CASE(inputs_without_records) {
  const Folder folder;
  write_file(folder.file("none"), "");
  for (const char* program : {"mean", "k_means", "logistic_regression"})
    expect_failure({program, "--input", folder.file("none"), "--output", folder.file("out")}, bad_usage,
                   {"the input has no "});
  write_file(folder.file("one"), std::string(20 * sizeof(double), '\0'));
  expect_failure({"k_means", "--input", folder.file("none"), "--start", folder.file("one"), "--output",
                  folder.file("out")},
                 bad_usage, {"the input has no point"});
  expect_failure({"k_means", "--input", folder.file("one"), "--k=2", "--output", folder.file("out")},
                 bad_usage, {"--k: expected at most the number of points, 1, got 2"});
}

BOOST_AUTO_TEST_CASE(clusters_that_make_no_sense) {
  expect_failure(trainer("localhost", "localhost:2223", "ps", "0"), bad_usage,
                 {"--ps_hosts", "localhost"});
  expect_failure(trainer("localhost:2222", "localhost:2223,:x", "ps", "0"), bad_usage,
                 {"--worker_hosts", ":x"});
  expect_failure(trainer("localhost:2222", "localhost:2222", "ps", "0"), bad_usage, {"localhost:2222"});
  expect_failure(trainer("localhost:2222", "localhost:2223", "worker", "1"), bad_usage,
                 {"index 1 is outside", "worker"});
  expect_failure(trainer("localhost:2222", "localhost:2223", "master", "0"), bad_usage,
                 {"'master'", "worker"});
  expect_failure(server("no_such_file.json", "ps", "0"), bad_usage, {"no_such_file.json"});
  expect_failure(server(R"({"ps": )", "ps", "0"), bad_usage, {"cluster", "parse"});
  expect_failure(server(R"({"ps": [17]})", "ps", "0"), bad_usage, {"'ps'", "17"});
}

BOOST_AUTO_TEST_CASE(port_taken_is_named) {
  const auto address = free_addresses(1).front();
  const std::string cluster = R"({"ps": [")" + address + R"("]})";
  Process first(server(cluster, "ps", "0"));
  BOOST_REQUIRE(first.prints("listening"));
  expect_failure(server(cluster, "ps", "0"), failed_run, {address, "in use"});
}

BOOST_AUTO_TEST_CASE(an_address_that_others_reach) {
  expect_failure(server(R"({"ps": ["0.0.0.0:0"]})", "ps", "0"), failed_run, {"0.0.0.0"});
}

BOOST_AUTO_TEST_CASE(parameter_servers_that_are_not_there) {
  const auto addresses = free_addresses(2);
  const std::vector<std::string> command =
      trainer(addresses[0], addresses[1], "worker", "0", {"--connect_timeout=2", "--train_steps=1"});
  expect_failure(command, lost_task, {"/job:ps/task:0", addresses[0]});
}

BOOST_AUTO_TEST_CASE(a_chief_that_does_not_come) {
  const auto addresses = free_addresses(3);
  const std::string workers = addresses[1] + "," + addresses[2];
  Process ps(trainer(addresses[0], workers, "ps", "0"));
  expect_failure(
      trainer(addresses[0], workers, "worker", "1", {"--connect_timeout=2", "--train_steps=1"}),
      lost_task, {"chief", "/job:worker/task:0", addresses[1]});
}

// It may pass, and the others wait for this task.
BOOST_AUTO_TEST_CASE(a_disk_that_answers_a_starting_task_with_an_error) {
  const Folder folder;
  std::filesystem::create_symlink("loop", folder.file("loop"));
  const auto addresses = free_addresses(2);
  expect_failure(
      trainer(addresses[0], addresses[1], "ps", "0", {"--checkpoint_dir=" + folder.file("loop")}),
      lost_task, {folder.file("loop")});
}

BOOST_AUTO_TEST_CASE(data_that_is_missing_or_damaged) {
  const Folder folder;
  const std::vector<std::string> command = {"actorflow", "train", "mnist", "--data", folder.path()};
  expect_failure(command, failed_run, {folder.file("train-images-idx3-ubyte"), "--data"});

  for (const auto& file : std::filesystem::directory_iterator(ACTORFLOW_SOURCE_DIR "/apps/data/mnist"))
    std::filesystem::copy_file(file.path(),
                               std::filesystem::path(folder.path()) / file.path().filename());
  std::filesystem::resize_file(folder.file("train-images-idx3-ubyte.gz"), 100'000);
  expect_failure(command, failed_run, {"train-images-idx3-ubyte.gz", "truncated"});
}

BOOST_AUTO_TEST_CASE(a_cluster_that_lacks_the_devices_of_a_program) {
  const auto address = free_addresses(1).front();
  Process only(server(R"({"ps": [")" + address + R"("]})", "ps", "0"));
  BOOST_REQUIRE(only.prints("listening"));
  expect_failure({"equations", "--target", "actorflow://" + address}, failed_run,
                 {"/job:local/task:0", "/job:ps"});
}

BOOST_AUTO_TEST_CASE(scenarios_that_cannot_be) {
  const Folder folder;
  const std::string file = folder.file("small.scenario");
  write_file(file, "ps = 1\nworkers = 1\ndata = digits\ntrain_steps = 5\n");
  const auto simulate = [&file](const std::vector<std::string>& more) {
    std::vector<std::string> command{"actorflow", "simulate", file};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  };
  expect_failure(simulate({"--set", "trian_steps=3"}), bad_usage, {"small.scenario", "trian_steps"});
  expect_failure(simulate({"--set", "kinds=kill,flood"}), bad_usage,
                 {"small.scenario", "'flood'", "partition"});
  expect_failure(simulate({"--set", "faults=1s kill /job:ps/task:1"}), bad_usage,
                 {"/job:ps/task:1", "the last of 2 tasks is /job:worker/task:0"});
  expect_failure(simulate({"--real", "--twice"}), bad_usage, {"--real", "--twice"});
  expect_failure(simulate({"--set", "faults=1s partition /job:ps/task:0 /job:ps/task:0 for 1s"}),
                 bad_usage, {"partition /job:ps/task:0", "names one task twice"});
  expect_failure(simulate({"--set", "ranks=4"}), bad_usage,
                 {"'ps' is an option of training", "ranks that sum (ranks = 4)"});
  expect_failure(simulate({"--set", "tasks=4"}), bad_usage,
                 {"'tasks' is an option of a map/reduce job", "neither job nor ranks is given"});
}

BOOST_AUTO_TEST_CASE(scenarios_that_say_too_little) {
  const Folder folder;
  const std::string file = folder.file("small.scenario");
  const std::vector<std::string> simulate{"actorflow", "simulate", file};
  write_file(file, "# nothing\n");
  expect_failure(simulate, bad_usage, {"small.scenario", "the scenario says nothing", "ranks = 4"});
  write_file(file, "workers = 2\ndata = digits\n");
  expect_failure(simulate, bad_usage, {"does not say how long to train; give train_steps or epochs"});
}

BOOST_AUTO_TEST_CASE(the_largest_seed_is_simulated) {
  const Folder folder;
  const std::string file = folder.file("small.scenario");
  write_file(file, "ranks = 4\nrounds = 2\nfaults = \"100s pause /job:worker/task:0 for 1s\"\n");
  Process simulate({"actorflow", "simulate", file, "--seeds", "18446744073709551615"});
  BOOST_TEST(simulate.wait() == 0, simulate.output());
  BOOST_TEST(contains(simulate.output(), "small: 1 seeds, 0 failed"));
  BOOST_TEST(contains(simulate.output(), "1 faults more came too late, the job was over"));
}

BOOST_AUTO_TEST_SUITE_END()
