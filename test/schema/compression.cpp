#include <boost/test/unit_test.hpp>
#include <random>

#include "schema/formats/block_compression.h"
#include "test/schema/support/memory_source.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(compression)

using namespace actorflow;
using test::contains;

namespace {

using namespace std::string_literals;

const std::vector<Compression> all = {Compression::gzip, Compression::zstd, Compression::lz4};
const std::vector<Compression> of_blocks = {Compression::zstd, Compression::lz4};

// Written by the programs zstd and lz4.
const std::string hello = "hello hello hello hello, compressed by its own program\n";
const std::string hello_zst =
    "\x28\xb5\x2f\xfd\x24\x37\x6d\x01\x00\x64\x02\x68\x65\x6c\x6c\x6f\x20\x2c\x20\x63\x6f\x6d"s
    "\x70\x72\x65\x73\x73\x65\x64\x20\x62\x79\x20\x69\x74\x73\x20\x6f\x77\x6e\x20\x70\x72\x6f"s
    "\x67\x72\x61\x6d\x0a\x01\x00\x99\x4b\x11\xcc\x6c\x6b\x4b"s;
const std::string hello_lz4 =
    "\x04\x22\x4d\x18\x64\x40\xa7\x2b\x00\x00\x00\x6d\x68\x65\x6c\x6c\x6f\x20\x06\x00\xf0\x11"s
    "\x2c\x20\x63\x6f\x6d\x70\x72\x65\x73\x73\x65\x64\x20\x62\x79\x20\x69\x74\x73\x20\x6f\x77"s
    "\x6e\x20\x70\x72\x6f\x67\x72\x61\x6d\x0a\x00\x00\x00\x00\xf2\x3d\xb4\x4b"s;

std::string packed(const std::string& text, Compression compression, std::size_t piece_bytes = 1 << 20) {
  std::string file;
  const auto sink = compressed(std::make_unique<test::MemorySink>(file), compression);
  for (std::size_t at = 0; at < text.size(); at += piece_bytes)
    sink->write(std::as_bytes(std::span(text).subspan(at, std::min(piece_bytes, text.size() - at))));
  sink->finish();
  return file;
}

std::string unpacked(const std::string& file, Compression compression) {
  return test::contents(*decompressed(test::plain(file), compression));
}

std::string error_of(const std::string& file, Compression compression) {
  try {
    unpacked(file, compression);
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::data_loss));
    return error.what();
  }
  return "no error";
}

