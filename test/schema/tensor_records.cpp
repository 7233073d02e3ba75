// Tensors as records: their bytes, and bytes that are none.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "dataflow/values/error.h"
#include "dataflow/values/tensor.h"
#include "schema/records/heap_bytes.h"
#include "schema/records/record_codec.h"
#include "schema/records/stored_record.h"
#include "test/support/status_of.h"
#include "test/support/strange_memory.h"

BOOST_AUTO_TEST_SUITE(tensor_records)

using namespace actorflow;

namespace {

using Bytes = std::vector<std::byte>;

template <Record T>
Bytes encoded(const T& record) {
  Bytes bytes(encoded_size(record));
  BOOST_TEST(encode(record, bytes.data()) == bytes.data() + bytes.size());
  return bytes;
}

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Tensor decoded(const Bytes& bytes) {
  RecordReader reader(bytes);
  Tensor tensor = decode<Tensor>(reader);
  BOOST_TEST(reader.empty());
  return tensor;
}

void expect_refused(const Bytes& bytes, const std::string& expected) {
  const Status status = test::status_of([&] { decoded(bytes); });
  BOOST_TEST((status.code == Code::data_loss), status.to_string());
  BOOST_TEST(status.message.find(expected) != status.message.npos, status.message);
}

constexpr int f32 = static_cast<int>(DType::float32), boolean = static_cast<int>(DType::boolean),
              uint8 = static_cast<int>(DType::uint8), string = static_cast<int>(DType::string),
              last = static_cast<int>(DType::int16);

}  // namespace

BOOST_AUTO_TEST_CASE(tensors_of_every_dtype_and_of_none_come_back) {
  const Tensor all[] = {{},
                        {1.5F, -0.0F, std::numeric_limits<float>::quiet_NaN()},
                        {1.0, -2.0},
                        {1, 2},
                        Tensor::scalar<std::int64_t>(-7),
                        {{true, false}, {false, true}},
                        Tensor::of<std::uint8_t>({3, 1}, {1, 2, 255}),
                        {std::string("a"), std::string(300, 'b'), std::string()},
                        {Float16(1.5), Float16::of_bits(0x7E01)},
                        {BFloat16(-0.0), BFloat16(1e30)},
                        Tensor::of<std::int8_t>({2}, {-128, 127}),
                        Tensor::of<std::int16_t>({2}, {-32768, 32767}),
                        Tensor::zeros(DType::float64, {0, std::int64_t{1} << 62, 3}),
                        Tensor::zeros(DType::int32, {1, 1, 1, 1, 2, 1, 1, 1})};
  for (const Tensor& tensor : all) {
    const Bytes bytes = encoded(tensor);
    const Tensor again = decoded(bytes);
    BOOST_TEST(again.describe() == tensor.describe());
    BOOST_TEST(identical(again, tensor), tensor.describe());
    BOOST_TEST((encoded(again) == bytes), tensor.describe());
  }
}

BOOST_AUTO_TEST_CASE(the_encoding_of_a_tensor_is_the_documented_one) {
  BOOST_TEST((encoded(Tensor()) == bytes_of({0})));
  BOOST_TEST((encoded(Tensor::of<std::uint8_t>({2, 1}, {7, 8})) == bytes_of({uint8, 2, 2, 1, 7, 8})));
  BOOST_TEST(
      (encoded(Tensor{std::string("ab"), std::string()}) == bytes_of({string, 1, 2, 2, 'a', 'b', 0})));
  BOOST_TEST((record_layout<std::pair<int, Tensor>>()) == "pair<int32,tensor>");
}

