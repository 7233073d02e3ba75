#include <boost/test/unit_test.hpp>

#include "dataflow/values/error.h"
#include "schema/records/heap_bytes.h"
#include "schema/records/record_codec.h"
#include "schema/records/stored_record.h"
#include "test/schema/support/memory_source.h"
#include "test/schema/support/random_records.h"

BOOST_AUTO_TEST_SUITE(records)

using namespace actorflow;
using test::contains;

namespace {

using View = std::string_view;

enum class Colour : std::uint16_t { red, green };

struct Row {
  std::array<std::uint8_t, 10> key;
  std::array<std::uint8_t, 90> rest;
};
struct Point {
  std::array<double, 3> at;
  float weight;
  std::int32_t count;
  bool operator==(const Point&) const = default;
};
struct Order {
  std::uint64_t id = 0;
  std::string name;
  std::optional<Point> place;
  std::vector<std::pair<std::string, double>> items;
  Colour colour = Colour::red;
  bool paid = false;
  bool operator==(const Order&) const = default;
};
struct Twelve {
  bool a;
  char b;
  std::int8_t c;
  std::uint16_t d;
  float e;
  double f;
  std::string g;
  std::optional<std::string> h;
  std::array<std::string, 2> i;
  std::tuple<std::int64_t> j;
  std::vector<bool> k;
  Colour l;
};
struct Padded {
  std::uint8_t small;
  std::uint32_t large;
  bool operator==(const Padded&) const = default;
};

struct Example {
  std::string name;
  Tensor image;
  std::optional<Tensor> mask;
  std::int64_t label;
};

struct Base {};
struct Derived : Base {
  int a, b;
};
struct WithArray {
  char name[4];
  int x;
};
struct WithPointer {
  int a;
  const char* name;
};
struct Thirteen {
  int a, b, c, d, e, f, g, h, i, j, k, l, m;
};
class Private {
  int a = 0;
};
union Either {
  int a;
  float b;
};

static_assert(Record<Row> && Record<Order> && Record<Twelve> && Record<std::pair<Order, Row>>);
static_assert(!Record<Base> && !Record<Derived> && !Record<WithArray> && !Record<WithPointer>);
static_assert(!Record<Thirteen> && !Record<Private> && !Record<Either> && !Record<int*> &&
              !Record<int&>);
static_assert(!Record<const int> && !Record<long double> && !Record<std::vector<int*>> &&
              !Record<std::tuple<>>);

static_assert(is_key<Order>() && is_key<std::pair<std::optional<View>, Row>>() && !is_key<Tensor>());
static_assert(!is_key<Example>() && !is_key<std::vector<std::array<Tensor, 2>>>());

static_assert(is_flat_record<Row> && is_flat_record<Point> && is_flat_record<double> &&
              is_flat_record<Colour>);
static_assert(is_flat_record<Float16> && is_flat_record<std::array<BFloat16, 2>>);
static_assert(!is_key<Float16>() && !is_key<std::pair<int, BFloat16>>());
static_assert(!is_flat_record<Padded> && !is_flat_record<bool> && !is_flat_record<std::pair<int, int>>);
static_assert(!is_flat_record<std::string_view> && !is_flat_record<std::array<bool, 2>>);
static_assert(!is_flat_record<int*> && !is_flat_record<std::optional<int>>);

static_assert(fixed_encoded_size<std::pair<Float16, std::array<BFloat16, 2>>> == 6);
static_assert(fixed_encoded_size<Row> == 100 && fixed_encoded_size<Padded> == 5);
static_assert(fixed_encoded_size<std::tuple<bool, std::array<std::pair<int, char>, 2>>> == 11);
static_assert(fixed_encoded_size<std::string> == 0 &&
              fixed_encoded_size<std::array<std::string, 2>> == 0);

static_assert(std::is_same_v<StoredRecord<Order>, Order>);
static_assert(
    std::is_same_v<StoredRecord<std::tuple<std::vector<View>, std::array<std::optional<View>, 2>>>,
                   std::tuple<std::vector<std::string>, std::array<std::optional<std::string>, 2>>>);

template <Record T>
std::vector<std::byte> encoded(const T& record) {
  std::vector<std::byte> bytes(encoded_size(record));
  BOOST_TEST(encode(record, bytes.data()) == bytes.data() + bytes.size());
  return bytes;
}

std::string decode_error(const auto& decode_them) {
  try {
    decode_them();
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::data_loss));
    return error.what();
  }
  return "no error";
}