// Some of it repeats, some does not.
std::string sample(std::size_t bytes) {
  std::mt19937_64 random(5);
  std::string text;
  while (text.size() < bytes) {
    if (random() % 3 == 0)
      text += "a phrase that comes again and again ";
    else
      text += static_cast<char>(random());
  }
  text.resize(bytes);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_compressed_comes_back) {
  for (const auto compression : all)
    for (const std::size_t bytes : {0u, 1u, 1000u, 300'000u, 5'000'000u})
      for (const std::size_t piece : {999u, 70'000u, 4'000'000u}) {
        const std::string text = sample(bytes);
        const std::string file = packed(text, compression, piece);
        BOOST_TEST((unpacked(file, compression) == text), bytes << " bytes");
        if (bytes > 1000) BOOST_TEST(file.size() < bytes / 2);
      }
}

BOOST_AUTO_TEST_CASE(files_of_other_programs_are_read) {
  BOOST_TEST(unpacked(hello_zst, Compression::zstd) == hello);
  BOOST_TEST(unpacked(hello_lz4, Compression::lz4) == hello);
  BOOST_TEST(unpacked(test::gzipped(hello), Compression::gzip) == hello);
  const std::string large = sample(3'000'000);
  BOOST_TEST((unpacked(test::gzipped(large), Compression::gzip) == large));
}

BOOST_AUTO_TEST_CASE(the_name_or_the_beginning_tells_how_a_file_is_compressed) {
  BOOST_TEST((compression_of("a/b.csv.gz") == Compression::gzip));
  BOOST_TEST((compression_of("b.zst") == Compression::zstd));
  BOOST_TEST((compression_of("b.lz4") == Compression::lz4));
  BOOST_TEST((compression_of("gz") == Compression::none));
  for (const auto& file : {hello, test::gzipped(hello), hello_zst, hello_lz4})
    BOOST_TEST(test::contents(*test::memory(file)) == hello);
  BOOST_TEST(test::contents(*test::memory("")) == "");
  BOOST_TEST(test::contents(*test::memory("\x1f")) == "\x1f");
}

BOOST_AUTO_TEST_CASE(several_members_or_frames_are_one_file) {
  const std::string text = sample(200'000);
  for (const auto compression : all) {
    const std::string one = packed(text, compression), none = packed("", compression);
    BOOST_TEST((unpacked(one + none + one, compression) == text + text));
    BOOST_TEST((unpacked(one + std::string(300'000, '\0'), compression) == text));  // as on tapes
  }
}

BOOST_AUTO_TEST_CASE(every_cut_is_found_and_named) {
  for (const auto compression : all) {
    const std::string whole = packed(sample(700), compression);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string error = error_of(whole.substr(0, size), compression);
      BOOST_TEST(contains(error, "file: at byte " + std::to_string(size)), error);
      BOOST_TEST(contains(error, "truncated"), error);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_behind_the_end_is_named) {
  for (const auto compression : all)
    BOOST_CHECK_EXCEPTION(unpacked(packed(sample(700), compression) + "junk\n", compression), Error,
                          test::says("behind the end of the compressed data"));
}

BOOST_AUTO_TEST_CASE(a_cut_of_a_large_file_is_found) {
  const std::string text = sample(3'000'000);
  for (const auto compression : all) {
    const std::string whole = packed(text, compression);
    for (const std::size_t left_out : {1u, 5u, 100'000u})
      BOOST_TEST(contains(error_of(whole.substr(0, whole.size() - left_out), compression), "truncated"));
  }
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_found_or_harmless) {
  const std::string text = sample(300);
  for (const auto compression : all) {
    const std::string whole = packed(text, compression);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      try {
        BOOST_TEST((unpacked(damaged, compression) == text), static_cast<int>(compression)
                                                                 << ": " << bit);
      } catch (const Error& error) {
        BOOST_TEST((error.code() == Code::data_loss));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_left_is_bounded) {
  for (const auto compression : all) {
    const std::string text(1'000'000, 'x');
    const auto source = decompressed(test::plain(packed(text, compression)), compression);
    for (std::size_t left = text.size(); left > 0; left -= 1000) {
      BOOST_TEST(source->most_bytes_left() >= left);
      BOOST_TEST(source->skip(1000) == 1000u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_compression_has_the_extension_by_which_it_is_known) {
  for (const auto compression : all)
    BOOST_TEST((compression_of(std::string("file.csv") + extension_of(compression)) == compression));
  BOOST_TEST(extension_of(Compression::none) == std::string());
}

BOOST_AUTO_TEST_CASE(blocks_come_back_or_are_refused) {
  for (const auto kind : of_blocks) {
    const std::string text = sample(100'000);
    const auto bytes = std::as_bytes(std::span(text));
    std::vector<std::byte> block(text.size() / 5 * 4), back(text.size());
    const std::size_t size = compress_block(kind, bytes, block);
    BOOST_REQUIRE((size > 0 && size <= block.size()));
    block.resize(size);
    BOOST_TEST(decompress_block(kind, block, back));
    BOOST_TEST(std::ranges::equal(back, bytes));
    BOOST_TEST(!decompress_block(kind, std::span(block).first(size / 2), back));
    BOOST_TEST(!decompress_block(kind, block, std::span(back).first(back.size() - 1)));
    back.resize(back.size() + 1);
    BOOST_TEST(!decompress_block(kind, block, back));
    for (const auto other : {Compression::none, Compression::gzip})
      BOOST_TEST(!decompress_block(other, block, back));
    std::vector<std::byte> small(10);
    BOOST_TEST(compress_block(kind, bytes, small) == 0u);  // it does not fit
  }
}

BOOST_AUTO_TEST_CASE(blocks_grow_by_no_more_than_is_said) {
  const std::vector<std::byte> zeros(8'000'000);
  for (const auto kind : of_blocks) {
    std::vector<std::byte> block(zeros.size() / 5 * 4), back(zeros.size());
    block.resize(compress_block(kind, zeros, block));
    BOOST_TEST(decompress_block(kind, block, back));
    BOOST_TEST((back.size() / most_growth(kind) <= block.size()));
    BOOST_TEST((back.size() > most_growth(kind) / 5 * block.size()));
  }
  BOOST_TEST(!compresses_blocks(Compression::gzip));
}

BOOST_AUTO_TEST_CASE(blocks_that_do_not_shrink_by_a_fifth_are_left_alone_for_a_while) {
  const std::string text = sample(100'000);
  const auto easy = std::as_bytes(std::span(text));
  std::mt19937 random(1);
  std::vector<std::byte> hard(text.size()), back(text.size());
  for (auto& byte : hard) byte = static_cast<std::byte>(random());
  BlocksWhereItPays blocks;
  auto kind = Compression::lz4;
  const auto shrinks = [&](std::span<const std::byte> block) {
    const auto made = blocks.shrunk(kind, block);
    if (made.data() == block.data()) return false;
    BOOST_TEST(made.size() <= block.size() / 5 * 4);
    BOOST_TEST(decompress_block(kind, made, back));
    BOOST_TEST(std::ranges::equal(back, block));
    return true;
  };
  BOOST_TEST(shrinks(easy));
  BOOST_TEST(!shrinks(hard));
  for (int i = 0; i < 15; ++i) BOOST_TEST(!shrinks(easy));
  BOOST_TEST(shrinks(easy));
  BOOST_TEST(shrinks(easy));
  BOOST_TEST(!shrinks({}));
  BOOST_TEST(!shrinks(easy.first(255)));
  BOOST_TEST(shrinks(easy));
  kind = Compression::zstd;
  BOOST_TEST(shrinks(easy));
  kind = Compression::none;
  BOOST_TEST(!shrinks(easy));
}

BOOST_AUTO_TEST_SUITE_END()
