#include <boost/test/unit_test.hpp>

#include "schema/formats/array_header.h"
#include "test/schema/support/memory_source.h"

BOOST_AUTO_TEST_SUITE(npy_files)

using namespace actorflow;
using test::contains;

namespace {

using namespace std::string_literals;

// As numpy 2 writes it: padded to 64 bytes, with an end of line.
std::string npy(const std::string& dictionary, char major = 1) {
  std::string file = "\x93NUMPY"s + major + '\0';
  const std::size_t before = file.size() + (major == 1 ? 2 : 4);
  const std::size_t size = (before + dictionary.size() + 1 + 63) / 64 * 64 - before;
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += static_cast<char>(size >> (8 * i));
  file += dictionary;
  file.resize(before + size - 1, ' ');
  return file + "\n";
}

const std::string rows_of_two = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }";

ArrayHeader header_of(const std::string& file) { return read_npy_header(*test::memory(file)); }

void expect_data_loss(const std::string& file, const std::string& word) {
  try {
    header_of(file);
    BOOST_ERROR("accepted, but expected: " << word);
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::data_loss));
    BOOST_TEST(contains(error.what(), word), error.what());
    BOOST_TEST(contains(error.what(), "file: "), error.what());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_are_fixed_records) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  std::string file = npy(rows_of_two);
  BOOST_TEST(file.size() == 128u);
  file.append(reinterpret_cast<const char*>(values.data()), 48);
  const ArrayHeader header = header_of(file);
  BOOST_TEST(header.header_bytes == 128u);
  BOOST_TEST(header.element == "float64");
  BOOST_TEST(header.rows == 3);
  BOOST_TEST((header.row_shape == Shape{2}));
  BOOST_TEST(header.row_bytes == 16u);
  RecordBlocks rows(test::plain(file), row_records(header), {0, 130, 150});
  const auto second = rows.next();
  BOOST_TEST(second.size() == 16u);
  BOOST_TEST(std::memcmp(second.data(), values.data() + 2, 16) == 0);
}

BOOST_AUTO_TEST_CASE(versions_and_types_are_known) {
  for (const char version : {'\1', '\2', '\3'})
    BOOST_TEST(header_of(npy(rows_of_two, version) + std::string(48, 0)).rows == 3);
  const auto element = [](const std::string& descr) {
    return header_of(npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }") +
                     std::string(16, 0));
  };
  BOOST_TEST(element("|u1").element == "uint8");
  BOOST_TEST(element("<i8").row_bytes == 8u);
  BOOST_TEST(element("<f2").element == "float16");
  BOOST_TEST(element("<f2").row_bytes == 2u);
  BOOST_TEST((element("|b1").row_shape == Shape{}));
}

BOOST_AUTO_TEST_CASE(other_files_are_refused) {
  const auto with = [](const std::string& descr, const std::string& order, const std::string& shape) {
    return npy("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }") +
           std::string(100, '\0');
  };
  expect_data_loss("GIF89a and so on", "47 49 46");
  expect_data_loss("\x93NUMPY\x09"s + std::string(100, ' '), "version of 1 to 3");
  expect_data_loss(with("'>f4'", "False", "(3,)"), "'>f4'");
  expect_data_loss(with("[('a', '<f4')]", "False", "(3,)"), "[('a'");
  expect_data_loss(with("'|O'", "False", "(3,)"), "'|O'");
  expect_data_loss(with("'|V2'", "False", "(3,)"), "save the array as float32 or float16");
  expect_data_loss(with("'<f4'", "True", "(3, 2)"), "'fortran_order': True");
  for (const std::string shape : {"()", "3", "(3", "(-3,)", "(a,)", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", ""})
    expect_data_loss(with("'<f4'", "False", shape), "'shape'");
}

BOOST_AUTO_TEST_CASE(memory_is_not_taken_for_what_the_file_cannot_hold) {
  const auto of_shape = [](const std::string& shape) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }");
  };
  expect_data_loss(of_shape("(1000,)") + "1234", "at most");
  expect_data_loss(of_shape("(9223372036854775807, 2)"), "impossible");
  expect_data_loss(of_shape("(4611686018427387904,)"), "impossible");
  expect_data_loss(of_shape("(3, 0)"), "without bytes");
  expect_data_loss("\x93NUMPY\2\0\xff\xff\xff\xff"s, "announces 4294967295");
}

BOOST_AUTO_TEST_CASE(every_truncation_is_found) {
  const std::string whole = npy(rows_of_two) + std::string(48, 'x');
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_data_loss(whole.substr(0, size), "expected");
}

BOOST_AUTO_TEST_SUITE_END()
