#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "dataflow/values/error.h"
#include "schema/records/key.h"
#include "schema/records/key_order.h"
#include "test/schema/support/random_records.h"

BOOST_AUTO_TEST_SUITE(record_keys)

using namespace actorflow;

namespace {

enum class Level : std::int8_t { low = -3, high = 4 };

struct Plain {  // without an order of its own
  std::uint16_t a;
  std::string b;
};
struct Backwards {
  int a;
  friend bool operator<(const Backwards& x, const Backwards& y) { return x.a > y.a; }
  bool operator==(const Backwards&) const = default;
};
struct Reading {  // nor has this one
  std::string sensor;
  double value;
};
struct Six {
  std::array<std::uint8_t, 6> bytes;
};

using Flags = std::pair<std::optional<std::int16_t>, bool>;

#define ORDERED_KINDS                                                                                  \
  bool, char, std::int8_t, std::uint8_t, std::int16_t, std::int64_t, std::uint64_t, float, double,     \
      Level, std::string, std::string_view, std::array<std::uint8_t, 10>, std::array<std::uint8_t, 3>, \
      std::array<std::int8_t, 9>, std::pair<std::int32_t, std::int32_t>,                               \
      std::pair<std::uint8_t, double>, std::pair<bool, std::string>,                                   \
      std::tuple<Level, std::string, double>, std::vector<std::int16_t>, std::vector<std::string>,     \
      std::vector<bool>, std::optional<double>, std::optional<std::string>, Flags, Backwards,          \
      std::array<std::pair<bool, float>, 2>, std::pair<Backwards, int>

static_assert(order_prefix_is_whole<std::int8_t> && order_prefix_is_whole<std::uint64_t>);
static_assert(order_prefix_is_whole<double> && order_prefix_is_whole<std::pair<int, float>> &&
              order_prefix_is_whole<Six>);
static_assert(order_prefix_is_whole<Flags> && !order_prefix_is_whole<std::array<std::uint8_t, 9>>);
static_assert(!order_prefix_is_whole<std::string> && !order_prefix_is_whole<Plain> &&
              !order_prefix_is_whole<Backwards>);

template <class K>
void expect_ascending(const std::vector<K>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const int order = order_of_keys(keys[i], keys[j]);
      BOOST_TEST((order < 0) == (i < j), record_layout<K>() << ' ' << i << ' ' << j);
      BOOST_TEST((order > 0) == (i > j), record_layout<K>() << ' ' << i << ' ' << j);
      if (i < j) BOOST_TEST(order_prefix(keys[i]) <= order_prefix(keys[j]), record_layout<K>());
    }
}

std::vector<std::byte> bytes_of(const auto& key) {
  std::vector<std::byte> scratch;
  const auto bytes = key_bytes(key, scratch);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_prefix_never_contradicts_the_order) {
  test::Random random(3);
  const auto check = [&]<class K>(std::type_identity<K>) {
    for (int i = 0; i < 3000; ++i) {
      const K a = test::random_record<K>(random), b = test::random_record<K>(random);
      if (a < b) BOOST_TEST(order_prefix(a) <= order_prefix(b), record_layout<K>());
      if (b < a) BOOST_TEST(order_prefix(b) <= order_prefix(a), record_layout<K>());
      const bool equal = !(a < b) && !(b < a);
      if (equal) BOOST_TEST(order_prefix(a) == order_prefix(b), record_layout<K>());
      BOOST_TEST((order_of_keys(a, b) < 0) == (a < b), record_layout<K>());
      BOOST_TEST((order_of_keys(a, b) > 0) == (b < a), record_layout<K>());
      if (order_prefix_is_whole<K>) BOOST_TEST(equal == (order_prefix(a) == order_prefix(b)));
    }
  };
  test::for_each_type<ORDERED_KINDS>(check);
}

BOOST_AUTO_TEST_CASE(keys_are_ordered_wherever_they_have_a_nan) {
  const double nan = std::nan("");
  expect_ascending<double>({-1, 0, std::numeric_limits<double>::infinity(), nan});
  expect_ascending<std::pair<std::int64_t, double>>({{1, -2}, {1, 0.5}, {1, nan}, {2, -1}});
  expect_ascending<std::tuple<std::string, float, int>>(
      {{"a", 1.0F, 2}, {"a", std::nanf(""), 1}, {"a", std::nanf(""), 2}, {"b", 0.0F, 0}});
  expect_ascending<std::array<double, 2>>({{0, 1}, {0, nan}, {nan, -1}, {nan, nan}});
  expect_ascending<std::vector<double>>({{}, {1}, {1, nan}, {1, nan, 0}, {nan}});
  expect_ascending<std::optional<double>>({std::nullopt, 1, nan});
  expect_ascending<Reading>({{"a", 1}, {"a", nan}, {"b", 0}});
}

