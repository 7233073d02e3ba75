#include "apps/training/idx.h"

#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "dataflow/error.h"
#include "test/apps/support/folder.h"

using namespace actorflow;
using test::Folder;
using test::write_file;

namespace {

using namespace std::string_literals;

// Three images of 2 x 2 pixels.
const std::string header = "\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02"s;
const std::string pixels = "abcdefghijkl";

void write_gzip(const std::string& path, const std::string& content) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
}

auto complains(Code code, const std::string& word) {
  return [=](const Error& error) {
    BOOST_TEST_MESSAGE(error.what());
    return error.code() == code && std::string(error.what()).find(word) != std::string::npos;
  };
}

void expect_data_loss(const std::string& content, const std::string& word) {
  const Folder folder;
  write_file(folder.file("images"), content);
  BOOST_CHECK_EXCEPTION(read_idx(folder.file("images"), 3), Error, complains(Code::data_loss, word));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(idx)

BOOST_AUTO_TEST_CASE(plain_and_compressed_files_are_the_same) {
  const Folder folder;
  write_file(folder.file("plain"), header + pixels);
  write_gzip(folder.file("packed.gz"), header + pixels);
  for (const char* name : {"plain", "packed"}) {
    const Tensor tensor = read_idx(folder.file(name), 3);
    BOOST_TEST(tensor.describe() == "uint8[3,2,2]");
    const auto values = tensor.values<std::uint8_t>();
    BOOST_TEST(std::string(values.begin(), values.end()) == pixels);
  }
}

BOOST_AUTO_TEST_CASE(a_plain_file_goes_before_a_compressed_one) {
  const Folder folder;
  write_file(folder.file("images"), header + pixels);
  write_gzip(folder.file("images.gz"), header + "mnopqrstuvwx");
  BOOST_TEST(read_idx(folder.file("images"), 3).values<std::uint8_t>()[0] == 'a');
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  const Folder folder;
  BOOST_CHECK_EXCEPTION(read_idx(folder.file("images"), 3), Error,
                        complains(Code::not_found, folder.file("images")));
}

BOOST_AUTO_TEST_CASE(a_file_of_something_else_is_refused) {
  expect_data_loss("GIF89a" + header + pixels, "00 00 08 03");
  expect_data_loss("\0\0\x0d\x03"s + header.substr(4) + pixels, "00 00 0d 03");  // floats
  expect_data_loss("\0\0\x08\x01"s + header.substr(4) + pixels, "00 00 08 01");  // labels
  expect_data_loss("", "has 0");
}

BOOST_AUTO_TEST_CASE(every_truncation_is_found) {
  const std::string whole = header + pixels;
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_data_loss(whole.substr(0, size), "expected");
}

BOOST_AUTO_TEST_CASE(every_truncation_of_a_compressed_file_is_found) {
  const Folder folder;
  write_gzip(folder.file("whole.gz"), header + pixels);
  const std::string whole = test::read_file(folder.file("whole.gz"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(folder.file("part.gz"), whole.substr(0, size));
    BOOST_CHECK_THROW(read_idx(folder.file("part"), 3), Error);
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_compressed_file_is_found) {
  const Folder folder;
  write_gzip(folder.file("whole.gz"), header + pixels);
  std::string damaged = test::read_file(folder.file("whole.gz"));
  damaged[damaged.size() - 6] ^= 1;  // of the checksum
  write_file(folder.file("damaged.gz"), damaged);
  BOOST_CHECK_EXCEPTION(read_idx(folder.file("damaged"), 3), Error,
                        complains(Code::data_loss, "damaged"));
}

BOOST_AUTO_TEST_CASE(bytes_after_the_values_are_refused) {
  expect_data_loss(header + pixels + "m", "goes on");
}

BOOST_AUTO_TEST_CASE(memory_is_not_taken_for_what_the_file_cannot_hold) {
  const std::string magic = "\0\0\x08\x03"s;
  expect_data_loss(magic + "\x7f\xff\xff\xff\0\0\xff\xff\0\0\0\x01"s + pixels, "at most");
  expect_data_loss(magic + std::string(12, '\xff') + pixels, "impossible");
}

BOOST_AUTO_TEST_SUITE_END()
