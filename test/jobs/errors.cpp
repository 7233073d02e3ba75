#include <sys/stat.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(errors)

using namespace actorflow;
using test::has;
using test::small_parts;

namespace {

std::int64_t number(std::string_view text) {
  if (text == "bad") throw std::out_of_range("no number");
  return std::stoll(std::string(text));
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_function_throws_names_operator_file_byte_and_record) {
  const test::Folder folder;
  test::write_file(folder.file("in.txt"), "1\n22\nbad\n4\n");
  Job job(small_parts());
  const Status status =
      test::status_of([&] { job.read_text(folder.file("in.txt")).map(number).count(); });
  BOOST_TEST((status.code == Code::unknown), status.to_string());
  BOOST_TEST(has(status, "map at errors.cpp:"), status.message);
  BOOST_TEST(has(status, "threw: no number"));
  BOOST_TEST(has(status, "file '" + folder.file("in.txt") + "' at byte 5: \"bad\""), status.message);
}

BOOST_AUTO_TEST_CASE(a_function_behind_another_is_the_one_that_is_named) {
  Job job(small_parts());
  const auto mapped =
      job.from(std::vector<std::string>{"1", "bad"}).map([](const std::string& text) { return text; });
  const Status in_flat_map = test::status_of([&] {
    mapped.flat_map([](const std::string& text) { return std::vector{number(text)}; }).count();
  });
  BOOST_TEST(has(in_flat_map, "flat_map at errors.cpp"), in_flat_map.message);
  const Status in_fold = test::status_of([&] {
    mapped.flat_map([](const std::string& text) {
            return std::vector{text, text};
          })
        .map([](std::string text) {
          return std::pair{1, std::move(text)};
        })
        .reduce_by_key(
            [](const std::string&, const std::string& b) { return std::to_string(number(b)); })
        .count();
  });
  BOOST_TEST(has(in_fold, "reduce_by_key at errors.cpp"), in_fold.message);
}

BOOST_AUTO_TEST_CASE(what_a_function_of_a_key_throws_is_treated_like_any_other) {
  const test::Folder folder;
  test::write_file(folder.file("in.txt"), "1\n22\nbad\n4\n");
  JobOptions options = small_parts();
  options.partitions = 3;
  for (const bool sorts : {true, false}) {
    const std::string op = sorts ? "sort_by at errors.cpp:" : "top at errors.cpp:";
    const auto result_of = [&](const Job& job) {
      const auto lines = job.read_text(folder.file("in.txt"));
      return sorts ? lines.sort_by(number).collect() : lines.top(9, number).collect();
    };
    options.skip_bad_records = 0;
    const Status status = test::status_of([&] { result_of(Job(options)); });
    BOOST_TEST(has(status, op), status.message);
    BOOST_TEST(has(status, "threw: no number"), status.message);
    BOOST_TEST(has(status, "file '" + folder.file("in.txt") + "' at byte 5: \"bad\""), status.message);
    options.skip_bad_records = 1;
    const Job job(options);
    BOOST_TEST(result_of(job).size() == 3u);
    BOOST_TEST(job.counters()["skipped records"] == 1);
  }
}

BOOST_AUTO_TEST_CASE(bad_records_are_skipped_up_to_their_number_and_leave_nothing_behind) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(i % 250 == 7 ? "bad" : "1");
  JobOptions options = small_parts();
  options.skip_bad_records = 4;
  Job job(options);
  const Counter seen = job.counter("seen");
  // Half of a bad record is given away before it throws; it must not count.
  const auto numbers = job.from(texts, 3).flat_map([seen](const std::string& text) {
    seen.add();
    return std::views::iota(0, 2) |
           std::views::transform([text](int i) { return i == 0 ? 1 : number(text); });
  });
  BOOST_TEST(numbers.count() == 2u * 996);
  BOOST_TEST(job.counters()["skipped records"] == 4);
  BOOST_TEST(job.counters()["seen"] == 996);

