#include "schema/tfrecord.h"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "dataflow/values/error.h"
#include "schema/crc32c.h"

BOOST_AUTO_TEST_SUITE(tfrecord)

using namespace actorflow;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const std::vector<std::string> sample = {"first", "", std::string(100'000, 'x'), "last"};

std::vector<std::byte> sample_file() {
  std::vector<std::byte> file;
  for (const auto& record : sample) append_record(file, bytes_of(record));
  return file;
}

// Feeds the file in pieces of that size.
std::vector<std::string> read_in_pieces(std::span<const std::byte> file, std::size_t piece) {
  TfRecordReader reader("sample");
  std::vector<std::string> records;
  for (; !file.empty(); file = file.subspan(std::min(piece, file.size()))) {
    reader.feed(file.first(std::min(piece, file.size())));
    while (const auto record = reader.next()) records.push_back(text_of(*record));
  }
  reader.finish();
  return records;
}

// The error of reading the file, or ok.
Status status_of(std::span<const std::byte> file, std::uint64_t limit = 1 << 20) {
  TfRecordReader reader("sample", limit);
  reader.feed(file);
  try {
    while (reader.next()) continue;
    reader.finish();
    return {};
  } catch (const Error& error) {
    return error.status();
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(crc32c_has_the_values_of_rfc_3720) {
  std::array<unsigned char, 32> bytes{};
  const auto crc = [&] { return crc32c(std::as_bytes(std::span(bytes))); };
  BOOST_TEST(crc() == 0x8a9136aau);
  bytes.fill(0xff);
  BOOST_TEST(crc() == 0x62a8ab43u);
  std::generate(bytes.begin(), bytes.end(),
                [n = 0]() mutable { return static_cast<unsigned char>(n++); });
  BOOST_TEST(crc() == 0x46dd794eu);
  std::ranges::reverse(bytes);
  BOOST_TEST(crc() == 0x113fdb5cu);
  BOOST_TEST(crc32c(bytes_of("123456789")) == 0xe3069283u);
  BOOST_TEST(crc32c({}) == 0u);
}

// As TensorFlow's tf.io.TFRecordWriter writes b"hello".
BOOST_AUTO_TEST_CASE(a_record_has_tensorflows_bytes) {
  std::vector<std::byte> file;
  append_record(file, bytes_of("hello"));
  using namespace std::string_view_literals;
  BOOST_TEST(text_of(file) == "\5\0\0\0\0\0\0\0\xea\xb2\x04\x3ehello\xbb\x1f\x1c\x19"sv);
}

BOOST_AUTO_TEST_CASE(records_come_back_whatever_the_pieces) {
  const auto file = sample_file();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, file.size()})
    BOOST_TEST(read_in_pieces(file, piece) == sample, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_found) {
  std::vector<std::byte> file;
  append_record(file, bytes_of("some bytes"));
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    auto damaged = file;
    damaged[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    BOOST_TEST((status_of(damaged).code == Code::data_loss), "bit " << bit);
  }
}

BOOST_AUTO_TEST_CASE(every_cut_within_a_record_is_found) {
  std::vector<std::byte> file;
  append_record(file, bytes_of("some bytes"));
  for (std::size_t size = 1; size < file.size(); ++size)
    BOOST_TEST((status_of(std::span(file).first(size)).code == Code::data_loss), "size " << size);
  BOOST_TEST(status_of({}).ok());
}

BOOST_AUTO_TEST_CASE(an_error_names_file_record_and_offset) {
  std::vector<std::byte> file;
  append_record(file, bytes_of("one"));
  append_record(file, bytes_of("two"));
  file.back() ^= std::byte{1};
  BOOST_TEST(
      status_of(file).to_string() ==
      "data_loss: record 1 at byte 19 of 'sample': the checksum of its 3 bytes is wrong; the file is "
      "damaged");
}

BOOST_AUTO_TEST_CASE(a_record_above_the_limit_is_refused_by_its_length_alone) {
  std::vector<std::byte> file;
  append_record(file, bytes_of(std::string(1000, 'x')));
  BOOST_TEST(status_of(file, 1000).ok());
  const Status status = status_of(std::span(file).first(12), 999);
  BOOST_TEST((status.code == Code::resource_exhausted));
  BOOST_TEST(status.message ==
             "record 0 at byte 0 of 'sample' has 1000 bytes, but the reader's limit is 999");
}

BOOST_AUTO_TEST_SUITE_END()
