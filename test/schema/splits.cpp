#include <boost/test/unit_test.hpp>
#include <random>

#include "schema/formats/array_header.h"
#include "schema/formats/line_blocks.h"
#include "schema/formats/record_blocks.h"
#include "schema/formats/split.h"
#include "test/schema/support/memory_source.h"

BOOST_AUTO_TEST_SUITE(splits)

using namespace actorflow;
using test::contains;

namespace {

using Parts = std::vector<std::vector<Split>>;
using Random = std::mt19937_64;

// Lines of any length, some empty, some with "\r", the last one with or without its end.
std::string random_text(Random& random, std::size_t most_lines = 30) {
  std::string text;
  for (std::size_t lines = random() % most_lines; lines > 0; --lines) {
    const std::size_t size = random() % 4 == 0 ? random() % 60 : random() % 6;
    for (std::size_t i = 0; i < size; ++i) text += "ab\r "[random() % 4];
    text += "\n";
  }
  if (random() % 2 == 0) text += "no end";
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for_each_line(text, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

std::vector<Split> splits_of(std::size_t bytes, std::size_t split_bytes) {
  std::vector<Split> splits;
  for (std::size_t begin = 0; begin < bytes; begin += split_bytes)
    splits.push_back({0, begin, std::min(begin + split_bytes, bytes)});
  return splits;
}

// The bytes of all runs; each must be what its offset says, and whole lines.
std::string read_lines_of(const std::string& text, const Split& split, const LineLimits& limits) {
  LineBlocks blocks(test::plain(text), split, limits);
  std::string all;
  for (std::string_view run; !(run = blocks.next()).empty(); all += run) {
    const auto offset = static_cast<std::size_t>(blocks.offset());
    BOOST_TEST(offset >= split.begin);
    BOOST_TEST(offset < split.end);
    BOOST_TEST((text.substr(offset, run.size()) == run));
    BOOST_TEST((run.ends_with('\n') || offset + run.size() == text.size()));
    BOOST_TEST((offset == 0 || text[offset - 1] == '\n'));
  }
  BOOST_TEST(blocks.next().empty());
  return all;
}

std::string error_of(const auto& f, Code code) {
  try {
    f();
  } catch (const Error& error) {
    BOOST_TEST((error.code() == code));
    return error.what();
  }
  return "no error";
}

std::string records_of(const std::string& file, const FixedRecords& records, const Split& split = {},
                       std::size_t block_bytes = 1 << 20) {
  RecordBlocks blocks(test::plain(file), records, split, block_bytes);
  std::string all;
  for (auto some = blocks.next(); !some.empty(); some = blocks.next()) {
    BOOST_TEST(some.size() % records.record_bytes == 0u);
    BOOST_TEST((blocks.offset() - records.header_bytes) % records.record_bytes == 0u);
    all.append(reinterpret_cast<const char*>(some.data()), some.size());
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_lines_of_all_splits_are_the_files_lines_once) {
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const std::string text = random_text(random);
    const LineLimits limits{.block_bytes = 1 + random() % 40};
    for (std::size_t split_bytes = 1; split_bytes <= text.size() + 1;
         split_bytes += 1 + split_bytes / 8) {
      std::string all;
      for (const Split& split : splits_of(text.size(), split_bytes))
        all += read_lines_of(text, split, limits);
      BOOST_TEST((all == text), "splits of " << split_bytes << ", blocks of " << limits.block_bytes);
    }
    BOOST_TEST((read_lines_of(text, {}, limits) == text));
  }
}

BOOST_AUTO_TEST_CASE(a_line_belongs_to_the_split_in_which_it_begins) {
  const std::string text = "one\ntwo\nthree\n";
  const auto lines = [&](std::uint64_t begin, std::uint64_t end) {
    return read_lines_of(text, {0, begin, end}, {});
  };
  BOOST_TEST(lines(0, 3) == "one\n");
  BOOST_TEST(lines(3, 4) == "");
  BOOST_TEST(lines(3, 5) == "two\n");
  BOOST_TEST(lines(4, 8) == "two\n");
  BOOST_TEST(lines(9, 13) == "");
  BOOST_TEST(lines(100, 200) == "");
}

BOOST_AUTO_TEST_CASE(lines_lose_their_ends_and_nothing_else) {
  BOOST_TEST(
      lines_of("a\r\n\n\r\nb\rc\n\r\r\nd") == (std::vector<std::string>{"a", "", "", "b\rc", "\r", "d"}),
      boost::test_tools::per_element());
  BOOST_TEST(lines_of("").empty());
}

BOOST_AUTO_TEST_CASE(runs_are_about_a_block_long) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "a line of text\n";
  LineBlocks blocks(test::plain(text));
  std::size_t runs = 0;
  for (std::string_view run; !(run = blocks.next()).empty(); ++runs) BOOST_TEST(run.size() <= 1u << 20);
  BOOST_TEST(runs == text.size() / (1 << 20) + 1);
}

BOOST_AUTO_TEST_CASE(a_line_above_the_limit_is_named) {
  const LineLimits limits{.block_bytes = 16, .max_line_bytes = 100};
  const std::string text = "short\n" + std::string(90, 'x') + "\n" + std::string(500, 'y') + "\nshort\n";
  const std::string error = error_of([&] { read_lines_of(text, {}, limits); }, Code::invalid_argument);
  BOOST_TEST(contains(error, "file: the line at byte 97 is longer than 100 bytes"), error);
  BOOST_TEST(read_lines_of(text, {0, 98, 700}, limits) == "short\n");  // that is another split's line
}

BOOST_AUTO_TEST_CASE(large_files_are_cut_and_small_ones_packed) {
  const std::vector<FileSize> files{{"large", 250}, {"a", 10}, {"b", 20},
                                    {"empty", 0},   {"c", 30}, {"d", 100}};
  const Parts parts = plan_splits(files, 100);
  const Parts expected{{{0, 0, 84}},
                       {{0, 84, 167}},
                       {{0, 167, 250}, {1, 0, 10}},
                       {{2, 0, 20}, {4, 0, 30}},
                       {{5, 0, 100}}};
  BOOST_TEST((parts == expected));
  BOOST_TEST(plan_splits({}).empty());
}

BOOST_AUTO_TEST_CASE(compressed_files_are_not_cut) {
  const std::vector<FileSize> files{
      {"a.csv.gz", 1000}, {"b.zst", 40}, {"c.lz4", 40}, {"d.tfrecord", 300}};
  const Parts expected{{{0}}, {{1}, {2}}, {{3}}};
  BOOST_TEST((plan_splits(files, 100) == expected));
  const Parts cut = plan_splits(files, 500, [](std::string_view) { return true; });
  BOOST_TEST(cut.size() == 3u);
}

BOOST_AUTO_TEST_CASE(parts_hold_each_byte_once_in_order_and_no_more_than_fits) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<FileSize> files;
    for (std::size_t n = random() % 20; n > 0; --n)
      files.push_back({"file", random() % 3 == 0 ? random() % 1000 : random() % 30});
    const std::uint64_t split_bytes = 1 + random() % 200;
    std::size_t file = 0;
    std::uint64_t at = 0;
    const auto pass_over_ends = [&] {
      for (; file < files.size() && at == files[file].bytes; ++file) at = 0;
    };
    for (const auto& part : plan_splits(files, split_bytes)) {
      std::uint64_t bytes = 0;
      for (const Split& split : part) {
        pass_over_ends();
        BOOST_TEST((split.file == file && split.begin == at && split.begin < split.end));
        at = split.end;
        bytes += split.end - split.begin;
      }
      BOOST_TEST((bytes > 0 && bytes <= split_bytes));
    }
    pass_over_ends();
    BOOST_TEST(file == files.size());
  }
}

