// `actorflow train`: any data, any strategy, here or as a task of a cluster.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <utility>

#include "actors/runtime/exit_status.h"
#include "test/apps/support/cifar10_images.h"
#include "test/apps/support/process.h"
#include "test/apps/support/tf_config_cluster.h"
#include "test/apps/support/trainers.h"
#include "test/support/folder.h"
#include "test/support/ports.h"
#include "test/support/saved_steps.h"

BOOST_AUTO_TEST_SUITE(train_command)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Runs `actorflow train` and returns what it printed.
std::string train(std::vector<std::string> arguments, int status = 0) {
  arguments.insert(arguments.begin(), {"actorflow", "train"});
  Process process(arguments);
  BOOST_TEST(process.wait() == status, process.output());
  return process.output();
}

std::string weights_in(const std::string& output) {
  const auto found = output.find("weights ");
  BOOST_TEST_REQUIRE(found != std::string::npos, output);
  return output.substr(found, 24);
}

const std::vector<std::string> workers_of_digits{"digits", "--train-steps=1500",
                                                 "--strategy=multi_worker"};

// kill -9 of a worker, and of the chief, each with another process in its place. Returns what the last
// chief has printed.
std::string train_despite_kills(const std::vector<std::string>& flags) {
  const Folder folder;
  std::vector<std::string> command{ACTORFLOW_BIN_DIR "/actorflow", "train"};
  command.insert(command.end(), workers_of_digits.begin(), workers_of_digits.end());
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(),
                 {"--checkpoint_dir", folder.file("saved"), "--save-checkpoint-steps=100"});
  TfConfigCluster cluster(command, {{"worker", 3}});
  cluster.start_all();
  for (const auto& [step, worker] : {std::pair{200, 2}, {600, 0}}) {
    BOOST_REQUIRE_MESSAGE(comes_to_step(folder.file("saved"), step),
                          cluster.process("worker", 0).output());
    cluster.replace("worker", worker);
  }
  cluster.expect_all_end(0);
  return cluster.process("worker", 0).output();
}

// The weights are those of one process that nobody disturbs.
void expect_kills_change_nothing(const std::vector<std::string>& flags) {
  auto alone = workers_of_digits;
  alone.emplace_back("--workers=3");
  BOOST_TEST(weights_in(train_despite_kills(flags)) == weights_in(train(alone)));
}

// By workers that are processes, whose weights are those of one process. Returns what that prints.
std::string train_as_tasks(const std::vector<std::string>& job, int workers = 3) {
  auto alone = job;
  alone.push_back("--workers=" + std::to_string(workers));
  const std::string expected = train(alone);
  std::vector<std::string> command{ACTORFLOW_BIN_DIR "/actorflow", "train"};
  command.insert(command.end(), job.begin(), job.end());
  TfConfigCluster cluster(command, {{"worker", workers}});
  cluster.start_all();
  cluster.expect_all_end(0);
  BOOST_TEST(weights_in(cluster.process("worker", 0).output()) == weights_in(expected));
  return expected;
}

