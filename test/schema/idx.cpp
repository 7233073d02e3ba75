#include <boost/test/unit_test.hpp>

#include "test/schema/support/memory_source.h"

BOOST_AUTO_TEST_SUITE(idx)

using namespace actorflow;
using test::contains;
using test::memory;

namespace {

using namespace std::string_literals;

// Three images of 2 x 2 pixels.
const std::string header = "\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02"s;
const std::string pixels = "abcdefghijkl";

std::string text_of(const std::vector<Tuple>& images) {
  std::string text;
  for (const auto& image : images)
    for (const auto value : image[0].values<std::uint8_t>()) text += static_cast<char>(value);
  return text;
}

void expect_data_loss(const std::string& content, const std::string& word) {
  const Status status = test::status_of_reading([&] { return read_idx(memory(content)); });
  BOOST_TEST((status.code == Code::data_loss), status.to_string());
  BOOST_TEST(contains(status.message, word), status.message);
  BOOST_TEST(contains(status.message, "file"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(plain_and_compressed_files_are_the_same) {
  for (const auto& content : {header + pixels, test::gzipped(header + pixels)}) {
    const auto images = test::all_of(*read_idx(memory(content)));
    BOOST_TEST(images.size() == 3u);
    BOOST_TEST(describe(images[0]) == "uint8[2,2]");
    BOOST_TEST(text_of(images) == pixels);
  }
}

BOOST_AUTO_TEST_CASE(elements_of_a_vector_are_scalars) {
  const auto labels = test::all_of(*read_idx(memory("\0\0\x08\x01\0\0\0\x02"s + "xy")));
  BOOST_TEST(describe(labels[1]) == "uint8[]");
  BOOST_TEST(labels[1][0].scalar<std::uint8_t>() == 'y');
}

BOOST_AUTO_TEST_CASE(elements_can_be_passed_over) {
  for (const auto& content : {header + pixels, test::gzipped(header + pixels)}) {
    const auto reader = read_idx(memory(content));
    BOOST_TEST(reader->skip(2) == 2);
    BOOST_TEST(text_of(test::all_of(*reader)) == "ijkl");
    BOOST_TEST(reader->skip(5) == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_file_of_something_else_is_refused) {
  expect_data_loss("GIF89a" + header + pixels, "47 49 46 38");
  expect_data_loss("\0\0\x0d\x03"s + header.substr(4) + pixels, "00 00 0d 03");  // floats
  expect_data_loss("\0\0\x08\0"s + header.substr(4) + pixels, "00 00 08 00");
  expect_data_loss("\0\0\x08\x09"s + header.substr(4) + pixels, "00 00 08 09");
}

BOOST_AUTO_TEST_CASE(every_truncation_is_found) {
  const std::string whole = header + pixels;
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_data_loss(whole.substr(0, size), "expected");
}

BOOST_AUTO_TEST_CASE(every_truncation_of_a_compressed_file_is_found) {
  const std::string whole = test::gzipped(header + pixels);
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_data_loss(whole.substr(0, size), "expected");
}

BOOST_AUTO_TEST_CASE(a_wrong_checksum_of_a_compressed_file_is_found) {
  std::string damaged = test::gzipped(header + pixels);
  damaged[damaged.size() - 6] ^= 1;
  expect_data_loss(damaged, "damaged");
}

BOOST_AUTO_TEST_CASE(bytes_after_the_values_are_refused) {
  expect_data_loss(header + pixels + "m", "goes on");
  expect_data_loss(test::gzipped(header + pixels + "m"), "goes on");
}

BOOST_AUTO_TEST_CASE(elements_without_bytes_are_refused) {
  const std::string many("\0\0\x08\x02\xff\xff\xff\xff\0\0\0\0", 12);
  const Status status = test::status_of_reading([&] { return read_idx(memory(many)); });
  BOOST_TEST((status.code == Code::data_loss));
  BOOST_TEST(test::contains(status.message, "4294967295 elements without bytes"), status.message);
}

BOOST_AUTO_TEST_CASE(memory_is_not_taken_for_what_the_file_cannot_hold) {
  const std::string magic = "\0\0\x08\x03"s;
  expect_data_loss(magic + "\x7f\xff\xff\xff\0\0\xff\xff\0\0\0\x01"s + pixels, "at most");
  expect_data_loss(magic + std::string(12, '\xff') + pixels, "impossible");
}

BOOST_AUTO_TEST_SUITE_END()
