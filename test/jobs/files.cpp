// Files that jobs read and write.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "dataflow/values/tensor.h"
#include "schema/checksum.h"
#include "schema/formats/data_writer.h"
#include "test/jobs/support/test_job.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(files)

using namespace actorflow;
using test::small_parts;

BOOST_AUTO_TEST_CASE(rows_of_csv_are_records_and_records_rows) {
  const test::Folder folder;
  test::write_file(folder.file("in.csv"), "name,height\n\"Smith, Jane\",1.5\r\nBob,2\n\n");
  struct Person {
    std::string name;
    double height;
  };
  Job job(small_parts());
  const auto people = job.read_csv<Person>(folder.file("in.csv"), {.header = true});
  const auto all = people.collect();
  BOOST_TEST(all.size() == 2u);
  BOOST_TEST(all[0].name == "Smith, Jane");
  BOOST_TEST(all[1].height == 2.0);
  people.write_csv(folder.file("out"), {.delimiter = ';'});
  BOOST_TEST(test::files_of(folder.file("out"))["part-00000-of-00001.csv"] ==
             "Smith, Jane;1.5\nBob;2\n");
}

BOOST_AUTO_TEST_CASE(what_write_csv_writes_of_any_text_is_read_again) {
  using Row = std::pair<std::string, std::int64_t>;
  const test::Folder folder;
  std::vector<Row> rows;
  for (const std::string text :
       {"two\nlines", "\"\n\"\"\r\n", "\r", "\n\n\n", "a;b,c", "", "\"", "no break"})
    rows.emplace_back(text, static_cast<std::int64_t>(rows.size()));
  JobOptions options = small_parts();
  options.split_bytes = 8;
  Job job(options);
  job.from(rows).write_csv(folder.file("out"));
  const auto read = [&](bool line_breaks) {
    return job.read_csv<Row>(folder.file("out"), {.line_breaks = line_breaks}).collect();
  };
  auto again = read(true);
  std::ranges::sort(again, {}, &Row::second);
  BOOST_TEST((again == rows));
  BOOST_CHECK_EXCEPTION(read(false), Error, test::says("where CsvInput::line_breaks is true"));
  test::write_file(folder.file("cut.csv"), "a,1\n\"b\nc,2\n");
  BOOST_CHECK_EXCEPTION(job.read_csv<Row>(folder.file("cut.csv"), {.line_breaks = true}).collect(),
                        Error, test::says("cut.csv' at byte 4: a quote of this row is not closed"));
}

BOOST_AUTO_TEST_CASE(a_line_break_within_a_header_is_refused) {
  const test::Folder folder;
  test::write_file(folder.file("in.csv"), "a,\"two\nlines\"\n1,2\n");
  Job job(small_parts());
  for (const bool line_breaks : {false, true})
    BOOST_CHECK_EXCEPTION(
        (job.read_csv<std::pair<int, int>>(folder.file("in.csv"),
                                           {.header = true, .line_breaks = line_breaks})),
        Error,
        test::says("in.csv': a quote is not closed in its line: expected names without line breaks"));
}

BOOST_AUTO_TEST_CASE(a_table_is_csv_unless_its_files_are_parquet) {
  const test::Folder folder;
  using Click = std::pair<std::string, std::int64_t>;
  std::filesystem::create_directory(folder.file("in"));
  test::write_file(folder.file("in/1.csv"), "url,time,user\n/x,1,a\n/y,2,b\n");
  Job job(small_parts());
  const auto table = [&] { return job.read_table<Click>(folder.file("in"), {"user", "time"}); };
  BOOST_TEST((table().collect() == std::vector<Click>{{"a", 1}, {"b", 2}}));
  BOOST_TEST((table().sort_by(&Click::second, SortOrder::descending).collect() ==
              std::vector<Click>{{"b", 2}, {"a", 1}}));
  test::write_file(folder.file("in/2.parquet"), "PAR1");
  BOOST_CHECK_EXCEPTION(table(), Error,
                        test::says("2.parquet' is a Parquet file, but '" + folder.file("in/1.csv") +
                                   "' is none, by their names"));
}

BOOST_AUTO_TEST_CASE(elements_of_a_tensor_are_records) {
  Job job(small_parts());
  const Tensor tensor = Tensor::of(Shape{3}, std::vector<float>{1, 2, 4});
  BOOST_TEST((job.from(tensor.values<float>()).collect() == std::vector<float>{1, 2, 4}));
}