BOOST_AUTO_TEST_CASE(a_prefix_tells_most_keys_apart) {
  BOOST_TEST(order_prefix(std::string("abcdefgh")) == 0x6162636465666768u);
  BOOST_TEST(order_prefix(std::string("a")) == std::uint64_t{0x61} << 56);
  BOOST_TEST(order_prefix(std::uint64_t{5}) == 5u);
  BOOST_TEST(order_prefix(std::int64_t{-1}) == 0x7fffffffffffffffu);
  BOOST_TEST(order_prefix(std::pair(std::uint8_t{1}, std::string("z"))) == 0x017a000000000000u);
  BOOST_TEST(order_prefix(Plain{2, "b"}) == 0x0002620000000000u);
  BOOST_TEST(order_prefix(Backwards{3}) == 0u);
  BOOST_TEST(order_prefix(-0.0) == order_prefix(0.0));
  BOOST_TEST(order_prefix(std::nan("")) > order_prefix(std::numeric_limits<double>::infinity()));
}

BOOST_AUTO_TEST_CASE(keys_come_back_from_their_bytes) {
  test::for_random_records<ORDERED_KINDS, Plain, Six>(100, [](const auto& key) {
    using K = std::remove_cvref_t<decltype(key)>;
    const auto bytes = bytes_of(key);
    const K again = key_from_bytes<K>(bytes);
    BOOST_TEST((bytes_of(again) == bytes));
    if constexpr (requires { key == again; }) BOOST_TEST((key == again), record_layout<K>());
  });
}

BOOST_AUTO_TEST_CASE(bytes_of_keys_are_encoded_and_taken_without_a_key) {
  test::for_random_records<ORDERED_KINDS, Plain, Reading, Six>(100, [](const auto& key) {
    using K = std::remove_cvref_t<decltype(key)>;
    const auto bytes = bytes_of(key);
    std::vector<std::byte> encoded(encoded_size_of_key<K>(bytes) + 1);  // and one that is not the key's
    BOOST_TEST((encode_key<K>(bytes, encoded.data()) == encoded.data() + encoded.size() - 1));
    RecordReader reader(encoded);
    BOOST_TEST(std::ranges::equal(take_key<K>(reader), bytes), record_layout<K>());
    BOOST_TEST(reader.bytes_left() == 1u, record_layout<K>());
    RecordReader again(encoded);
    BOOST_TEST((bytes_of(decode<K>(again)) == bytes), record_layout<K>());
    RecordReader cut(encoded.data(), encoded.data() + encoded.size() - 2);
    BOOST_CHECK_THROW(take_key<K>(cut), Error);
  });
}

BOOST_AUTO_TEST_CASE(texts_and_flat_keys_are_not_copied) {
  std::vector<std::byte> scratch;
  const std::string text = "characters alone";
  BOOST_TEST(static_cast<const void*>(key_bytes(text, scratch).data()) == text.data());
  BOOST_TEST(key_bytes(text, scratch).size() == text.size());
  const Six six{{1, 2, 3, 4, 5, 6}};
  BOOST_TEST(static_cast<const void*>(key_bytes(six, scratch).data()) == &six);
  BOOST_TEST(scratch.empty());
  const auto bytes = std::as_bytes(std::span(text));
  BOOST_TEST(key_from_bytes<std::string_view>(bytes).data() == text.data());
}

BOOST_AUTO_TEST_CASE(equal_floats_are_one_key) {
  BOOST_TEST((bytes_of(0.0) == bytes_of(-0.0)));
  BOOST_TEST((bytes_of(std::nan("1")) == bytes_of(-std::nan("2"))));
  BOOST_TEST((bytes_of(std::pair(1, std::vector{-0.0f})) == bytes_of(std::pair(1, std::vector{0.0f}))));
  BOOST_TEST((bytes_of(1.0) != bytes_of(-1.0)));
}

BOOST_AUTO_TEST_CASE(bytes_of_another_size_are_no_key) {
  const std::vector<std::byte> seven(7);
  BOOST_CHECK_THROW(key_from_bytes<std::int64_t>(seven), Error);
  BOOST_CHECK_THROW(key_from_bytes<std::int32_t>(seven), Error);
  BOOST_CHECK_THROW((key_from_bytes<std::pair<std::string, bool>>(seven)), Error);
}

// Computed by the library of Debian's package; the first is in xxHash's own tests.
BOOST_AUTO_TEST_CASE(the_hash_is_xxh3) {
  const auto hash = [](std::string_view text) { return hash_bytes(std::as_bytes(std::span(text))); };
  BOOST_TEST(hash("") == 0x2d06800538d394c2u);
  BOOST_TEST(hash("12345678") == 0x62e29b4cad9e2ef6u);
  BOOST_TEST(hash(std::string(1000, 'a')) == 0xb3e7af627147db7cu);
  std::set<std::uint64_t> low_bits;
  for (std::uint64_t i = 0; i < 4096; ++i)
    low_bits.insert(hash_bytes(std::as_bytes(std::span(&i, 1))) % 65536);
  BOOST_TEST(low_bits.size() > 3900u);
}

BOOST_AUTO_TEST_SUITE_END()
