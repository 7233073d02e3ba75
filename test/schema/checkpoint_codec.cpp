#include "schema/checkpoint_codec.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/error.h"
#include "schema/checksum.h"

using namespace actorflow;

namespace {

Manifest sample() {
  Manifest manifest;
  manifest.global_step = 1234;
  manifest.files = {{"step-1234.safetensors", 1000, 0xfeedfacecafebeef}};
  manifest.tensors = {{"dense/w", DType::float32, {10, 20}, 0, 100, 800, 17},
                      {"global_step", DType::int64, {}, 0, 992, 8, 18}};
  return manifest;
}

Code code_of(const std::vector<std::byte>& bytes) {
  try {
    decode_manifest(bytes);
    return Code::ok;
  } catch (const Error& error) {
    return error.code();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_codec)

BOOST_AUTO_TEST_CASE(a_manifest_comes_back_as_it_was) {
  const Manifest manifest = decode_manifest(encode_manifest(sample()));
  BOOST_TEST(manifest.global_step == 1234);
  BOOST_REQUIRE(manifest.files.size() == 1u);
  BOOST_TEST(manifest.files[0].name == "step-1234.safetensors");
  BOOST_TEST(manifest.files[0].size_bytes == 1000u);
  BOOST_TEST(manifest.files[0].checksum == 0xfeedfacecafebeefu);
  BOOST_REQUIRE(manifest.tensors.size() == 2u);
  const auto& entry = manifest.tensors[0];
  BOOST_TEST(entry.name == "dense/w");
  BOOST_TEST((entry.dtype == DType::float32));
  BOOST_TEST((entry.shape == Shape{10, 20}));
  BOOST_TEST(entry.offset == 100u);
  BOOST_TEST(entry.size_bytes == 800u);
  BOOST_TEST(entry.checksum == 17u);
  BOOST_TEST((manifest.tensors[1].shape == Shape()));
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_found) {
  const auto good = encode_manifest(sample());
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    BOOST_REQUIRE((code_of(bad) == Code::data_loss));
  }
}

BOOST_AUTO_TEST_CASE(every_other_length_is_found) {
  const auto good = encode_manifest(sample());
  for (std::size_t size = 0; size < good.size(); ++size)
    BOOST_REQUIRE(
        (code_of({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}) == Code::data_loss));
  auto longer = good;
  longer.resize(good.size() + 8);
  BOOST_TEST((code_of(longer) == Code::data_loss));
}

BOOST_AUTO_TEST_CASE(an_entry_outside_of_its_file_is_found) {
  Manifest manifest = sample();
  manifest.tensors[0].offset = ~std::uint64_t{0};
  BOOST_TEST((code_of(encode_manifest(manifest)) == Code::data_loss));
  manifest = sample();
  manifest.tensors[0].file = 1;
  BOOST_TEST((code_of(encode_manifest(manifest)) == Code::data_loss));
}

BOOST_AUTO_TEST_CASE(a_checksum_is_that_of_xxh64_however_the_bytes_come) {
  const auto bytes = std::as_bytes(std::span("Nobody inspects the spammish repetition", 39));
  BOOST_TEST(checksum({}) == 0xef46db3751d8e999u);
  BOOST_TEST(checksum(bytes) == 0xfbcea83c8a378bf1u);
  Checksum pieces;
  pieces.update(bytes.first(7));
  pieces.update({});
  pieces.update(bytes.subspan(7));
  BOOST_TEST(pieces.value() == 0xfbcea83c8a378bf1u);
}

BOOST_AUTO_TEST_SUITE_END()
