// Outputs with a folder for each value of a column.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(divided_outputs)

using namespace actorflow;
using test::numbers;
using test::small_parts;
using test::status_of;

namespace {

using Files = std::map<std::string, std::string>;

// The files of a folder's folders, as "country=DE/part-00000-of-00003.csv".
Files files_below(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "_SUCCESS")
      files[std::filesystem::relative(entry.path(), folder)] =
          read_text_file(entry.path().string()).value();
  return files;
}

// The lines of each folder, those of its files one behind the other.
std::map<std::string, std::vector<std::string>> lines_by_folder(const std::string& folder) {
  std::map<std::string, std::vector<std::string>> lines;
  for (const auto& [name, text] : files_below(folder)) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      lines[name.substr(0, name.find('/'))].push_back(line);
  }
  return lines;
}

// As many open files as there are, and some.
class FewFiles {
 public:
  FewFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const auto open = std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                    std::filesystem::directory_iterator());
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(open) + 90;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

BOOST_AUTO_TEST_CASE(each_key_has_a_folder_with_its_values_in_order) {
  const test::Folder folder;
  Job job(small_parts());
  const std::vector<std::string> countries{"DE", "AT", "a/b", "", "50 %=half", "../up", "Köln"};
  const auto country_of = [countries](std::int64_t n) { return countries[n % countries.size()]; };
  const auto pairs = job.from(numbers(1000), 7).key_by(country_of);
  pairs.write_csv_by_key(folder.file("out"), "country");

  std::map<std::string, std::vector<std::string>> expected;
  const std::vector<std::string> names{"country=DE",
                                       "country=AT",
                                       "country=a%2Fb",
                                       "country=__HIVE_DEFAULT_PARTITION__",
                                       "country=50 %25%3Dhalf",
                                       "country=..%2Fup",
                                       "country=Köln"};
  for (std::int64_t n = 0; n < 1000; ++n)
    expected[names[static_cast<std::size_t>(n) % names.size()]].push_back(std::to_string(n));
  BOOST_TEST((lines_by_folder(folder.file("out")) == expected));
  const auto success = read_text_file(folder.file("out/_SUCCESS")).value();
  BOOST_TEST(success.find("\"country=DE/part-00000-of-00007.csv\"") != success.npos, success);
  // What was written is read again by value.
  BOOST_TEST(job.read_csv<std::int64_t>(folder.file("out/country=DE/")).count() == 143u);
}

BOOST_AUTO_TEST_CASE(numbers_name_folders_and_text_and_records_are_written_too) {
  const test::Folder folder;
  Job job(small_parts());
  const auto pairs = job.from(numbers(20), 2).key_by([](std::int64_t n) { return n % 3 - 1; });
  pairs.write_records_by_key(folder.file("records"), "rest");
  BOOST_TEST(job.read_records<std::int64_t>(folder.file("records/rest=-1/")).collect() ==
                 (std::vector<std::int64_t>{0, 3, 6, 9, 12, 15, 18}),
             boost::test_tools::per_element());
  pairs.map_values([](std::int64_t n) { return std::to_string(n); })
      .write_text_by_key(folder.file("texts"), "rest", {.compression = Compression::gzip});
  BOOST_TEST(files_below(folder.file("texts")).contains("rest=1/part-00001-of-00002.txt.gz"));
  BOOST_TEST(job.read_text(folder.file("texts/rest=1/")).count() == 6u);
}

