// What a training job bears when its disk answers with errors, and what it says. The errors are real
// ones of the system calls: broken_disk/ makes them fail.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/runtime/exit_status.h"
#include "test/apps/support/process.h"
#include "test/apps/support/trainers.h"
#include "test/support/folder.h"

using namespace actorflow;
using test::Folder;
using test::Process;
using test::Trainers;

namespace {

constexpr const char *eio = "5", *eperm = "1", *emfile = "24";

struct BrokenDisk {
  std::string checkpoints() const { return folder.file("checkpoints"); }
  // From now on; see broken_disk/.
  void set(const std::string& rules) const { test::write_file(folder.file("rules"), rules); }
  std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" ACTORFLOW_BROKEN_DISK, "BROKEN_DISK=" + folder.file("rules")};
  }
  // A job in one process.
  std::vector<std::string> train(const std::string& steps, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"train", "mnist", "--data=digits", "--hidden=16",
                               "--save-checkpoint-steps=20", "--train-steps=" + steps});
    return on_this_disk(more);
  }
  // A command of `actorflow`.
  std::vector<std::string> on_this_disk(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{"/usr/bin/env"};
    for (const auto& variable : environment()) command.push_back(variable);
    command.emplace_back(ACTORFLOW_BIN_DIR "/actorflow");
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.push_back("--checkpoint-dir=" + checkpoints());
    return command;
  }
  std::int64_t newest() const {
    return load_latest_checkpoint(posix_storage(), checkpoints())->global_step;
  }

  Folder folder;
};

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    BOOST_TEST(text.find(part) != std::string::npos, text << " lacks '" << part << "'");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(disk_errors, BrokenDisk)

BOOST_AUTO_TEST_CASE(a_file_as_checkpoint_dir_is_refused_at_the_start_by_its_name) {
  test::write_file(checkpoints(), "not a folder");
  Process train(this->train("20"));
  BOOST_TEST(train.wait() == bad_usage);
  expect_parts(train.output(), {"--checkpoint_dir", "'" + checkpoints() + "' is a file"});
  Trainers trainers(
      2, 3, {"--checkpoint_dir=" + checkpoints() + "/below", "--data=digits", "--train_steps=20"});
  for (const auto& [job, task] :
       {std::pair{"ps", 0}, {"ps", 1}, {"worker", 0}, {"worker", 1}, {"worker", 2}}) {
    Process& process = trainers.start(job, task);
    BOOST_TEST(process.wait() == bad_usage);
    expect_parts(process.output(), {"--checkpoint_dir", "'" + checkpoints() + "' is a file"});
  }
}

BOOST_AUTO_TEST_CASE(
    a_report_and_summaries_that_cannot_be_written_are_refused_at_the_start_by_their_names) {
  const std::string file = folder.file("taken");
  test::write_file(file, "not a folder");
  const auto refused = [](const std::string& flag, const std::string& path) {
    Process train({"actorflow", "train", "mnist", "--data=digits", flag + "=" + path});
    BOOST_TEST(train.wait() == bad_usage);
    expect_parts(train.output(), {flag, path});
  };
  refused("--report", file + "/report.json");
  refused("--summary_dir", file);
  refused("--summary_dir", file + "/below");
}

BOOST_AUTO_TEST_CASE(a_checkpoint_dir_that_cannot_be_written_is_refused_at_the_start_by_its_name) {
  set("open /checkpoints/ 13");  // EACCES
  Process process(train("20"));
  BOOST_TEST(process.wait() == bad_usage);
  expect_parts(process.output(), {"--checkpoint_dir", "'" + checkpoints() + "'", "Permission denied"});
}

BOOST_AUTO_TEST_CASE(a_task_that_starts_outlasts_an_error_that_passes) {
  set(std::string("open /starts/ ") + eio + " 1 1");
  Process server(
      on_this_disk({"server", "--cluster", R"({"ps": ["127.0.0.1:0"]})", "--job", "ps", "--task", "0"}));
  BOOST_REQUIRE_MESSAGE(server.prints("listening"), server.output());
  expect_parts(server.output(), {"counting the starts in " + checkpoints(), "trying again"});
}