template <class T>
std::string error_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return decode_error([&] {
    RecordReader reader(bytes);
    decode<T>(reader);
  });
}

#define EVERY_KIND                                                                                   \
  bool, char, std::int8_t, std::uint16_t, std::int64_t, float, double, Colour, std::string,          \
      std::string_view, std::array<std::uint8_t, 3>, std::array<std::string, 3>, std::optional<int>, \
      std::optional<std::string>, std::vector<bool>, std::vector<double>, std::vector<std::string>,  \
      Row, std::pair<std::string_view, std::int64_t>, std::tuple<std::string, bool, float>, Padded,  \
      Point, std::vector<std::vector<std::optional<Padded>>>, Order, Twelve, Tensor, Example

}  // namespace

BOOST_AUTO_TEST_CASE(records_of_every_kind_survive_the_round_trip) {
  test::for_random_records<EVERY_KIND>(200, [](const auto& record) {
    const auto bytes = encoded(record);
    RecordReader reader(bytes);
    const auto again = decode<std::remove_cvref_t<decltype(record)>>(reader);
    BOOST_TEST(reader.empty());
    BOOST_TEST((encoded(again) == bytes), record_layout<std::remove_cvref_t<decltype(record)>>());
    if constexpr (requires { record == again; }) BOOST_TEST((record == again));
  });
}

BOOST_AUTO_TEST_CASE(numbers_of_16_bits_are_their_bytes) {
  using Numbers =
      std::tuple<Float16, std::array<BFloat16, 2>, std::vector<Float16>, std::optional<Float16>>;
  const Numbers numbers{Float16(1.5), {BFloat16(-2), BFloat16(1e30)}, {Float16(0.25)}, Float16(-0.0)};
  const auto bytes = encoded(numbers);
  BOOST_TEST(bytes.size() == 2u + 4u + 3u + 3u);
  BOOST_TEST((bytes[0] == std::byte{0x00} && bytes[1] == std::byte{0x3E}));
  RecordReader reader(bytes);
  const auto again = decode<Numbers>(reader);
  BOOST_TEST(reader.empty());
  BOOST_TEST((again == numbers));
  BOOST_TEST(heap_bytes(Float16(1)) == 0u);
}

BOOST_AUTO_TEST_CASE(records_lie_back_to_back) {
  std::vector<std::byte> bytes(100);
  std::byte* end = encode(std::string("one"), bytes.data());
  end = encode(std::int16_t{-2}, end);
  end = encode(std::vector<std::string>{"three", ""}, end);
  BOOST_TEST(end - bytes.data() == 4 + 2 + 8);
  RecordReader reader(bytes.data(), end);
  BOOST_TEST(decode<std::string_view>(reader) == "one");
  BOOST_TEST(decode<std::int16_t>(reader) == -2);
  BOOST_TEST((decode<std::vector<std::string>>(reader) == std::vector<std::string>{"three", ""}));
  BOOST_TEST(reader.empty());
}

BOOST_AUTO_TEST_CASE(the_encoding_is_the_documented_one) {
  const auto record =
      std::tuple(std::uint32_t{0x04030201}, true, std::optional<char>('x'), std::string(200, 'y'));
  const auto bytes = encoded(record);
  const unsigned char beginning[] = {1, 2, 3, 4, 1, 1, 'x', 0xc8, 0x01, 'y'};
  BOOST_TEST(bytes.size() == 9u + 200u);
  BOOST_TEST(std::memcmp(bytes.data(), beginning, sizeof beginning) == 0);
  const Row row{{1, 2}, {3}};
  BOOST_TEST(std::memcmp(encoded(row).data(), &row, sizeof row) == 0);
}

BOOST_AUTO_TEST_CASE(texts_are_borrowed_or_owned_as_the_type_says) {
  const auto bytes = encoded(std::pair(View("borrowed"), 1));
  RecordReader reader(bytes), again(bytes);
  const auto borrowed = decode<std::pair<View, int>>(reader);
  BOOST_TEST(static_cast<const void*>(borrowed.first.data()) == bytes.data() + 1);
  BOOST_TEST(stored(borrowed).first == "borrowed");
  BOOST_TEST((stored(borrowed) == decode<std::pair<std::string, int>>(again)));
}