BOOST_AUTO_TEST_CASE(columns_of_csv_are_found_by_their_names) {
  const test::Folder folder;
  struct Click {
    std::string user;
    int time;
  };
  std::filesystem::create_directory(folder.file("in"));
  test::write_file(folder.file("in/1.csv"), "user,time,url\na,1,/x\n");
  test::write_file(folder.file("in/2.csv"), "\xEF\xBB\xBFurl,\"time\",user\r\n/y,2,b\r\n");
  test::write_file(folder.file("in/3.csv"), "");
  Job job(small_parts());
  const auto clicks =
      job.read_csv<Click>(folder.file("in"), {.header = true, .columns = {"user", "time"}}).collect();
  BOOST_TEST_REQUIRE(clicks.size() == 2u);
  BOOST_TEST((clicks[0].user == "a" && clicks[0].time == 1));
  BOOST_TEST((clicks[1].user == "b" && clicks[1].time == 2));
  const auto refused = [&](const CsvInput& input, const std::string& text) {
    BOOST_CHECK_EXCEPTION(job.read_csv<Click>(folder.file("in"), input), Error, test::says(text));
  };
  refused({.header = true}, "/2.csv' has 'url,time,user'");
  refused({.header = true, .columns = {"user", "tmie"}}, "has no column 'tmie'");
  refused({.columns = {"user"}}, "set CsvInput::header");
  test::write_file(folder.file("in/4.csv"), "\nuser,time,url\na,1,/x\n");
  refused({.header = true, .columns = {"user", "time"}}, "/4.csv' begins with an empty line");
  test::write_file(folder.file("in/1.csv"), "user\x1b[2J,time\n");
  refused({.header = true}, R"(/1.csv' has the header 'user\x1b[2J,time')");
  test::write_file(folder.file("short.csv"), "user,time,url\na,1\n");
  const auto rows =
      job.read_csv<Click>(folder.file("short.csv"), {.header = true, .columns = {"user", "time"}});
  BOOST_CHECK_EXCEPTION(rows.collect(), Error,
                        test::says("a row of 3 columns, as the header has, got 2"));
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_no_part_of_a_key) {
  const test::Folder folder;
  test::write_file(folder.file("in.csv"), "\xEF\xBB\xBFg1,5\ng1,6\n");
  Job job(small_parts());
  const auto rows = job.read_csv<std::pair<std::string, int>>(folder.file("in.csv")).collect();
  BOOST_TEST_REQUIRE(rows.size() == 2u);
  BOOST_TEST(rows[0].first == rows[1].first);
}

BOOST_AUTO_TEST_CASE(compressed_files_arrays_and_tfrecords_are_read) {
  const test::Folder folder;
  const auto compress = [&](const std::string& name, const std::string& text) {
    struct ToFile final : ByteSink {
      explicit ToFile(const std::string& path) : file(path, std::ios::binary) {}
      void write(std::span<const std::byte> bytes) override {
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
      }
      void finish() override { file.close(); }
      std::ofstream file;
    };
    DataWriter writer(compressed(std::make_unique<ToFile>(folder.file(name)), compression_of(name)));
    name.ends_with(".tfrecord") ? writer.write_tfrecord(std::as_bytes(std::span(text)))
                                : writer.write_line(text);
    writer.finish();
  };
  for (const std::string name : {"a.txt.gz", "b.txt.zst", "c.txt.lz4"}) compress(name, "in " + name);
  Job job(small_parts());
  BOOST_TEST((job.read_text(folder.file("*.txt.*")).collect() ==
              std::vector<std::string>{"in a.txt.gz", "in b.txt.zst", "in c.txt.lz4"}));
  BOOST_TEST((job.read_text(folder.file("*.txt.*"))
                  .sort_by(std::identity(), SortOrder::descending)
                  .top(1)
                  .collect() == std::vector<std::string>{"in c.txt.lz4"}));
  compress("d.tfrecord", "some bytes");
  BOOST_TEST((job.read_tfrecords(folder.file("d.tfrecord")).collect() ==
              std::vector<std::string>{"some bytes"}));

  std::string npy = "\x93NUMPY\x01" + std::string(1, '\0') + "\x76" + std::string(1, '\0');
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (500, 2), }";
  header.resize(0x76 - 1, ' ');
  npy += header + "\n";
  for (int i = 0; i < 1000; ++i) {
    const double value = i;
    npy.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  test::write_file(folder.file("e.npy"), npy);
  const auto rows = job.read_npy<std::array<double, 2>>(folder.file("e.npy")).collect();
  BOOST_TEST(rows.size() == 500u);
  for (std::size_t i = 0; i < rows.size(); ++i) BOOST_TEST(rows[i][1] == static_cast<double>(2 * i + 1));
  BOOST_CHECK_THROW((job.read_npy<std::array<float, 4>>(folder.file("e.npy")).count()), Error);

  header = "{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }";
  header.resize(0x76 - 1, ' ');
  npy.resize(10);
  npy += header + "\n" + std::string("\x00\x3c\x00\xc0\xff\x7b", 6);
  test::write_file(folder.file("f.npy"), npy);
  const auto halves = job.read_npy<Float16>(folder.file("f.npy")).collect();
  BOOST_TEST((std::vector<float>(halves.begin(), halves.end()) == std::vector{1.0F, -2.0F, 65504.0F}));
  BOOST_CHECK_THROW(job.read_npy<std::int16_t>(folder.file("f.npy")).count(), Error);
  BOOST_CHECK_THROW(job.read_npy<BFloat16>(folder.file("f.npy")).count(), Error);
}

