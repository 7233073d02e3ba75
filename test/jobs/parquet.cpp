// Parquet files, as pyarrow writes them, as inputs of jobs.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "test/apps/support/python.h"
#include "test/jobs/support/test_job.h"
#include "test/schema/support/memory_source.h"
#include "test/support/log_lines.h"
#include "test/support/status_of.h"

using namespace actorflow;
using test::contains;
using test::error_of;

namespace {

boost::test_tools::assertion_result can_read(boost::unit_test::test_unit_id id) {
  boost::test_tools::assertion_result result = false;
  try {
    result = reads_parquet();
    result.message() << "built without Arrow: README.md says how to read Parquet files";
  } catch (const Error& error) {
    result.message() << error.what();
  }
  return result ? test::has_python(id) : result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parquet, *boost::unit_test::precondition(can_read))

namespace {

constexpr std::int64_t rows = 5000;

// Of which each file of a few hundred kilobytes has several.
JobOptions some_parts() {
  JobOptions options = test::small_parts();
  options.split_bytes = 100'000;
  return options;
}

// The files of test/python/make_parquet.py.
class Files {
 public:
  Files() { test::check_with_python("make_parquet.py", {folder_.path()}); }

  std::string operator()(const std::string& name) const { return folder_.file(name); }

 private:
  test::Folder folder_;
};
const Files& files() {
  static const Files made;
  return made;
}

template <class T>
std::vector<StoredRecord<T>> all_of(const std::string& pattern, std::vector<std::string> columns = {},
                                    JobOptions options = some_parts()) {
  Job job(std::move(options));
  return job.read_parquet<T>(pattern, std::move(columns)).collect();
}

// A column of types.parquet, of which every seventh row is null.
template <class T>
void expect_column(const std::string& name, const auto& value) {
  const auto all =
      all_of<std::pair<std::int64_t, std::optional<T>>>(files()("types.parquet"), {"row", name});
  BOOST_TEST_REQUIRE(all.size() == static_cast<std::size_t>(rows));
  std::size_t wrong = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto& [row, got] = all[static_cast<std::size_t>(i)];
    const bool is_right = row == i && (i % 7 == 3 ? !got : got == T(value(i)));
    if (!is_right && ++wrong == 1) BOOST_ERROR(name << ": row " << i << " is wrong");
  }
  BOOST_TEST(wrong == 0u, name << ": " << wrong << " rows are wrong");
}

std::string text_of(std::int64_t row) {
  std::string text;
  for (std::int64_t i = 0; i < row % 3; ++i) text += "text " + std::to_string(row % 13);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_come_back) {
  expect_column<std::int8_t>("int8", [](auto i) { return i % 256 - 128; });
  expect_column<std::int16_t>("int16", [](auto i) { return -i; });
  expect_column<std::int32_t>("int32", [](auto i) { return -i * 400'000; });
  expect_column<std::int64_t>("int64", [](auto i) { return -i * 1'000'000'000'000'000; });
  expect_column<std::uint8_t>("uint8", [](auto i) { return i % 256; });
  expect_column<std::uint16_t>("uint16", [](auto i) { return i * 13; });
  expect_column<std::uint32_t>("uint32", [](auto i) { return ~std::uint32_t{0} - i; });
  expect_column<std::uint64_t>("uint64",
                               [](auto i) { return ~std::uint64_t{0} - static_cast<std::uint64_t>(i); });
  expect_column<float>("float32", [](auto i) { return static_cast<double>(i) / 8; });
  expect_column<double>("float64", [](auto i) { return static_cast<double>(i) / 10; });
  expect_column<bool>("bool", [](auto i) { return i % 3 == 0; });
}

BOOST_AUTO_TEST_CASE(numbers_fit_into_larger_ones) {
  expect_column<std::int64_t>("uint32", [](auto i) { return (std::int64_t{1} << 32) - 1 - i; });
  expect_column<double>("uint32", [](auto i) { return static_cast<double>((1LL << 32) - 1 - i); });
  expect_column<double>("int32", [](auto i) { return static_cast<double>(-i * 400'000); });
  expect_column<double>("float32", [](auto i) { return static_cast<double>(i) / 8; });
}

BOOST_AUTO_TEST_CASE(texts_come_back_however_they_are_stored) {
  for (const std::string name : {"text", "large_text", "dictionary"}) {
    expect_column<std::string>(name, text_of);
    expect_column<std::string_view>(name, text_of);
  }
  expect_column<std::string>("binary", [](auto i) {
    return std::string{static_cast<char>(i % 256), 0};
  });
}

BOOST_AUTO_TEST_CASE(dates_times_and_decimals_come_back) {
  expect_column<std::int32_t>("date", [](auto i) { return 7 * i - 10000; });
  expect_column<std::int64_t>("timestamp", [](auto i) { return i * 1'000'000'000 + 1; });
  expect_column<double>("decimal4", [](auto i) { return static_cast<double>(i - 2500) / 100; });
  expect_column<double>(
      "decimal15", [](auto i) { return static_cast<double>((i - 2500) * 10'000'000'000 + 1) / 100; });
  expect_column<std::int64_t>("decimal18", [](auto i) { return -i * 100'000'000'000'000; });

  using Texts = std::tuple<std::int64_t, std::optional<std::string>, std::optional<std::string>,
                           std::optional<std::string>, std::optional<std::string>>;
  const auto all =
      all_of<Texts>(files()("types.parquet"), {"row", "date", "decimal4", "decimal15", "decimal38"});
  BOOST_TEST((all.at(0) == Texts{0, "1942-08-16", "-25.00", "-249999999999.99",
                                 "-2499999999999999999999999999.9999999999"}));
  BOOST_TEST((all.at(2494) == Texts{2494, "1990-06-03", "-0.06", "-599999999.99",
                                    "-5999999999999999999999999.9999999999"}));
  BOOST_TEST((all.at(2500) == Texts{2500, "1990-07-15", "0.00", "0.01", "0.0000000001"}));
}

BOOST_AUTO_TEST_CASE(every_codec_and_page_is_read) {
  const auto all = all_of<std::pair<std::int64_t, std::string>>(files()("codecs"));
  BOOST_TEST_REQUIRE(all.size() == static_cast<std::size_t>(7 * rows));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) % rows;
    BOOST_TEST_REQUIRE((all[i].first == row && all[i].second == text_of(row)), "row " << i);
  }
}

BOOST_AUTO_TEST_CASE(a_file_is_divided_by_its_row_groups) {
  const std::string path = files()("parts.parquet");
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(rows));
  std::iota(wanted.begin(), wanted.end(), 0);
  for (const std::uint64_t bytes : {50ULL, 1000ULL, 20'000ULL, 1'000'000ULL}) {
    JobOptions options = some_parts();
    options.split_bytes = bytes;
    BOOST_TEST((all_of<std::int64_t>(path, {}, options) == wanted), "splits of " << bytes << " bytes");
  }
  const test::Folder folder;
  JobOptions options = some_parts();
  options.split_bytes = 20'000;
  Job(options).read_parquet<std::int64_t>(path).write_csv(folder.file("out"));
  std::size_t parts = 0;
  for (const auto& [name, content] : test::files_of(folder.file("out")))
    if (name.starts_with("part-") && !content.empty()) {
      ++parts;
      BOOST_TEST(std::ranges::count(content, '\n') % 100 == 0, name);
    }
  BOOST_TEST(parts >= 2u);
}

BOOST_AUTO_TEST_CASE(a_row_group_that_is_much_larger_than_a_part_is_warned_of) {
  const auto warning = [](std::uint64_t split_bytes) {
    const auto input = find_input(posix_storage(), files()("*.parquet"), split_bytes);
    return check_parquet(posix_storage(), input->files, {}, {}, split_bytes, std::uint64_t{1} << 29)
        ->warning;
  };
  BOOST_TEST(warning(100'000) == "");
  BOOST_TEST(
      contains(warning(50'000), "sorted.parquet' has a row group of 0.4 MB, which one thread reads"),
      warning(50'000));
}

BOOST_AUTO_TEST_CASE(a_sample_is_taken_from_all_over_a_row_group) {
  const test::Folder folder;
  JobOptions options = some_parts();
  options.partition_bytes = 20'000;
  Job(options)
      .read_parquet<std::int64_t>(files()("sorted.parquet"))
      .sort_by(std::identity())
      .write_csv(folder.file("out"));
  std::vector<std::int64_t> sizes;
  std::string all;
  for (const auto& [name, content] : test::files_of(folder.file("out"))) {
    if (!name.starts_with("part-")) continue;
    sizes.push_back(std::ranges::count(content, '\n'));
    all += content;
  }
  std::string wanted;
  for (int i = 1; i <= 60'000; ++i) wanted += std::to_string(i) + "\n";
  BOOST_TEST((all == wanted));
  BOOST_TEST_REQUIRE(sizes.size() >= 4u);
  const auto mean = 60'000 / static_cast<std::int64_t>(sizes.size());
  BOOST_TEST(std::ranges::max(sizes) <= 2 * mean);
}

BOOST_AUTO_TEST_CASE(columns_are_chosen_by_name_or_are_the_first) {
  const std::string path = files()("types.parquet");
  struct Row {
    std::string_view text;
    std::int64_t row;
  };
  Job job(some_parts());
  const auto last = job.read_parquet<Row>(path, {"text", "row"})
                        .filter([](const Row& row) { return row.row == 4999; })
                        .map([](const Row& row) { return std::string(row.text); });
  BOOST_TEST(error_of([&] { last.collect(); }) != "");  // text has nulls
  BOOST_TEST((all_of<std::pair<std::int64_t, std::optional<std::int8_t>>>(path).at(2) ==
              std::pair<std::int64_t, std::optional<std::int8_t>>(2, -126)));
  BOOST_TEST((all_of<std::int64_t>(files()("lists.parquet"), {"struct.a"}, [] {
                auto options = some_parts();
                options.skip_bad_records = 1;
                return options;
              }()) == std::vector<std::int64_t>{1}));
}

BOOST_AUTO_TEST_CASE(a_null_where_no_optional_is_names_its_place) {
  JobOptions options = some_parts();
  options.threads = 1;  // the first of the parts fails, which all have such a null
  const std::string error = error_of([&] {
    all_of<std::pair<std::int64_t, std::int32_t>>(files()("types.parquet"), {"row", "int32"}, options);
  });
  BOOST_TEST(contains(error, "column 2: expected int32, got no value (null)"), error);
  BOOST_TEST(contains(error, "types.parquet', row 3 of row group 0: \"3, null\""), error);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_said_before_the_job_runs) {
  const std::string path = files()("types.parquet");
  Job job(some_parts());
  const auto error = [&]<class T>(T, std::vector<std::string> columns) {
    return error_of([&] { job.read_parquet<T>(path, columns); });
  };
  const std::string narrow = error(std::int32_t{}, {"int64"});
  BOOST_TEST(contains(narrow, "the column 'int64' is of the type int64, which field 1"), narrow);
  BOOST_TEST(contains(narrow, "int32, does not hold without loss"), narrow);
  BOOST_TEST(contains(error(0.0, {"text"}), "of the type string"));
  BOOST_TEST(contains(error(0.0, {"decimal38"}), "of the type decimal(38, 10)"));
  BOOST_TEST(contains(error(std::int32_t{}, {"timestamp"}), "of the type timestamp in microseconds"));
  BOOST_TEST(
      contains(error(0.0, {"price"}), "has no column 'price'; its columns are: row, int8, int16"));
  BOOST_TEST(contains(error(0.0, {"float64", "float32"}),
                      "expected the names of 1 columns, one for each field of the records, got 2"));
  BOOST_TEST(contains(
      error_of([&] { job.read_parquet<std::array<std::int64_t, 2>>(files()("parts.parquet")); }),
      "has 1 columns; the job's records have 2 fields"));
  const std::string list = error_of([&] { job.read_parquet<std::int64_t>(files()("lists.parquet")); });
  BOOST_TEST(contains(list, "is of the type a list or map of int64"), list);
  const std::string units = error_of([&] { job.read_parquet<std::int64_t>(files()("units")); });
  BOOST_TEST(contains(units, "is of the type timestamp in milliseconds in"), units);
  BOOST_TEST(contains(units, ", and timestamp in microseconds in"), units);
  const std::string dates = error_of([&] { job.read_parquet<std::int64_t>(files()("dates")); });
  BOOST_TEST(contains(dates, "the column 'when' is of the type date in"), dates);
  BOOST_TEST(contains(dates, ", and timestamp in microseconds in"), dates);
  for (const std::vector<std::string>& names : {std::vector<std::string>(), {"x", "x"}}) {
    const std::string twins = error_of([&] {
      job.read_parquet<std::pair<std::int64_t, std::int64_t>>(files()("twins.parquet"), names);
    });
    BOOST_TEST(contains(twins, "twins.parquet' has several columns 'x'"), twins);
  }
}

BOOST_AUTO_TEST_CASE(a_decimal_may_have_more_bytes_than_digits) {
  BOOST_TEST((all_of<std::string>(files()("wide.parquet")) ==
              std::vector<std::string>{"-1999999999999999999999999.9999999999",
                                       "-999999999999999999999999.9999999999", "0.0000000001",
                                       "1000000000000000000000000.0000000001",
                                       "2000000000000000000000000.0000000001"}));
}

BOOST_AUTO_TEST_CASE(an_error_has_numbers_as_the_file_has_them) {
  Job job(some_parts());
  const auto failing =
      job.read_parquet<std::optional<std::uint64_t>>(files()("types.parquet"), {"uint64"})
          .filter([](const std::optional<std::uint64_t>&) -> bool {
            throw std::runtime_error("not this one");
          });
  const std::string text = error_of([&] { failing.collect(); });
  BOOST_TEST(contains(text, ": \"184467440737095"), text);  // whichever part fails first
}

BOOST_AUTO_TEST_CASE(a_page_with_fewer_values_than_it_announces_is_damaged) {
  const std::string error =
      error_of([] { all_of<std::optional<std::string>>(files()("short.parquet")); });
  BOOST_TEST(contains(error,
                      "short.parquet' is damaged, or no Parquet file: row group 0: column 'text': "
                      "expected 1000 values in 1000 rows, got 200"),
             error);
}

// At its first attempt: the next one would have as little room.
BOOST_AUTO_TEST_CASE(a_page_that_wants_too_much_memory_is_refused) {
  test::LogLines log;
  const Status status = test::status_of([] { all_of<std::string>(files()("vast.parquet")); });
  BOOST_TEST((status.code == Code::invalid_argument), status.message);
  BOOST_TEST(
      contains(status.message, "vast.parquet': row group 0: a page or its values want 600000000 bytes"),
      status.message);
  BOOST_TEST(contains(status.message, "where 67108864 are the limit"), status.message);
  BOOST_TEST(!contains(log.all(), "it runs again"), log.all());
}

BOOST_AUTO_TEST_CASE(an_encrypted_file_is_told_from_a_damaged_one) {
  Job job(some_parts());
  for (const std::string name : {"secret.parquet", "plain.parquet"}) {
    const std::string error =
        error_of([&] { job.read_parquet<std::int64_t>(files()("encrypted/" + name)); });
    BOOST_TEST(contains(error, name + "' is encrypted, and only"), error);
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_named) {
  const test::Folder folder;
  const std::string good = test::read_file(files()("parts.parquet"));
  const auto error = [&](const std::string& content) {
    test::write_file(folder.file("a.parquet"), content);
    return error_of([&] { all_of<std::int64_t>(folder.file("a.parquet")); });
  };
  BOOST_TEST(error(good) == "");
  for (const std::string& bad : {std::string("number\n1\n2\n"), std::string(),
                                 good.substr(0, good.size() / 2), good.substr(good.size() / 2)}) {
    const std::string said = error(bad);
    BOOST_TEST(contains(said, "a.parquet' is damaged, or no Parquet file: "), said);
    BOOST_TEST(contains(said, "; replace the file"), said);
  }
  std::string flipped = good;
  flipped[500] = static_cast<char>(flipped[500] ^ 1);  // within values, which have a checksum
  BOOST_TEST(contains(error(flipped), "a.parquet' is damaged"), error(flipped));
}

BOOST_AUTO_TEST_CASE(an_error_of_the_disk_stays_what_it_is) {
  const std::string content = test::read_file(files()("parts.parquet"));
  int left = 100;
  const auto read = [&](std::uint64_t offset, std::span<std::byte> into) {
    if (left-- == 0) throw Error(Code::disk_error, "the disk is gone");
    BOOST_REQUIRE(offset + into.size() <= content.size());
    std::memcpy(into.data(), content.data() + offset, into.size());
  };
  int failures = 0, finished = 0;
  for (int good = 0; finished == 0; ++good) {
    left = good;
    try {
      const auto file = open_parquet({"a.parquet", content.size(), read});
      const ParquetWanted wanted[] = {{0, ParquetForm::integer}};
      const auto all = file->rows(0, wanted);
      while (all->next(10) > 0) {
      }
      ++finished;
    } catch (const Error& error) {
      BOOST_TEST((error.code() == Code::disk_error), error.what());
      ++failures;
    }
  }
  BOOST_TEST(failures >= 2);
}

// What test/python/read_parquet.py expects, too.
struct Written {
  std::int64_t number;
  std::optional<double> half;
  std::string text;
  bool is_even;
  std::uint64_t large;
  float third;
  std::pair<std::int8_t, std::optional<std::string>> small;
};

BOOST_AUTO_TEST_CASE(what_a_job_writes_is_read_by_itself_and_by_others) {
  constexpr std::int64_t count = 3000;
  const test::Folder folder;
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<std::string> names{"number", "half", "text", "is_even", "large", "third", "a", "b"};
  for (const auto& [name, codec] : std::map<std::string, ParquetCodec>{{"none", ParquetCodec::none},
                                                                       {"snappy", ParquetCodec::snappy},
                                                                       {"gzip", ParquetCodec::gzip},
                                                                       {"lz4", ParquetCodec::lz4},
                                                                       {"zstd", ParquetCodec::zstd}}) {
    Job job(some_parts());
    job.from(numbers, 3)
        .map([](std::int64_t n) {
          return Written{n,
                         n % 3 == 0 ? std::nullopt : std::optional(0.5 * static_cast<double>(n)),
                         "text " + std::to_string(n % 11) + " \u00fc",
                         n % 2 == 0,
                         ~std::uint64_t{0} - static_cast<std::uint64_t>(n),
                         static_cast<float>(n) / 3,
                         {static_cast<std::int8_t>(n % 100 - 50),
                          n % 5 == 0 ? std::nullopt : std::optional(std::to_string(n))}};
        })
        .write_parquet(folder.file(name), {.columns = names, .codec = codec});
    const auto files = test::files_of(folder.file(name));
    BOOST_TEST(files.size() == 4u);  // with _SUCCESS
    BOOST_TEST(files.contains("part-00001-of-00003.parquet"));
    Job job_of_table(some_parts());
    BOOST_TEST(job_of_table.read_table<Written>(folder.file(name), names).count() ==
               static_cast<std::uint64_t>(count));
    const auto all = all_of<Written>(folder.file(name));
    BOOST_TEST_REQUIRE(all.size() == static_cast<std::size_t>(count));
    std::size_t wrong = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      const Written& row = all[static_cast<std::size_t>(n)];
      const bool is_right = row.number == n && row.half.has_value() == (n % 3 != 0) &&
                            row.is_even == (n % 2 == 0) &&
                            row.large == ~std::uint64_t{0} - static_cast<std::uint64_t>(n) &&
                            row.third == static_cast<float>(n) / 3 && row.small.first == n % 100 - 50 &&
                            row.small.second.value_or("") == (n % 5 == 0 ? "" : std::to_string(n));
      wrong += is_right ? 0 : 1;
    }
    BOOST_TEST(wrong == 0u);
  }
  test::check_with_python("read_parquet.py", {folder.path()});
}

BOOST_AUTO_TEST_CASE(a_large_part_has_several_row_groups_and_an_empty_one_none) {
  const test::Folder folder;
  Job job(some_parts());
  std::vector<std::int64_t> numbers(20);
  job.from(numbers, 1)
      .map([](std::int64_t) { return std::string(1'000'000, 'x'); })
      .write_parquet(folder.file("large"));
  const auto file = [](const std::string& path) {
    const std::string bytes = test::read_file(path);
    return open_parquet({path, bytes.size(), [bytes](std::uint64_t offset, std::span<std::byte> into) {
                           std::memcpy(into.data(), bytes.data() + offset, into.size());
                         }});
  };
  const auto large = file(folder.file("large/part-00000-of-00001.parquet"));
  BOOST_TEST(large->row_groups().size() == 3u);
  BOOST_TEST(large->columns().at(0).name == "column_1");
  job.from(numbers, 1).filter([](std::int64_t) { return false; }).write_parquet(folder.file("empty"));
  const auto empty = file(folder.file("empty/part-00000-of-00001.parquet"));
  BOOST_TEST(empty->row_groups().empty());
  BOOST_TEST(empty->columns().at(0).type == "int64");
}

BOOST_AUTO_TEST_CASE(what_parquet_does_not_hold_is_refused_and_leaves_no_file) {
  const test::Folder folder;
  Job job(some_parts());
  const auto texts = job.from(std::vector<std::string>{"good", "bad \xff"}, 1);
  const auto error = [&](std::vector<std::string> columns) {
    return error_of([&] { texts.write_parquet(folder.file("out"), {.columns = std::move(columns)}); });
  };
  BOOST_TEST(contains(error({"text"}), "a text of the column 'text' is not UTF-8"), error({"text"}));
  BOOST_TEST(
      (!std::filesystem::exists(folder.file("out")) || test::files_of(folder.file("out")).empty()));
  BOOST_TEST(contains(error({"a", "b"}), "expected the names of 1 columns"), error({"a", "b"}));
  const auto twins = job.from(std::vector<std::pair<int, int>>{{1, 2}});
  const std::string same = error_of([&] {
    twins.write_parquet(folder.file("out"), {.columns = {"a", "a"}});
  });
  BOOST_TEST(contains(same, "two columns have the name 'a'"), same);
}

// Sizes that Arrow counts in 32 bits: these texts are not there, and nobody reads them.
BOOST_AUTO_TEST_CASE(a_text_for_which_no_page_is_large_enough_is_refused_and_its_column_named) {
  const char nothing = 0;
  const std::vector<std::string> names{"number", "text"};
  const auto error = [&](std::size_t bytes) {
    const std::string_view texts[] = {{&nothing, 0}, {&nothing, bytes}};
    const std::int64_t numbers[] = {1, 2};
    ParquetValues values[2];
    values[0].integers = numbers;
    values[1].texts = texts;
    return error_of([&] { expect_parquet_texts(values, 2, names); });
  };
  BOOST_TEST(error(most_parquet_text) == "");
  for (const std::size_t bytes : {most_parquet_text + 1, std::size_t{1} << 32}) {
    const std::string why = error(bytes);
    BOOST_TEST(contains(why, "the column 'text' has " + std::to_string(bytes) + " bytes"), why);
    BOOST_TEST(contains(why, "it may have 1073741824"), why);
  }
}

BOOST_AUTO_TEST_SUITE_END()