  options.skip_bad_records = 3;
  options.threads = 1;
  Job strict(options);
  const Status status = test::status_of([&] { strict.from(texts, 3).map(number).count(); });
  BOOST_TEST(has(status, "no number"), status.message);
  BOOST_TEST(has(status,
                 "; 3 bad records were left out before it, which is all that --skip_bad_records "
                 "3 allows: record 7 of part 0 of from, map, count, record 257 of part 0 of "
                 "from, map, count, record 174 of part 1 of from, map, count"),
             status.message);
}

BOOST_AUTO_TEST_CASE(one_bad_record_too_many_names_where_the_first_of_them_are) {
  const test::Folder folder;
  const std::string file = folder.file("in.txt");
  test::write_file(file, "1\nbad\nbad\n2\nbad\nbad\nbad\n");
  JobOptions options = small_parts();
  options.split_bytes = 1 << 20;
  for (const std::uint64_t allowed : {0, 1, 4}) {
    options.skip_bad_records = allowed;
    const Status status = test::status_of([&] { Job(options).read_text(file).map(number).count(); });
    const auto places = status.message.find("; " + std::to_string(allowed) + " bad record");
    const std::string said = places == std::string::npos ? "" : status.message.substr(places);
    BOOST_TEST(said == (allowed == 0   ? ""
                        : allowed == 1 ? "; 1 bad record was left out before it, which is all that "
                                         "--skip_bad_records 1 allows: file '" +
                                             file + "' at byte 2"
                                       : "; 4 bad records were left out before it, which is all that "
                                         "--skip_bad_records 4 allows: file '" +
                                             file + "' at byte 2, file '" + file +
                                             "' at byte 6, file '" + file + "' at byte 12, ..."));
  }
}

BOOST_AUTO_TEST_CASE(bad_records_are_skipped_where_they_were_kept_and_shuffled) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(i % 250 == 7 ? "bad" : std::to_string(i));
  JobOptions options = small_parts();
  options.skip_bad_records = 8;
  Job job(options);
  const auto sum = [](const auto& of) {
    return of.map(number).fold(std::int64_t{0}, std::plus<>(), std::plus<>());
  };
  const std::int64_t expected = 999 * 500 - (7 + 257 + 507 + 757);
  const auto input = job.from(texts, 3);
  BOOST_TEST(sum(input.cache()) == expected);
  BOOST_TEST(sum(input.partition_by(5)) == expected);
  BOOST_TEST(job.counters()["skipped records"] == 8);
}

