#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "schema/parquet/parquet_file.h"
#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(output_folders)

using namespace actorflow;
using test::has;
using test::small_parts;

BOOST_AUTO_TEST_CASE(an_output_folder_that_is_not_empty_is_refused_before_anything_is_computed) {
  const test::Folder folder;
  JobOptions options = small_parts();
  std::atomic<int> computed = 0;
  const auto write = [&] {
    Job job(options);
    job.from(std::vector<int>{1, 2, 3})
        .map([&computed](int n) {
          ++computed;
          return n;
        })
        .write_csv(folder.file("out"));
  };
  write();
  BOOST_TEST(computed == 3);
  const Status status = test::status_of(write);
  BOOST_TEST((status.code == Code::already_exists), status.to_string());
  BOOST_TEST(has(status, "'" + folder.file("out") + "' is not empty"), status.message);
  BOOST_TEST(computed == 3);
  // Without _SUCCESS it is what a lost job has left.
  BOOST_TEST(!has(status, "has not ended"));
  options.resume = true;
  options.work_folder = folder.file("work");
  BOOST_TEST(has(test::status_of(write), "nothing to resume: if it was this one, all is done"));
  options.resume = false;
  options.work_folder.clear();
  std::filesystem::remove(folder.file("out/_SUCCESS"));
  BOOST_TEST(has(test::status_of(write), "has not ended, which --overwrite removes"));
  options.overwrite = true;
  write();
  BOOST_TEST(computed == 6);

  test::write_file(folder.file("out/letter.txt"), "dear");
  BOOST_TEST(has(test::status_of(write), "'letter.txt'"));
  BOOST_TEST(read_text_file(folder.file("out/letter.txt")).value() == "dear");
}

BOOST_AUTO_TEST_CASE(what_a_job_reads_is_not_overwritten_under_any_name) {
  const test::Folder folder;
  const std::string output = folder.file("out");
  Job(small_parts()).from(std::vector<std::string>{"a", "b"}).write_text(output);
  const auto before = test::files_of(output);
  std::filesystem::create_directory_symlink(output, folder.file("link"));
  JobOptions options = small_parts();
  options.overwrite = true;
  for (const std::string name : {"out", "out/", "./out", "out/../out/part-*", "link"}) {
    const Job job(options);
    const auto lines = job.read_text(folder.file(name));
    const Status status = test::status_of([&] { lines.write_text(output); });
    BOOST_TEST((status.code == Code::invalid_argument), name << ": " << status.to_string());
    BOOST_TEST(has(status, "'" + output + "' has files that the job reads"), status.message);
    BOOST_TEST((test::files_of(output) == before));
    lines.write_text(folder.file("copy"));
  }
}

BOOST_AUTO_TEST_CASE(a_job_does_not_overwrite_a_result_of_its_own) {
  const test::Folder folder;
  JobOptions options = small_parts();
  options.overwrite = true;
  const Job job(options);
  job.from(std::vector<int>{1}).write_csv(folder.file("out"));
  const Status status =
      test::status_of([&] { job.from(std::vector<int>{2}).write_csv(folder.file("./out")); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(has(status, "has written a result to '" + folder.file("./out") + "' already"),
             status.message);
  BOOST_TEST(test::files_of(folder.file("out")).at("part-00000-of-00001.csv") == "1\n");
}

BOOST_AUTO_TEST_CASE(an_output_that_is_a_file_is_refused_before_anything_is_computed) {
  const test::Folder folder;
  test::write_file(folder.file("letter"), "dear");
  std::atomic<int> computed = 0;
  const auto check_refused = [&](const std::string& output, const std::string& what, const auto& write) {
    JobOptions options = small_parts();
    options.overwrite = true;
    const Job job(options);
    const auto numbers = job.from(std::vector<int>{1, 2, 3}).map([&computed](int n) {
      ++computed;
      return n;
    });
    const Status status = test::status_of([&] { write(numbers, output); });
    BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
    BOOST_TEST(
        has(status, "the output '" + output + "': expected a folder that is empty or not there, but " +
                        what + " a file: give another one"),
        status.message);
  };
  for (const std::string name : {"letter", "letter/sums"}) {
    const std::string output = folder.file(name),
                      what = name == "letter" ? "it is" : "'" + folder.file("letter") + "' is";
    check_refused(output, what, [](const auto& n, const auto& to) { n.write_csv(to); });
    check_refused(output, what, [](const auto& n, const auto& to) { n.write_records(to); });
    check_refused(output, what, [](const auto& n, const auto& to) {
      n.map([](int i) { return std::to_string(i); }).write_text(to);
    });
    if (reads_parquet())
      check_refused(output, what, [](const auto& n, const auto& to) { n.write_parquet(to); });
  }
  BOOST_TEST(computed == 0);
  BOOST_TEST(read_text_file(folder.file("letter")).value() == "dear");
}

BOOST_AUTO_TEST_SUITE_END()