BOOST_AUTO_TEST_CASE(stored_records_are_the_same_records) {
  using Views =
      std::tuple<std::vector<View>, std::array<std::optional<View>, 2>, std::pair<View, double>>;
  test::for_random_records<View, Views>(100, [](const auto& record) {
    const auto bytes = encoded(record);
    BOOST_TEST((encoded(stored(record)) == bytes));
    BOOST_TEST(record_layout<std::remove_cvref_t<decltype(record)>>() ==
               record_layout<std::remove_cvref_t<decltype(stored(record))>>());
  });
}

BOOST_AUTO_TEST_CASE(every_truncation_is_an_error_that_names_its_place) {
  test::for_random_records<EVERY_KIND>(20, [](const auto& record) {
    const auto bytes = encoded(record);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      RecordReader reader(cut);
      const auto error = decode_error([&] { decode<std::remove_cvref_t<decltype(record)>>(reader); });
      BOOST_TEST(contains(error, "expected"), error);
      BOOST_TEST(contains(error, "left"), error);
    }
  });
  BOOST_TEST((error_of<std::pair<std::int16_t, std::int32_t>>({1, 2, 3})) ==
             "at byte 2 of records: expected 4 bytes of a number or struct, but 1 bytes are left");
}

// With the address sanitizer's and the fuzzers' limits, an allocation of these would end the test.
BOOST_AUTO_TEST_CASE(hostile_sizes_take_no_memory) {
  BOOST_TEST(contains(error_of<std::string>({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 'x'}),
                      "expected 9223372036854775807 bytes of text, but 1 bytes are left"));
  BOOST_TEST(
      contains(error_of<std::vector<double>>({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}),
               "expected 18446744073709551615 elements"));
  BOOST_TEST(
      contains(error_of<std::vector<std::vector<bool>>>({0x80, 0x80, 0x80, 0x80, 0x10}), "elements"));
  BOOST_TEST(contains(error_of<std::vector<std::string>>({3, 0, 0}), "expected 3 elements, but 2"));
}

BOOST_AUTO_TEST_CASE(values_that_no_encoder_writes_are_refused) {
  BOOST_TEST(contains(error_of<bool>({2}), "0 or 1"));
  BOOST_TEST(contains(error_of<std::vector<bool>>({2, 1, 7}), "at byte 3"));
  BOOST_TEST(contains(error_of<std::optional<int>>({2, 0, 0, 0, 0}), "0 or 1"));
  BOOST_TEST(contains(error_of<std::string>({0x81, 0, 'x'}), "as few bytes as possible"));
  BOOST_TEST(contains(error_of<std::string>({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}),
                      "64 bits"));
  BOOST_TEST(
      contains(error_of<std::string>({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80, 1}),
               "64 bits"));
}

BOOST_AUTO_TEST_CASE(what_records_hold_besides_themselves_is_counted) {
  static_assert(!has_heap<Row> && !has_heap<std::pair<View, int>> && has_heap<Order>);
  BOOST_TEST(heap_bytes(std::string("short")) == 0u);
  const std::string text(1000, 'x');
  BOOST_TEST((heap_bytes(text) >= 1000u && heap_bytes(text) < 1100u));
  BOOST_TEST((heap_bytes(std::pair{1, std::optional(text)}) == heap_bytes(text)));
  const std::vector<double> numbers(100);
  BOOST_TEST((heap_bytes(numbers) >= 800u && heap_bytes(numbers) < 900u));
  BOOST_TEST(heap_bytes(std::vector<double>()) == 0u);
  const std::vector<std::string> texts(1000, text);
  const auto bytes = static_cast<double>(heap_bytes(texts));
  BOOST_TEST(std::abs(bytes / double(1000 * (heap_bytes(text) + sizeof text)) - 1) < 0.05);
}

BOOST_AUTO_TEST_CASE(layouts_name_the_encoding) {
  BOOST_TEST((record_layout<std::pair<std::string, std::int64_t>>()) == "pair<string,int64>");
  BOOST_TEST((record_layout<std::pair<View, long>>()) == "pair<string,int64>");
  BOOST_TEST((record_layout<std::pair<Float16, std::array<BFloat16, 2>>>()) ==
             "pair<float16,array<bfloat16,2>>");
  BOOST_TEST(record_layout<Row>() == "{array<uint8,10>,array<uint8,90>}");
  BOOST_TEST(record_layout<Order>() ==
             "{uint64,string,optional<{array<float64,3>,float32,int32}>,"
             "vector<pair<string,float64>>,enum<uint16>,bool}");
  BOOST_TEST((record_layout<std::tuple<char, std::optional<signed char>>>()) ==
             "tuple<char,optional<int8>>");
}

BOOST_AUTO_TEST_SUITE_END()
