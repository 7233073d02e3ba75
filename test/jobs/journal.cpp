// The journal of a job: what is read back after crashes, damage and disks that refuse.
#include "actors/jobs/engine/journal/job_journal.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "actors/jobs/engine/job_history.h"
#include "actors/runtime/file_storage.h"
#include "dataflow/values/error.h"
#include "test/actors/support/real_calls.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(journal)

using namespace actorflow;
using test::Folder, test::read_file, test::write_file;

namespace {

const JournaledJob the_job{{"job words", "build 1"}, 100, 10};

JournaledPart part_of(std::uint64_t number) {
  PartOutcome outcome;
  outcome.result = std::vector<std::byte>(number, std::byte{7});
  outcome.files = {{"out/part-" + std::to_string(number), 1, 2, 3}};
  outcome.checksum = number;
  return {1, number, {number}, outcome};
}

// One frame after the other: the job, a stage, its parts.
void write_journal(const std::string& folder, std::uint64_t parts, std::uint64_t run = 1) {
  JobJournal journal(posix_storage(), folder, run, 0, the_job);
  journal.write();
  journal.add(JournaledStage{1, {"read_text"}});
  for (std::uint64_t i = 0; i < parts; ++i) {
    journal.add(part_of(i));
    journal.write();
  }
}

// How many parts are there: the first ones, as they were written.
std::size_t parts_of(const JobHistory& history) {
  if (history.stages.empty()) return 0;
  std::uint64_t next = 0;
  for (const auto& [number, part] : history.stages.at(1).parts) {
    BOOST_TEST(number == next++);
    BOOST_TEST(part.outcome.result.size() == number);
    BOOST_TEST(part.outcome.checksum == number);
    BOOST_TEST(part.skips == std::vector{number}, boost::test_tools::per_element());
  }
  return history.parts();
}

// Syncing fails from now on, or not.
class RefusingCalls final : public test::RealCalls {
 public:
  int sync(int file) override { return refuses ? -EIO : RealCalls::sync(file); }

  bool refuses = false;
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_written_is_read) {
  const Folder folder;
  JobJournal journal(posix_storage(), folder.path(), 1, 0, the_job);
  journal.add(JournaledOutput{"out"});
  journal.add(JournaledStage{1, {"read_text", "3 parts"}});
  journal.add(part_of(0));
  journal.write();
  const auto history = read_history(posix_storage(), folder.path());
  BOOST_REQUIRE(history.job);
  BOOST_TEST(history.job->terms == the_job.terms, boost::test_tools::per_element());
  BOOST_TEST(history.job->part_bytes == 100u);
  BOOST_TEST(history.stages.at(1).fingerprint[1] == "3 parts");
  BOOST_TEST(history.outputs.contains("out"));
  BOOST_TEST(history.files.contains("out/part-0"));
  BOOST_TEST(parts_of(history) == 1u);
}

BOOST_AUTO_TEST_CASE(where_there_is_none_there_is_no_job) {
  const Folder folder;
  BOOST_TEST(!read_history(posix_storage(), folder.path()).job);
  BOOST_TEST(!read_history(posix_storage(), folder.file("missing")).job);
}

BOOST_AUTO_TEST_CASE(every_truncation_leaves_what_was_written_before) {
  const Folder folder;
  write_journal(folder.path(), 3);
  const std::string path = folder.file("journal-00001"), whole = read_file(path);
  std::size_t most = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path, whole.substr(0, size));
    const std::size_t parts = parts_of(read_history(posix_storage(), folder.path()));
    BOOST_TEST(parts >= most);
    most = parts;
  }
  BOOST_TEST(most == 2u);
}

BOOST_AUTO_TEST_CASE(every_damaged_byte_is_found) {
  const Folder folder;
  write_journal(folder.path(), 3);
  const std::string path = folder.file("journal-00001"), whole = read_file(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    write_file(path, damaged);
    BOOST_TEST(parts_of(read_history(posix_storage(), folder.path())) < 3u);
  }
}

BOOST_AUTO_TEST_CASE(a_disk_that_refuses_costs_nothing_but_another_file) {
  const Folder folder;
  RefusingCalls calls;
  FileStorage storage(calls);
  JobJournal journal(storage, folder.path(), 1, 0, the_job);
  journal.add(JournaledStage{1, {"read_text"}});
  journal.add(part_of(0));
  journal.write();
  calls.refuses = true;
  journal.add(part_of(1));
  BOOST_CHECK_THROW(journal.write(), Error);
  BOOST_CHECK_THROW(journal.write(), Error);
  calls.refuses = false;
  journal.add(part_of(2));
  journal.write();
  BOOST_TEST(parts_of(read_history(storage, folder.path())) == 3u);
}

BOOST_AUTO_TEST_CASE(a_process_that_was_replaced_adds_nothing) {
  const Folder folder;
  JobJournal replaced(posix_storage(), folder.path(), 1, 0, the_job);
  replaced.write();
  remove_history(posix_storage(), folder.path());
  write_journal(folder.path(), 2, 2);
  replaced.add(part_of(2));
  replaced.write();
  BOOST_TEST(parts_of(read_history(posix_storage(), folder.path())) == 2u);
}

BOOST_AUTO_TEST_CASE(runs_add_up) {
  const Folder folder;
  write_journal(folder.path(), 2);
  const auto first = read_history(posix_storage(), folder.path());
  JobJournal second(posix_storage(), folder.path(), 2, first.last_file, the_job);
  second.add(part_of(2));
  second.write();
  BOOST_TEST(parts_of(read_history(posix_storage(), folder.path())) == 3u);
}

BOOST_AUTO_TEST_CASE(only_what_is_of_a_job_is_removed) {
  const Folder folder;
  write_journal(folder.path(), 1);
  write_file(folder.file("journal-00002.4711-3.tmp"), "a jour");
  write_file(folder.file(chunk_file_name(1, 0, 7, 0)), "chunks");
  write_file(folder.file(chunk_file_name(100'000, 100'000, ~std::uint64_t{0}, 12) + ".4711-3.tmp"),
             "ch");
  const std::vector<std::string> others{"journal-2026.txt",
                                        "journal-20261127",
                                        "journal-00001.bak",
                                        "my-journal-00001",
                                        "stage-plan.txt",
                                        "stage-00001-part-00000",
                                        "mine"};
  for (const auto& name : others) write_file(folder.file(name), name);
  BOOST_TEST(read_history(posix_storage(), folder.path()).unreadable.empty());
  remove_history(posix_storage(), folder.path());
  BOOST_TEST(posix_storage().list(folder.path()).size() == others.size());
  for (const auto& name : others) BOOST_TEST(read_file(folder.file(name)) == name);
}

BOOST_AUTO_TEST_CASE(a_journal_whose_beginning_is_damaged_is_no_missing_one) {
  const Folder folder;
  write_journal(folder.path(), 1);
  const std::string path = folder.file("journal-00001");
  std::string bytes = read_file(path);
  bytes[9] ^= 1;
  write_file(path, bytes);
  JobEngineOptions options;
  options.work_folder = folder.path();
  options.resume = true;
  BOOST_CHECK_EXCEPTION(open_history(posix_storage(), options), Error,
                        test::says("'" + path + "' is named like a job's journal"));
  BOOST_TEST(read_file(path) == bytes);
  options.overwrite = true;
  BOOST_TEST(!open_history(posix_storage(), options).job);
  BOOST_TEST(posix_storage().list(folder.path()).empty());
}

BOOST_AUTO_TEST_SUITE_END()
