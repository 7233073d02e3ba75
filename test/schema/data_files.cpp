#include <boost/test/unit_test.hpp>

#include "schema/tfrecord.h"
#include "test/schema/support/memory_source.h"

BOOST_AUTO_TEST_SUITE(data_files)

using namespace actorflow;
using test::contains;
using test::memory;

namespace {

using namespace std::string_literals;

// Two records of CIFAR-10: planes of one value each.
std::string cifar_file() {
  std::string file;
  for (const char label : {'\x03', '\x09'})
    file += std::string(1, label) + std::string(1024, 'r') + std::string(1024, 'g') + std::string(1024, 'b');
  return file;
}

std::vector<std::string> texts(ElementReader& reader) {
  std::vector<std::string> texts;
  for (const auto& element : test::all_of(reader)) texts.push_back(element[0].scalar<std::string>());
  return texts;
}

}  // namespace

BOOST_AUTO_TEST_CASE(cifar10_records_are_images_and_labels) {
  const auto elements = test::all_of(*read_cifar10(memory(cifar_file())));
  BOOST_TEST(elements.size() == 2u);
  BOOST_TEST(describe(elements[1]) == "uint8[3,32,32] uint8[]");
  BOOST_TEST(elements[1][0].values<std::uint8_t>()[1024] == 'g');
  BOOST_TEST(elements[1][1].scalar<std::uint8_t>() == 9);
}

BOOST_AUTO_TEST_CASE(cifar10_records_can_be_passed_over) {
  const auto reader = read_cifar10(memory(cifar_file()));
  BOOST_TEST(reader->skip(1) == 1);
  Tuple element;
  BOOST_TEST(reader->next(element));
  BOOST_TEST(element[1].scalar<std::uint8_t>() == 9);
  BOOST_TEST(reader->skip(7) == 0);
}

BOOST_AUTO_TEST_CASE(a_cut_cifar10_record_is_named) {
  const std::string whole = cifar_file();
  for (const std::size_t size : {1u, 1000u, 3072u, 3074u, 6145u}) {
    const auto cut = [&] { return read_cifar10(memory(whole.substr(0, size))); };
    const Status status = test::status_of_reading(cut);
    BOOST_TEST((status.code == Code::data_loss));
    BOOST_TEST(contains(status.message, "ends after " + std::to_string(size % 3073) + " of them"));
    BOOST_CHECK_THROW(cut()->skip(9), Error);
  }
  const Status status =
      test::status_of_reading([&] { return read_cifar10(memory("\x0a" + whole.substr(1))); });
  BOOST_TEST(contains(status.message, "label of 0 to 9, got 10"));
}

BOOST_AUTO_TEST_CASE(lines_lose_their_ends) {
  BOOST_TEST(texts(*read_lines(memory("one\n\ntwo\r\nthree"))) ==
                 (std::vector<std::string>{"one", "", "two", "three"}),
             boost::test_tools::per_element());
  BOOST_TEST(texts(*read_lines(memory(""))).empty());
}

BOOST_AUTO_TEST_CASE(lines_may_be_longer_than_a_block) {
  const std::string line(1'000'000, 'x');
  const auto lines = texts(*read_lines(memory(line + "\n" + line)));
  BOOST_TEST(lines.size() == 2u);
  BOOST_TEST((lines[1] == line));
}

BOOST_AUTO_TEST_CASE(records_are_strings_and_every_truncation_is_found) {
  std::vector<std::byte> bytes;
  for (const auto& text : {"first"s, ""s, "third"s}) append_record(bytes, std::as_bytes(std::span(text)));
  const std::string whole(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  BOOST_TEST(texts(*read_tfrecords(memory(whole))) == (std::vector<std::string>{"first", "", "third"}),
             boost::test_tools::per_element());
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const bool between = size == 21 || size == 37;  // records of 16 bytes and their content
    const Status status =
        test::status_of_reading([&] { return read_tfrecords(memory(whole.substr(0, size))); });
    BOOST_TEST((status.code == (between ? Code::ok : Code::data_loss)), size << ": " << status.to_string());
  }
}

BOOST_AUTO_TEST_CASE(several_compressed_parts_are_one_file) {
  const std::string parts = test::gzipped("one\ntwo\n") + test::gzipped("three\n");
  BOOST_TEST(texts(*read_lines(memory(parts))) == (std::vector<std::string>{"one", "two", "three"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_of_compressed_data_is_found_or_harmless) {
  const std::string text = "a line that is long enough to be compressed, compressed, compressed\n";
  const std::string whole = test::gzipped(text);
  for (std::size_t bit = 10 * 8; bit < whole.size() * 8; ++bit) {  // after gzip's header
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    try {
      const auto lines = texts(*read_lines(memory(damaged)));  // the bits that fill up the last byte
      BOOST_TEST((lines.size() == 1 && lines[0] + "\n" == text), bit);
    } catch (const Error& error) {
      BOOST_TEST((error.code() == Code::data_loss), bit << ": " << error.what());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
