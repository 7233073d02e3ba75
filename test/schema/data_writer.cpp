#include <boost/test/unit_test.hpp>

#include "schema/formats/data_writer.h"
#include "schema/formats/line_blocks.h"
#include "schema/formats/record_blocks.h"
#include "schema/formats/tfrecord_file.h"
#include "test/schema/support/memory_source.h"

BOOST_AUTO_TEST_SUITE(data_writer)

using namespace actorflow;

namespace {

using namespace std::string_literals;

// What the calls write, through each compression and back.
std::string written(const auto& calls) {
  std::string plain;
  for (const auto compression :
       {Compression::none, Compression::gzip, Compression::zstd, Compression::lz4}) {
    std::string file;
    {
      DataWriter writer(compressed(std::make_unique<test::MemorySink>(file), compression));
      calls(writer);
      writer.finish();
      if (compression == Compression::none) plain = file;
      BOOST_TEST(writer.bytes_written() == plain.size());
    }
    BOOST_TEST((test::contents(*decompressed(test::plain(file), compression)) == plain));
  }
  return plain;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lines_and_rows_have_ends) {
  BOOST_TEST(written([](DataWriter& writer) {
               writer.write_line("text");
               writer.write_csv(std::pair("a,b"s, 1.5));
               writer.write_csv(std::tuple('x', 2), ';');
             }) == "text\n\"a,b\",1.5\nx;2\n");
}

BOOST_AUTO_TEST_CASE(many_lines_are_read_as_they_were_written) {
  const std::string file = written([](DataWriter& writer) {
    for (int i = 0; i < 300'000; ++i) writer.write_line("line " + std::to_string(i));
  });
  LineBlocks blocks(test::plain(file));
  int next = 0;
  for (std::string_view run; !(run = blocks.next()).empty();)
    for_each_line(run, [&](std::string_view line) {
      if (line != "line " + std::to_string(next++)) BOOST_ERROR("another line: " << line);
    });
  BOOST_TEST(next == 300'000);
}

BOOST_AUTO_TEST_CASE(fixed_records_are_read_as_they_were_written) {
  const std::string file = written([](DataWriter& writer) {
    for (std::uint64_t i = 0; i < 200'000; ++i) writer.write(std::as_bytes(std::span(&i, 1)));
  });
  RecordBlocks blocks(test::plain(file), {.record_bytes = 8});
  std::uint64_t next = 0;
  for (auto some = blocks.next(); !some.empty(); some = blocks.next())
    for (std::size_t at = 0; at < some.size(); at += 8)
      if (std::memcmp(some.data() + at, &next, 8) == 0) ++next;
  BOOST_TEST(next == 200'000u);
}

BOOST_AUTO_TEST_CASE(tfrecords_are_read_as_they_were_written) {
  const std::vector<std::string> texts{"first", "", std::string(2'000'000, 'x'), "last"};
  const std::string file = written([&](DataWriter& writer) {
    for (const auto& text : texts) writer.write_tfrecord(std::as_bytes(std::span(text)));
  });
  TfRecordFile records(test::plain(file));
  std::uint64_t offset = 0;
  for (const auto& text : texts) {
    const auto record = records.next();
    BOOST_REQUIRE(record.has_value());
    BOOST_TEST((std::string(reinterpret_cast<const char*>(record->data()), record->size()) == text));
    BOOST_TEST(records.offset() == offset);
    offset += 16 + text.size();
  }
  BOOST_TEST(!records.next().has_value());
}

BOOST_AUTO_TEST_CASE(a_file_without_records_is_empty) {
  BOOST_TEST(written([](DataWriter&) {}) == "");
}

BOOST_AUTO_TEST_SUITE_END()