BOOST_AUTO_TEST_CASE(a_row_that_does_not_fit_names_its_column) {
  const test::Folder folder;
  test::write_file(folder.file("in.csv"), "a,1\nb,x\n");
  Job job(small_parts());
  const Status status = test::status_of(
      [&] { job.read_csv<std::pair<std::string, std::int64_t>>(folder.file("in.csv")).count(); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(has(status, "column 2: expected int64, got 'x'"), status.message);
  BOOST_TEST(has(status, "at byte 4: \"b,x\""), status.message);
}

BOOST_AUTO_TEST_CASE(an_input_that_can_be_read_once_only_is_refused) {
  const test::Folder folder;
  BOOST_TEST_REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  Job job(small_parts());
  for (const std::string& path : {folder.file("pipe"), std::string("/dev/null")}) {
    const Status status = test::status_of([&] { job.read_text(path); });
    BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
    BOOST_TEST(has(status, "'" + path + "' is neither a file nor a folder"), status.message);
  }
}

BOOST_AUTO_TEST_CASE(an_input_that_is_not_there_is_named) {
  const test::Folder folder;
  Job job(small_parts());
  for (const std::string name : {"nothing.txt", "*.txt", "folder/"}) {
    const Status status = test::status_of([&] { job.read_text(folder.file(name)); });
    BOOST_TEST((status.code == Code::not_found), status.to_string());
    BOOST_TEST(has(status, "there is no file for the input '" + folder.file(name) + "'"),
               status.message);
  }
  BOOST_TEST((test::status_of([&] { job.read_text(""); }).code == Code::invalid_argument));
  BOOST_TEST(has(test::status_of([&] { job.read_text("a*/b"); }), "in the last component only"));
}

BOOST_AUTO_TEST_CASE(files_of_fixed_records_that_are_cut_are_refused) {
  const test::Folder folder;
  test::write_file(folder.file("in.bin"), std::string(8 * 10 + 3, 'x'));
  Job job(small_parts());
  const Status status =
      test::status_of([&] { job.read_records<std::int64_t>(folder.file("in.bin")).count(); });
  BOOST_TEST((status.code == Code::data_loss), status.to_string());
  BOOST_TEST(has(status, "the file has 83 bytes or more and ends 3 bytes into a record"),
             status.message);
}

BOOST_AUTO_TEST_CASE(files_without_their_headers_were_cut) {
  const test::Folder folder;
  const Job job(small_parts());
  const auto expect_cut = [&](const std::string& name, const auto& read) {
    test::write_file(folder.file(name), "");
    const Status status = test::status_of([&] { read(folder.file(name)); });
    BOOST_TEST((status.code == Code::data_loss), status.to_string());
    BOOST_TEST(has(status, "'" + folder.file(name) + "' has no bytes"), status.message);
  };
  const auto read_text = [&](const std::string& path) { job.read_text(path); };
  for (const char* name : {"a.gz", "a.csv.zst", "a.lz4"}) expect_cut(name, read_text);
  expect_cut("a.npy", [&](const std::string& path) { job.read_npy<double>(path); });
  expect_cut("a.idx", [&](const std::string& path) { job.read_idx<std::uint8_t>(path); });
  test::write_file(folder.file("a.txt"), "");
  BOOST_TEST(job.read_text(folder.file("a.txt")).count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_job_that_fails_leaves_no_success_and_no_half_file) {
  const test::Folder folder;
  Job job(small_parts());
  const auto texts = job.from(std::vector<std::string>{"1", "2", "bad"}, 3);
  BOOST_TEST(!test::status_of([&] { texts.map(number).write_csv(folder.file("out")); }).ok());
  for (const auto& [name, text] : test::files_of(folder.file("out"))) {
    BOOST_TEST(name.ends_with("-of-00003.csv"), name);
    BOOST_TEST((text == "1\n" || text == "2\n"));
  }
}

BOOST_AUTO_TEST_CASE(a_job_that_is_stopped_fails_as_cancelled) {
  Job job(small_parts());
  const Status status = test::status_of([&] {
    job.from(std::vector<int>(1000), 100)
        .map([&job](int n) {
          job.stop();
          return n;
        })
        .count();
  });
  BOOST_TEST((status.code == Code::cancelled), status.to_string());
}

BOOST_AUTO_TEST_CASE(a_part_ends_when_its_job_is_stopped_whatever_it_does) {
  constexpr std::size_t many = 100'000, few = 1000;
  const std::vector<int> numbers(many);
  Job from_values(small_parts());
  std::atomic<std::size_t> passed = 0;
  BOOST_TEST(!test::status_of([&] {
                from_values.from(numbers)
                    .map([&](int n) {
                      from_values.stop();
                      ++passed;
                      return n;
                    })
                    .count();
              }).ok());
  BOOST_TEST(passed < few);

  Job joins(small_parts());  // every number of one side with every one of the other
  const auto pairs = joins.from(std::vector<int>(few)).key_by([](int) { return 1; });
  passed = 0;
  BOOST_TEST(!test::status_of([&] {
                pairs.join(pairs)
                    .filter([&](const auto&) {
                      joins.stop();
                      return ++passed > 0;
                    })
                    .count();
              }).ok());
  BOOST_TEST(passed < few);
}

BOOST_AUTO_TEST_SUITE_END()
