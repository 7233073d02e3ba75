#include "schema/codec/checkpoint_codec.h"

#include <capnp/any.h>
#include <capnp/message.h>
#include <capnp/serialize.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/checkpoint.capnp.h"
#include "schema/checksum.h"

BOOST_AUTO_TEST_SUITE(checkpoint_codec)

using namespace actorflow;

namespace {

Manifest sample() {
  Manifest manifest;
  manifest.global_step = 1234;
  manifest.saved_at_s = 1'700'000'000;
  manifest.block_bytes = 512;
  manifest.files = {{"step-1234.safetensors", 1000, 92, 0xfeedfacecafebeef}};
  Manifest::Entry slice;
  slice.name = "dense/w/adam/m";
  slice.variable = "dense/w";
  slice.dtype = DType::float32;
  slice.shape = {10, 20};
  slice.first_row = 30;
  slice.full_rows = 40;
  slice.offset = 100;
  slice.size_bytes = 800;
  slice.checksums = {17, 19};
  Manifest::Entry step;
  step.name = "global_step";
  step.dtype = DType::int64;
  step.offset = 992;
  step.size_bytes = 8;
  step.checksums = {18};
  manifest.tensors = {slice, step};
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

BOOST_AUTO_TEST_CASE(a_manifest_comes_back_as_it_was) {
  const Manifest manifest = decode_manifest(encode_manifest(sample()));
  BOOST_TEST(manifest.global_step == 1234);
  BOOST_REQUIRE(manifest.files.size() == 1u);
  BOOST_TEST(manifest.files[0].name == "step-1234.safetensors");
  BOOST_TEST(manifest.files[0].size_bytes == 1000u);
  BOOST_TEST(manifest.files[0].header_bytes == 92u);
  BOOST_TEST(manifest.files[0].header_checksum == 0xfeedfacecafebeefu);
  BOOST_TEST(manifest.saved_at_s == 1'700'000'000);
  BOOST_TEST(manifest.block_bytes == 512u);
  BOOST_REQUIRE(manifest.tensors.size() == 2u);
  const auto& entry = manifest.tensors[0];
  BOOST_TEST(entry.name == "dense/w/adam/m");
  BOOST_TEST(entry.variable == "dense/w");
  BOOST_TEST(entry.first_row == 30);
  BOOST_TEST(entry.full_rows == 40);
  BOOST_TEST((entry.dtype == DType::float32));
  BOOST_TEST((entry.shape == Shape{10, 20}));
  BOOST_TEST(entry.offset == 100u);
  BOOST_TEST(entry.size_bytes == 800u);
  BOOST_TEST((entry.checksums == std::vector<std::uint64_t>{17, 19}));
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

BOOST_AUTO_TEST_CASE(an_entry_that_cannot_be_is_found) {
  const auto code_with = [](auto change) {
    Manifest manifest = sample();
    change(manifest, manifest.tensors[0]);
    return code_of(encode_manifest(manifest));
  };
  const auto expect_data_loss = [&](auto change) { BOOST_TEST((code_with(change) == Code::data_loss)); };
  BOOST_TEST((code_with([](Manifest&, Manifest::Entry&) {}) == Code::ok));
  expect_data_loss([](Manifest&, Manifest::Entry& entry) { entry.offset = ~std::uint64_t{0}; });
  expect_data_loss([](Manifest&, Manifest::Entry& entry) { entry.offset = 50; });  // in the header
  expect_data_loss([](Manifest&, Manifest::Entry& entry) { entry.file = 1; });
  expect_data_loss([](Manifest&, Manifest::Entry& entry) { entry.checksums.pop_back(); });
  expect_data_loss([](Manifest&, Manifest::Entry& entry) { entry.first_row = 31; });
  expect_data_loss([](Manifest& manifest, Manifest::Entry&) { manifest.block_bytes = 0; });
  expect_data_loss([](Manifest&, Manifest::Entry& entry) { entry.dtype = DType::invalid; });
  expect_data_loss([](Manifest&, Manifest::Entry& entry) { entry.shape.set(0, entry.shape[0] + 1); });
  expect_data_loss([](Manifest&, Manifest::Entry& entry) { entry.shape.set(0, std::int64_t{1} << 62); });
}

BOOST_AUTO_TEST_CASE(a_list_that_announces_more_than_it_has_bytes_is_found) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<wire::Manifest>();
  root.setVersion(wire::MANIFEST_VERSION);
  root.setBlockBytes(1);
  capnp::AnyStruct::Builder fields(kj::mv(root));
  fields.getPointerSection()[0].initAs<capnp::List<capnp::Void>>((1U << 29) - 1);  // the files
  const auto words = capnp::messageToFlatArray(message);
  const auto body = std::as_bytes(std::span(words.begin(), words.size()));
  std::vector<std::byte> bytes(body.begin(), body.end());
  const std::uint64_t sum = checksum(body);
  const auto* tail = reinterpret_cast<const std::byte*>(&sum);
  bytes.insert(bytes.end(), tail, tail + sizeof sum);
  BOOST_TEST((code_of(bytes) == Code::data_loss));
}

BOOST_AUTO_TEST_CASE(another_version_is_refused_by_both_numbers) {
  auto bytes = encode_manifest(sample());
  constexpr std::size_t version_at = 16;  // behind the segment table and the pointer to the root
  BOOST_REQUIRE((bytes[version_at] == std::byte{2}));
  bytes[version_at] = std::byte{1};
  const auto sum = checksum(std::span(bytes).first(bytes.size() - sizeof(std::uint64_t)));
  std::memcpy(bytes.data() + bytes.size() - sizeof sum, &sum, sizeof sum);
  BOOST_CHECK_EXCEPTION(decode_manifest(bytes), Error, [](const Error& error) {
    const std::string what = error.what();
    return error.code() == Code::failed_precondition && what.find("version 1") != std::string::npos &&
           what.find("version 2") != std::string::npos;
  });
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