BOOST_AUTO_TEST_CASE(the_records_of_all_splits_are_the_files_records_once) {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    const FixedRecords format{.record_bytes = 1 + random() % 20, .header_bytes = random() % 3 * 7};
    std::string values;
    for (std::size_t n = random() % 50 * format.record_bytes; n > 0; --n)
      values += static_cast<char>(random());
    const std::string file = std::string(format.header_bytes, 'h') + values;
    const std::size_t block_bytes = 1 + random() % 100;
    for (std::size_t split_bytes = 1; split_bytes <= file.size() + 1;
         split_bytes += 1 + split_bytes / 4) {
      std::string all;
      for (const Split& split : splits_of(file.size(), split_bytes))
        all += records_of(file, format, split, block_bytes);
      BOOST_TEST((all == values));
    }
    BOOST_TEST((records_of(file, format) == values));
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_ends_within_a_record_is_named_with_both_lengths) {
  const std::string error =
      error_of([] { records_of(std::string(250, 'x'), {.record_bytes = 100}); }, Code::data_loss);
  BOOST_TEST(contains(error, "records of 100 bytes"), error);
  BOOST_TEST(contains(error, "250 bytes"), error);
  BOOST_TEST(contains(error, "ends 50 bytes into a record"), error);
  BOOST_TEST(records_of(std::string(250, 'x'), {.record_bytes = 100}, {0, 0, 150}).size() == 200u);
}

BOOST_AUTO_TEST_CASE(announced_records_must_be_there_and_no_more) {
  const FixedRecords three{.record_bytes = 10, .header_bytes = 4, .count = 3};
  const auto error = [&](std::size_t bytes, const Split& split = {}) {
    return error_of([&] { records_of(std::string(bytes, 'x'), three, split); }, Code::data_loss);
  };
  BOOST_TEST(records_of(std::string(34, 'x'), three).size() == 30u);
  BOOST_TEST(contains(error(35), "goes on"));
  BOOST_TEST(contains(error(44, {0, 30, 44}), "goes on"));
  BOOST_TEST(contains(error(24), "expected 3 records"));
  BOOST_TEST(contains(error(24), "ends before"));
}

BOOST_AUTO_TEST_SUITE_END()