// No step is lost, and the save is not tried without a pause.
BOOST_AUTO_TEST_CASE(a_save_that_fails_is_named_and_training_goes_on) {
  for (const auto& rule :
       {std::string("fsync .safetensors ") + eio, std::string("open .safetensors ") + eperm,
        std::string("open .safetensors ") + emfile, std::string("rename .manifest ") + eio}) {
    BOOST_TEST_CONTEXT(rule) {
      const BrokenDisk disk;
      disk.set(rule);
      Process process(disk.train("1000000"));
      BOOST_REQUIRE_MESSAGE(process.prints("of step 0 was not saved, training goes on"),
                            process.output());
      BOOST_REQUIRE_MESSAGE(process.prints("/1000000  loss"), process.output());
      expect_parts(process.output(), {"cannot ", disk.checkpoints() + "/step-0"});
      BOOST_TEST(count(process.output(), "was not saved") < 10, process.output());
      BOOST_TEST(count(process.output(), "a step was lost") == 0, process.output());
      disk.set("");
      BOOST_REQUIRE_MESSAGE(process.prints("saved " + disk.checkpoints()), process.output());
      process.send_signal(SIGINT);
      BOOST_TEST(process.wait() == 130, process.output());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_late_error_costs_no_checkpoint) {
  for (const auto& rule :
       {std::string("fsync /checkpoints$ ") + eio + " 6 1", std::string("unlink .manifest$ ") + eio,
        std::string("unlink .safetensors$ ") + eperm}) {
    BOOST_TEST_CONTEXT(rule) {
      const BrokenDisk disk;
      disk.set(rule);
      Process process(disk.train("200"));
      BOOST_TEST(process.wait() == 0, process.output());
      BOOST_TEST(disk.newest() == 200);
      for (const auto& path : list_checkpoints(posix_storage(), disk.checkpoints()))
        BOOST_TEST(verify_checkpoint(posix_storage(), path).empty(), path);
      Process more(disk.train("220"));
      BOOST_TEST(more.wait() == 0, more.output());
      expect_parts(more.output(), {"restored step 200"});
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_is_named_and_the_one_before_it_is_taken_unless_strict) {
  Process first(train("60"));
  BOOST_REQUIRE_MESSAGE(first.wait() == 0, first.output());
  const auto manifest =
      read_manifest(posix_storage(), *latest_checkpoint(posix_storage(), checkpoints()));
  std::filesystem::remove(checkpoints() + "/" + manifest.files[0].name);
  Process strict(train("80", {"--strict"}));
  BOOST_TEST(strict.wait() == failed_run);
  expect_parts(strict.output(), {manifest.files[0].name, "missing"});
  Process lenient(train("80"));
  BOOST_TEST(lenient.wait() == 0, lenient.output());
  expect_parts(lenient.output(), {manifest.files[0].name, "fell back to", "restored step 40"});
  BOOST_TEST(newest() == 80);
}

BOOST_AUTO_TEST_CASE(when_the_chief_fails_every_task_ends_with_its_reason) {
  set(std::string("rename .manifest ") + eio);
  Trainers trainers(2, 3,
                    {"--checkpoint_dir=" + checkpoints(), "--data=digits", "--train_steps=50",
                     "--sync_replicas", "--connect_timeout=5"},
                    environment());
  trainers.start_all();
  for (const auto& [job, task] :
       {std::pair{"worker", 0}, {"worker", 1}, {"worker", 2}, {"ps", 0}, {"ps", 1}}) {
    Process& process = trainers.task(job, task);
    BOOST_TEST(process.wait() == failed_run, process.output());
    expect_parts(process.output(), {"the last checkpoint, of step 50", "Input/output error"});
  }
  expect_parts(trainers.task("ps", 0).output(), {"the chief failed"});
}

BOOST_AUTO_TEST_SUITE_END()