BOOST_AUTO_TEST_CASE(decoded_tensors_own_their_bytes_which_need_no_alignment) {
  Bytes bytes = encoded(std::pair(char('x'), Tensor{1.0, 2.0}));
  RecordReader reader(bytes);
  const Tensor tensor = decode<std::pair<char, Tensor>>(reader).second;
  BOOST_TEST(tensor.exclusive());
  std::ranges::fill(bytes, std::byte{0xff});
  BOOST_TEST(identical(tensor, Tensor{1.0, 2.0}));
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(tensor.data()) % buffer_alignment == 0u);
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_tensor_are_refused) {
  expect_refused({}, "expected 1 byte of a dtype, but 0 bytes are left");
  expect_refused(bytes_of({last + 1, 0}), "the number of a dtype");
  expect_refused(bytes_of({f32}), "byte of a rank");
  expect_refused(bytes_of({f32, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1}), "a rank of at most 8");
  expect_refused(bytes_of({f32, 1, 2, 0, 0, 0, 0, 0, 0, 0}),
                 "expected 8 bytes of a tensor, but 7 bytes are left");
  expect_refused(bytes_of({f32, 1}), "byte of a size");
  expect_refused(bytes_of({boolean, 1, 2, 1, 2}), "0 or 1 in each byte before");
  expect_refused(bytes_of({string, 1, 3, 1, 'a'}), "expected 3 texts of a tensor, but 2");
  expect_refused(bytes_of({string, 1, 2, 1, 'a', 1}), "expected 1 bytes of text, but 0");
}

// With the address sanitizer's and the fuzzers' limits, an allocation of these would end the test.
BOOST_AUTO_TEST_CASE(hostile_shapes_take_no_memory) {
  const auto with_dims = [](int dtype, const std::vector<std::uint64_t>& dims) {
    Bytes bytes = bytes_of({dtype, static_cast<int>(dims.size())});
    for (const std::uint64_t dim : dims) {
      bytes.resize(bytes.size() + detail::size_bytes(dim));
      detail::encode_size(dim, bytes.data() + bytes.size() - detail::size_bytes(dim));
    }
    bytes.resize(bytes.size() + 16);
    return bytes;
  };
  constexpr std::uint64_t large = std::uint64_t{1} << 40;
  expect_refused(with_dims(f32, {large}), "expected 4398046511104 bytes of a tensor, but 16");
  expect_refused(with_dims(f32, {large, large}), "a tensor of less than 2^63 bytes");
  expect_refused(with_dims(f32, {std::uint64_t{1} << 61}), "a tensor of less than 2^63 bytes");
  expect_refused(with_dims(f32, {std::uint64_t{1} << 63}), "a dimension below 2^63");
  expect_refused(with_dims(string, {large}), "expected 1099511627776 texts of a tensor");
  expect_refused(with_dims(string, {large, large}), "a tensor of less than 2^63 bytes");
}

BOOST_AUTO_TEST_CASE(a_tensor_on_a_gpu_is_refused) {
  static test::ClaimsToBeOnGpu gpu;
  const Tensor tensor(DType::float32, {2}, gpu.allocate(8));
  const Status status = test::status_of([&] { encoded_size(tensor); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("float32[2] lives on a GPU") != status.message.npos, status.message);
}

BOOST_AUTO_TEST_CASE(what_a_tensor_holds_is_counted) {
  static_assert(has_heap<Tensor> && has_heap<std::pair<int, Tensor>>);
  static_assert(
      std::is_same_v<StoredRecord<std::pair<std::string_view, Tensor>>, std::pair<std::string, Tensor>>);
  BOOST_TEST(heap_bytes(Tensor()) == 0u);
  const Tensor zeros = Tensor::zeros(DType::float32, {1000});
  BOOST_TEST((heap_bytes(zeros) >= 4000u && heap_bytes(zeros) < 4200u));
  BOOST_TEST((heap_bytes(std::vector<Tensor>(100, zeros)) > 400'000u));
  const Tensor texts =
      Tensor::of<std::string>({100}, std::vector<std::string>(100, std::string(1000, 'x')));
  BOOST_TEST((heap_bytes(texts) >= 100'000u && heap_bytes(texts) < 120'000u));
}

BOOST_AUTO_TEST_SUITE_END()