BOOST_AUTO_TEST_CASE(so_is_parquet) {
  const test::Folder folder;
  Job job(small_parts());
  const auto pairs = job.from(numbers(20), 2).key_by([](std::int64_t n) { return n % 3; });
  const Status status = status_of(
      [&] { pairs.write_parquet_by_key(folder.file("out"), "rest", {.columns = {"number"}}); });
  if (status.code == Code::unimplemented) return;  // there is no Parquet
  BOOST_TEST(status.ok(), status.to_string());
  BOOST_TEST(job.read_parquet<std::int64_t>(folder.file("out/rest=1/")).collect() ==
                 (std::vector<std::int64_t>{1, 4, 7, 10, 13, 16, 19}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(there_is_one_file_for_each_key_where_its_pairs_are_together) {
  const test::Folder folder;
  Job job(small_parts());
  const auto pairs = job.from(numbers(1000), 7).key_by([](std::int64_t n) { return n % 10; });
  const auto key = [](const auto& pair) { return pair.first; };
  pairs.partition_by(key, 4).write_csv_by_key(folder.file("together"), "digit");
  BOOST_TEST(files_below(folder.file("together")).size() == 10u);
  pairs.sort_values_by(std::identity(), SortOrder::descending)
      .write_csv_by_key(folder.file("sorted"), "digit");
  const auto sorted = files_below(folder.file("sorted"));
  BOOST_TEST(sorted.size() == 10u);
  std::string expected;
  for (std::int64_t n = 993; n >= 0; n -= 10) expected += std::to_string(n) + "\n";
  for (const auto& [name, text] : sorted)
    if (name.starts_with("digit=3/")) BOOST_TEST(text == expected);
}

// 60 MB of a part that holds 24 MiB with its tables.
BOOST_AUTO_TEST_CASE(what_does_not_fit_into_memory_is_divided_on_disk) {
  const test::Folder folder;
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = std::size_t{48} << 20;
  Job job(options);
  job.from(std::vector<std::int64_t>{0, 1}, 1)
      .flat_map([](std::int64_t half) {
        return std::views::iota(half * 500'000, (half + 1) * 500'000) |
               std::views::transform([](std::int64_t n) {
                 return std::pair{scrambled(static_cast<std::uint64_t>(n)) % 50,
                                  std::array{n, n, n, n, n, n}};
               });
      })
      .write_records_by_key(folder.file("out"), "key");
  BOOST_TEST(job.state()->engine().spilled_bytes() > 0u);
  std::uint64_t seen = 0;
  for (std::uint64_t key = 0; key < 50; ++key) {
    const auto rows = job.read_records<std::array<std::int64_t, 6>>(
                             folder.file("out/key=" + std::to_string(key) + "/"))
                          .collect();
    BOOST_TEST(std::ranges::is_sorted(rows));
    seen += static_cast<std::uint64_t>(std::ranges::count_if(rows, [key](const auto& row) {
      return scrambled(static_cast<std::uint64_t>(row[0])) % 50 == key;
    }));
  }
  BOOST_TEST(seen == 1'000'000u);
}

BOOST_AUTO_TEST_CASE(many_folders_need_few_open_files) {
  const test::Folder folder;
  Job job(small_parts(1));
  const auto pairs = job.from(numbers(600)).key_by([](std::int64_t n) { return n % 200; });
  {
    const FewFiles few;
    pairs.write_csv_by_key(folder.file("out"), "key");
  }
  const auto lines = lines_by_folder(folder.file("out"));
  BOOST_TEST(lines.size() == 200u);
  for (const auto& [name, numbers] : lines) BOOST_TEST(numbers.size() == 3u, name);
}

// In memory: a disk takes its time for so many files.
BOOST_AUTO_TEST_CASE(a_part_writes_ten_thousand_files_at_most) {
  const std::string folder = "/dev/shm/actorflow-" + std::to_string(getpid());
  Job job(small_parts(1));
  const Status status = status_of(
      [&] { job.from(numbers(10'001)).key_by(std::identity()).write_csv_by_key(folder, "key"); });
  std::filesystem::remove_all(folder);
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(test::has(status, "more than 10000 values of 'key'"), status.message);
}

BOOST_AUTO_TEST_CASE(an_earlier_output_is_refused_or_replaced_with_all_its_folders) {
  const test::Folder folder;
  const std::string out = folder.file("out");
  const auto write = [&](std::int64_t keys, bool overwrite) {
    JobOptions options = small_parts();
    options.overwrite = overwrite;
    Job job(options);
    job.from(numbers(100), 3)
        .key_by([keys](std::int64_t n) { return n % keys; })
        .write_csv_by_key(out, "key");
  };
  write(5, false);
  std::filesystem::remove(out + "/_SUCCESS");  // as if the job had been killed
  BOOST_TEST((status_of([&] { write(2, false); }).code == Code::already_exists));
  write(2, true);
  BOOST_TEST(lines_by_folder(out).size() == 2u);
  test::write_file(out + "/key=0/notes.txt", "mine");
  const Status status = status_of([&] { write(2, true); });
  BOOST_TEST((status.code == Code::already_exists), status.to_string());
  BOOST_TEST(test::has(status, "'key=0/notes.txt'"), status.message);
}

BOOST_AUTO_TEST_CASE(what_cannot_name_a_folder_is_refused) {
  const test::Folder folder;
  Job job(small_parts());
  const auto of_length = [&](std::size_t length) {
    return status_of([&] {
      job.from(std::vector{std::pair{std::string(length, 'x'), 1}})
          .write_csv_by_key(folder.file(std::to_string(length)), "key");
    });
  };
  BOOST_TEST(of_length(251).ok());
  const Status status = of_length(252);
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(test::has(status, "has 256 bytes"), status.message);
  for (const char* column : {"", "a/b", "a=b", "a b"})
    BOOST_TEST((status_of([&] {
                  job.from(std::vector{std::pair{1, 1}}).write_csv_by_key(folder.file("column"), column);
                }).code == Code::invalid_argument),
               column);
}

BOOST_AUTO_TEST_SUITE_END()