BOOST_AUTO_TEST_CASE(what_a_killed_attempt_has_left_is_removed_or_passed_over) {
  const test::Folder folder;
  const std::string left = "/part-00001-of-00002.txt.4711-3.tmp";
  Job job(small_parts());
  job.from(std::vector<std::string>{"a", "b"}, 2)
      .map([path = folder.file("out") + left](const std::string& line) {
        test::write_file(path, "half a li");
        return line;
      })
      .write_text(folder.file("out"));
  BOOST_TEST(test::files_of(folder.file("out")).size() == 3u);

  test::write_file(folder.file("out") + left, "half a li");
  for (const std::string input : {"out", "out/", "out/part-*"})
    BOOST_TEST((job.read_text(folder.file(input)).collect() == std::vector<std::string>{"a", "b"}));
}

BOOST_AUTO_TEST_CASE(a_text_of_two_lines_is_no_line) {
  const test::Folder folder;
  JobOptions options = small_parts();
  const auto write = [&] {
    Job(options)
        .from(std::vector<std::string>{"one", "two\nlines", "three"})
        .write_text(folder.file("out"));
  };
  BOOST_CHECK_EXCEPTION(write(), Error,
                        test::says("write_text: expected texts of one line, got \"two\\nlines\""));
  options.overwrite = true;
  options.skip_bad_records = 1;
  write();
  BOOST_TEST(test::files_of(folder.file("out")).at("part-00000-of-00001.txt") == "one\nthree\n");
}

// As by copytruncate of logrotate, while the job's functions run.
BOOST_AUTO_TEST_CASE(a_file_that_becomes_smaller_is_an_error) {
  const test::Folder folder;
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "a line of 20 bytes.\n";
  const auto check_refused = [&](const std::string& name, const auto& read) {
    const std::string path = folder.file(name);
    test::write_file(path, lines);
    const auto records = read(path);
    std::filesystem::resize_file(path, 400);
    BOOST_CHECK_EXCEPTION(records.count(), Error,
                          test::says("'" + path + "' has 400 bytes, but had 2000 when the job began"));
  };
  const Job job(small_parts());
  check_refused("a.txt", [&](const std::string& path) { return job.read_text(path); });
  check_refused("a.csv",
                [&](const std::string& path) { return job.read_csv<std::tuple<std::string>>(path); });
  check_refused("a.bin", [&](const std::string& path) {
    return job.read_records<std::array<std::uint8_t, 20>>(path);
  });
  check_refused("a.txt.gz", [&](const std::string& path) { return job.read_text(path); });
  check_refused("a.tfrecord", [&](const std::string& path) { return job.read_tfrecords(path); });
}

BOOST_AUTO_TEST_CASE(lines_come_with_the_path_of_their_file) {
  const test::Folder folder;
  test::write_file(folder.file("a.txt"), "one\n");
  test::write_file(folder.file("b.txt"), "two\nthree");
  Job job(small_parts());
  const auto lines = job.read_named_text(folder.file("*.txt")).collect();
  BOOST_TEST(lines.size() == 3u);
  BOOST_TEST((lines[0] == std::pair<std::string, std::string>(folder.file("a.txt"), "one")));
  BOOST_TEST((lines[2] == std::pair<std::string, std::string>(folder.file("b.txt"), "three")));

  const auto paths = job.input_files(folder.file("*.txt"));
  const auto numbered = job.read_numbered_text(folder.file("*.txt")).collect();
  BOOST_TEST(numbered.size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    BOOST_TEST(paths.at(numbered[i].first) == lines[i].first);
    BOOST_TEST(numbered[i].second == lines[i].second);
  }
}

