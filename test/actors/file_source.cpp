#include "actors/input/file_source.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "dataflow/values/error.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(file_source)

using namespace actorflow;

namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937_64 random(4);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(pieces_of_any_size_are_the_files_bytes) {
  const test::Folder folder;
  const std::string path = folder.file("file");
  const auto bytes = random_bytes(5'000'001);
  posix_storage().write_atomically(path, bytes);
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    const auto source = open_data_file(posix_storage(), path, Compression::none);
    std::size_t at = 0;
    while (at < bytes.size()) {
      BOOST_REQUIRE(source->most_bytes_left() == bytes.size() - at);
      std::vector<std::byte> piece(random() % 3 == 0 ? 1 + random() % 3'000'000 : 1 + random() % 5'000);
      if (random() % 4 == 0) {
        at += source->skip(piece.size());
        continue;
      }
      const std::size_t got = source->read(piece);
      BOOST_REQUIRE(got == std::min(piece.size(), bytes.size() - at));
      BOOST_REQUIRE(std::equal(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got),
                               bytes.begin() + static_cast<std::ptrdiff_t>(at)));
      at += got;
    }
    std::vector<std::byte> more(2'000'000);
    BOOST_TEST(source->read(more) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(any_bytes_may_look_like_a_compressed_file) {
  const test::Folder folder;
  const std::string path = folder.file("records");
  std::vector<std::byte> bytes{std::byte{0x1f}, std::byte{0x8b}, std::byte{7}};
  posix_storage().write_atomically(path, bytes);
  std::vector<std::byte> read(10);
  BOOST_TEST(open_data_file(posix_storage(), path, compression_of(path))->read(read) == 3u);
  BOOST_CHECK_THROW(open_data_file(posix_storage(), path)->read(read), Error);
}

BOOST_AUTO_TEST_SUITE_END()