// In percent.
double test_accuracy_in(const std::string& output) {
  constexpr std::string_view before = "test accuracy ";
  const auto at = output.find(before);
  BOOST_TEST_REQUIRE(at != std::string::npos, output);
  return std::stod(output.substr(at + before.size()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(flowers_are_learnt_from_a_table) {
  const Folder folder;
  const std::string report = folder.file("report.json");
  train({"iris", "--report", report, "--plots", folder.file("plots")});
  BOOST_TEST(std::stod(report_value(read_file(report), "test_accuracy")) > 0.9);
  for (const char* plot : {"loss.svg", "accuracy.svg", "confusion.svg"})
    BOOST_TEST(std::filesystem::exists(folder.file("plots") + "/" + plot), plot);
}

BOOST_AUTO_TEST_CASE(where_the_variables_are_does_not_change_what_is_learnt) {
  const std::vector<std::string> job{"digits", "--train-steps=30", "--workers=2"};
  const auto weights = [&job](const std::string& strategy) {
    auto arguments = job;
    arguments.push_back("--strategy=" + strategy);
    return weights_in(train(arguments));
  };
  const std::string expected = weights("parameter_server");
  BOOST_TEST(weights("mirrored") == expected);
  BOOST_TEST(weights("multi_worker") == expected);
  auto divided = job;
  divided.insert(divided.end(), {"--strategy=multi_worker", "--sharded_optimizer"});
  BOOST_TEST(weights_in(train(divided)) == expected);
}

BOOST_AUTO_TEST_CASE(as_the_tasks_of_a_cluster_it_learns_the_same) {
  train_as_tasks({"digits", "--train-steps=30", "--strategy=multi_worker"});
}

BOOST_AUTO_TEST_CASE(flags_of_workers_alone_name_a_cluster_without_parameter_servers) {
  std::vector<std::string> job{"digits", "--train-steps=20", "--strategy=multi_worker"};
  auto here = job;
  here.emplace_back("--workers=1");
  const std::string expected = weights_in(train(here));
  job.insert(job.end(),
             {"--worker_hosts=" + free_addresses(1)[0], "--job_name=worker", "--task_index=0"});
  BOOST_TEST(weights_in(train(job)) == expected);
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_killed_changes_nothing_that_workers_learn_together) {
  expect_kills_change_nothing({});
}

BOOST_AUTO_TEST_CASE(a_killed_worker_of_a_sharded_optimizer_changes_nothing_that_is_learnt) {
  expect_kills_change_nothing({"--sharded_optimizer"});
}

BOOST_AUTO_TEST_CASE(workers_that_step_alone_agree_on_what_they_learn) {
  const std::string output =
      train_as_tasks({"digits", "--strategy=multi_worker", "--train-steps=201", "--local_steps=20"});
  BOOST_TEST(test_accuracy_in(output) > 90);
}

BOOST_AUTO_TEST_CASE(workers_that_step_alone_go_on_when_one_is_killed) {
  const std::string output = train_despite_kills({"--local_steps=7"});
  BOOST_TEST(output.find("after 1500 ") != std::string::npos, output);
  BOOST_TEST(test_accuracy_in(output) > 90);
}

// Each would wait for a group of ranks of its own.
BOOST_AUTO_TEST_CASE(workers_with_lists_of_different_lengths_are_refused) {
  const auto three = free_addresses(3);
  const std::string two = three[0] + "," + three[1];
  const auto worker = [](int index, const std::string& hosts) {
    return std::vector<std::string>{"actorflow",
                                    "train",
                                    "digits",
                                    "--strategy=multi_worker",
                                    "--job_name=worker",
                                    "--task_index=" + std::to_string(index),
                                    "--worker_hosts=" + hosts};
  };
  Process chief(worker(0, two)), other(worker(1, two + "," + three[2]));
  for (Process* process : {&chief, &other}) {
    BOOST_TEST(process->wait() == 1, process->output());
    BOOST_TEST(process->output().find("task:1 has 3, /job:worker/task:0 has 2") != std::string::npos,
               process->output());
  }
}

BOOST_AUTO_TEST_CASE(workers_that_differ_in_how_they_agree_are_refused) {
  const auto refused = [](const char* of_chief, const char* of_worker, std::vector<std::string> words) {
    TfConfigCluster cluster(
        {ACTORFLOW_BIN_DIR "/actorflow", "train", "digits", "--strategy=multi_worker"}, {{"worker", 2}});
    cluster.start("worker", 0, {of_chief});
    cluster.start("worker", 1, {of_worker});
    Process& worker = cluster.process("worker", 1);
    BOOST_TEST(worker.wait() == 1, worker.output());
    for (const auto& word : words)
      BOOST_TEST(worker.output().find(word) != std::string::npos, worker.output());
  };
  refused("--local_steps=4", "--local_steps=5", {"4 local steps", "5 local steps"});
  refused("--compression=bfloat16", "--compression=none", {"bfloat16 gradients", "other settings"});
}

BOOST_AUTO_TEST_CASE(what_a_step_takes_and_its_rate_are_said) {
  const auto said = [](const std::vector<std::string>& more) {
    std::vector<std::string> command{"digits", "--train-steps=2", "--workers=4"};
    command.insert(command.end(), more.begin(), more.end());
    return train(command);
  };
  const std::string plain = said({}), muon = said({"--optimizer=muon", "--batch_size=16"});
  BOOST_TEST(
      plain.find("a step takes 256 images, 64 of each of 4 workers; the learning rate is 0.001\n") !=
          plain.npos,
      plain);
  BOOST_TEST(muon.find("a step takes 64 images, 16 of each of 4 workers; the learning rate is 0.02 of "
                       "matrices and 0.001 of other variables\n") != muon.npos,
             muon);
}

BOOST_AUTO_TEST_CASE(ctrl_c_amid_records_leaves_no_file) {
  const Folder folder;
  Process records({"actorflow", "records", "--data=mnist", "--output", folder.path()});
  BOOST_TEST(records.prints("writing 70000 images"), records.output());
  records.send_signal(SIGINT);
  BOOST_TEST(records.wait() == interrupted_run, records.output());
  BOOST_TEST(std::filesystem::is_empty(folder.path()));
}

BOOST_AUTO_TEST_CASE(record_files_are_trained_on_as_what_they_were_made_of) {
  const Folder folder;
  Process records(
      {"actorflow", "records", "--data=digits", "--shards=2", "--output", folder.file("records")});
  BOOST_TEST(records.wait() == 0, records.output());
  BOOST_TEST(records.prints("images to train on"), records.output());
  const std::string of_files = weights_in(train({"digits", "--train-steps=20"}));
  BOOST_TEST(weights_in(train({"digits", "--train-steps=20", "--data", folder.file("records")})) ==
             of_files);
}

// A text of two letters by turns is foretold after a few steps.
BOOST_AUTO_TEST_CASE(a_text_is_learnt_and_continued) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 500; ++i) text += "ab";
  write_file(folder.file("t.txt"), text);
  train({"shakespeare", "--data", folder.file("t.txt"), "--set=context=8", "--set=layers=1",
         "--set=heads=2", "--set=width=16", "--train-steps=100", "--learning-rate=0.01",
         "--checkpoint_dir", folder.file("saved"), "--plots", folder.file("plots")});
  const std::string confusion = read_file(folder.file("plots/confusion.svg"));
  BOOST_TEST(confusion.find(">a</text>") != std::string::npos, confusion);
  const auto sample = [&](const std::vector<std::string>& more, int status = 0) {
    std::vector<std::string> command{"actorflow", "sample", "--checkpoint", folder.file("saved")};
    command.insert(command.end(), more.begin(), more.end());
    Process process(command);
    BOOST_TEST(process.wait() == status, process.output());
    return process.output();
  };
  BOOST_TEST(sample({"--prompt=aba", "--length=6", "--temperature=0"}) == "ababababa\n");
  BOOST_TEST(sample({"--prompt=x"}, 2).find("'x'") != std::string::npos);
}

// Flips and crops, a schedule, smoothed labels, filters computed from the images.
BOOST_AUTO_TEST_CASE(a_recipe_trains_images_wherever_the_variables_are) {
  const Folder folder;
  write_file(folder.file("data_batch_1.bin"), images_as_cifar10(64));
  write_file(folder.file("test_batch.bin"), images_as_cifar10(20));
  const auto run = [&folder](const char* strategy) {
    return weights_in(train({"cifar10", "--data", folder.path(), "--train-steps=6", "--batch-size=16",
                             "--workers=2", std::string("--strategy=") + strategy}));
  };
  BOOST_TEST(run("mirrored") == run("parameter_server"));
}

BOOST_AUTO_TEST_CASE(missing_files_of_training_images_are_named) {
  const Folder folder;
  for (const char* file : {"data_batch_1.bin", "data_batch_4.bin"})
    write_file(folder.file(file), images_as_cifar10(16));
  write_file(folder.file("test_batch.bin"), images_as_cifar10(4));
  const std::string output =
      train({"cifar10", "--data", folder.path(), "--train-steps=1", "--batch-size=16"});
  BOOST_TEST(output.find("expected 5 files of CIFAR-10's training images, got 2: without "
                         "data_batch_2.bin, data_batch_3.bin, data_batch_5.bin") != output.npos,
             output);
}

BOOST_AUTO_TEST_CASE(four_processes_learn_images_as_four_replicas_do) {
  const Folder folder;
  write_file(folder.file("data_batch_1.bin"), images_as_cifar10(160));
  write_file(folder.file("test_batch.bin"), images_as_cifar10(20));
  train_as_tasks({"cifar10", "--data", folder.path(), "--model=resnet20", "--batch-size=32",
                  "--train-steps=2", "--strategy=multi_worker"},
                 4);
}

BOOST_AUTO_TEST_CASE(flags_that_do_not_fit_the_strategy) {
  const auto refused = [](std::vector<std::string> arguments, const std::vector<std::string>& words) {
    arguments.insert(arguments.begin(), "digits");
    const std::string output = train(arguments, bad_usage);
    for (const auto& word : words)
      BOOST_TEST(output.find(word) != std::string::npos, output << " lacks " << word);
  };
  refused({"--strategy=mirrored", "--ps=2"}, {"--ps is 2", "--strategy=mirrored"});
  refused({"--strategy=one_device", "--workers=2"}, {"--workers is 2", "--strategy=one_device"});
  refused({"--strategy=multi_worker", "--async"}, {"--async", "--strategy=multi_worker"});
  refused({"--sharded_optimizer"}, {"--sharded_optimizer", "--strategy=multi_worker"});
  refused({"--compression=bfloat16"}, {"--compression", "--strategy=multi_worker"});
  refused({"--local_steps=4"}, {"--local_steps", "--strategy=multi_worker"});
  refused({"--strategy=mirrored", "--local_steps=4", "--sharded_optimizer"},
          {"--local_steps", "--sharded_optimizer"});
  refused({"--strategy=mirrored", "--outer_momentum=0.5"}, {"--outer_momentum", "--local_steps=N"});
  refused({"--set", "hidden"}, {"key=value"});
  refused({"--set", "hidden=8", "--hidden=9"}, {"--set hidden", "--hidden"});
  refused({"--set=width=8"}, {"'width'", "hidden=256"});
}

BOOST_AUTO_TEST_CASE(a_folder_with_checkpoints_of_another_model_is_refused) {
  const Folder folder;
  const std::vector<std::string> first{"digits", "--train-steps=10", "--set=hidden=8",
                                       "--checkpoint_dir", folder.path()};
  train(first);
  auto second = first;
  second[2] = "--set=hidden=16";
  const std::string output = train(second, 2);
  for (const char* word : {"--checkpoint_dir", "hidden=8", "hidden=16", "another folder"})
    BOOST_TEST(output.find(word) != std::string::npos, output << " lacks " << word);
  auto more = first;
  more[1] = "--train-steps=20";
  BOOST_TEST(train(more).find("after 20 ") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