BOOST_AUTO_TEST_CASE(a_large_file_that_cannot_be_cut_is_warned_of) {
  const test::Folder folder;
  const auto warning = [&] {
    return find_input(posix_storage(), folder.file(""), 1'000'000)->warning(1'000'000);
  };
  test::write_file(folder.file("a.txt"), std::string(3'000'000, ' '));
  test::write_file(folder.file("b.txt.gz"), std::string(1'000'000, ' '));
  BOOST_TEST(warning() == "");
  test::write_file(folder.file("c.txt.gz"), std::string(4'000'000, ' '));
  BOOST_TEST(warning().starts_with("'" + folder.file("c.txt.gz") + "' of 4 MB cannot be cut"));
  test::write_file(folder.file("d.tfrecord"), std::string(5'000'000, ' '));
  BOOST_TEST(warning().starts_with("'" + folder.file("d.tfrecord") + "' of 5 MB, and 1 like it,"));
}

BOOST_AUTO_TEST_CASE(when_files_were_changed_is_looked_at_once) {
  const test::Folder folder;
  test::write_file(folder.file("a.txt"), "one");
  const auto find = [&] { return find_input(posix_storage(), folder.file("a.txt"), 1'000); };
  const auto input = find();
  const std::string times = input->describe_times(posix_storage());
  std::filesystem::last_write_time(folder.file("a.txt"), std::filesystem::file_time_type());
  BOOST_TEST(input->describe_times(posix_storage()) == times);
  BOOST_TEST(find()->describe_times(posix_storage()) != times);
}

BOOST_AUTO_TEST_CASE(rows_of_idx_files_are_records) {
  const std::string mnist = ACTORFLOW_SOURCE_DIR "/apps/data/mnist/t10k-";
  Job job;
  const auto labels = job.read_idx<std::uint8_t>(mnist + "labels-idx1-ubyte.gz")
                          .key_by(std::identity())
                          .count_by_key()
                          .sort_by([](const auto& label) { return label.first; })
                          .collect();
  const std::vector<std::int64_t> expected{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
  BOOST_TEST(labels.size() == 10u);
  for (std::size_t i = 0; i < labels.size(); ++i) BOOST_TEST(labels[i].second == expected[i]);

  const auto images = job.read_idx<std::array<std::uint8_t, 784>>(mnist + "images-idx3-ubyte.gz");
  BOOST_TEST(images.count() == 10'000u);
  BOOST_CHECK_THROW(
      (job.read_idx<std::array<std::uint8_t, 100>>(mnist + "images-idx3-ubyte.gz").count()), Error);
}

BOOST_AUTO_TEST_CASE(output_is_compressed_as_the_job_or_its_options_say) {
  const test::Folder folder;
  std::vector<std::string> lines;
  for (int i = 0; i < 3000; ++i) lines.push_back("line " + std::to_string(i / 10));
  JobOptions options = small_parts();
  options.compression = Compression::lz4;
  Job job(options);
  const auto texts = job.from(lines, 2);
  texts.write_text(folder.file("lz4"));
  texts.write_text(folder.file("gzip"), {.compression = Compression::gzip});
  texts.write_text(folder.file("plain"), {.compression = Compression::none});
  texts.key_by([](const std::string& line) { return line.size(); })
      .write_csv(folder.file("zstd"), {.delimiter = ';', .compression = Compression::zstd});

  BOOST_TEST((job.read_text(folder.file("lz4")).collect() == lines));
  BOOST_TEST((job.read_text(folder.file("gzip/part-00001-of-00002.txt.gz")).count() == 1500u));
  BOOST_TEST(job.read_text(folder.file("zstd/*.csv.zst")).collect()[0] == "6;line 0");
  const auto gzip = test::files_of(folder.file("gzip")), plain = test::files_of(folder.file("plain"));
  const std::string& file = gzip.at("part-00000-of-00002.txt.gz");
  BOOST_TEST(file.size() * 4 < plain.at("part-00000-of-00002.txt").size());
  Checksum checksum;
  checksum.update(std::as_bytes(std::span(file)));
  std::ostringstream digits;
  digits << std::hex << std::setw(16) << std::setfill('0') << checksum.value();
  for (const std::string& part :
       {digits.str(), std::to_string(file.size()), std::string("part-00001-of-00002.txt.gz")})
    BOOST_TEST(gzip.at("_SUCCESS").find(part) != std::string::npos, part);
}

BOOST_AUTO_TEST_SUITE_END()
