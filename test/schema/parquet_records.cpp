// Which fields take which columns of Parquet files, and records of their values: without a file.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "dataflow/values/error.h"
#include "schema/parquet/parquet_record.h"
#include "test/schema/support/memory_source.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(parquet_records)

using namespace actorflow;
using test::contains;
using test::error_of;

namespace {

using Kind = ParquetColumn::Kind;

enum class Colour : std::int8_t { red = -1, green };

ParquetColumn column(Kind kind, int bits = 0, bool is_signed = true) {
  return {.name = "c", .type = "a type", .kind = kind, .bits = bits, .is_signed = is_signed};
}
ParquetColumn decimal(int precision, int scale) {
  return {.name = "c", .type = "a type", .kind = Kind::decimal, .precision = precision, .scale = scale};
}

// Which of these types take the column, as a text.
template <class... T>
std::string takers(const ParquetColumn& column) {
  std::string text;
  ((text += takes_column(parquet_fields<T>().at(0), column)
                ? (text.empty() ? "" : " ") + record_layout<T>()
                : ""),
   ...);
  return text;
}
std::string takers_of(const ParquetColumn& column) {
  return takers<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                std::uint32_t, std::uint64_t, float, double, char, std::string>(column);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_field_takes_what_it_holds_without_loss) {
  BOOST_TEST(takers_of(column(Kind::boolean)) == "bool");
  BOOST_TEST(takers_of(column(Kind::integer, 8)) == "int8 int16 int32 int64 float32 float64");
  BOOST_TEST(takers_of(column(Kind::integer, 16)) == "int16 int32 int64 float32 float64");
  BOOST_TEST(takers_of(column(Kind::integer, 32)) == "int32 int64 float64");
  BOOST_TEST(takers_of(column(Kind::integer, 64)) == "int64");
  BOOST_TEST(takers_of(column(Kind::integer, 8, false)) ==
             "int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64");
  BOOST_TEST(takers_of(column(Kind::integer, 32, false)) == "int64 uint32 uint64 float64");
  BOOST_TEST(takers_of(column(Kind::integer, 64, false)) == "uint64");
  BOOST_TEST(takers_of(column(Kind::real, 24)) == "float32 float64");
  BOOST_TEST(takers_of(column(Kind::real, 53)) == "float64");
  BOOST_TEST(takers_of(column(Kind::text)) == "char string");
  BOOST_TEST(takers_of(column(Kind::date, 32)) == "int32 int64 char string");
  BOOST_TEST(takers_of(column(Kind::time, 32)) == "int32 int64");
  BOOST_TEST(takers_of(column(Kind::time, 64)) == "int64");
  BOOST_TEST(takers_of(column(Kind::other)) == "");
}

BOOST_AUTO_TEST_CASE(a_decimal_wants_its_digits) {
  BOOST_TEST(takers_of(decimal(2, 0)) == "int8 int16 int32 int64 float32 float64 char string");
  BOOST_TEST(takers_of(decimal(3, 0)) == "int16 int32 int64 float32 float64 char string");
  BOOST_TEST(takers_of(decimal(9, 0)) == "int32 int64 float64 char string");
  BOOST_TEST(takers_of(decimal(18, 0)) == "int64 char string");
  BOOST_TEST(takers_of(decimal(19, 0)) == "char string");
  BOOST_TEST(takers_of(decimal(6, 2)) == "float32 float64 char string");
  BOOST_TEST(takers_of(decimal(15, 2)) == "float64 char string");
  BOOST_TEST(takers_of(decimal(16, 2)) == "char string");
}

BOOST_AUTO_TEST_CASE(fields_within_fields_are_columns) {
  struct Row {
    std::pair<std::int64_t, Colour> pair;
    std::array<std::optional<float>, 2> numbers;
    std::string_view text;
    char flag;
  };
  const auto fields = parquet_fields<Row>();
  std::string layouts;
  for (const auto& field : fields) layouts += field.layout + (field.is_optional ? "? " : " ");
  BOOST_TEST(layouts == "int64 enum<int8> optional<float32>? optional<float32>? string char ");

  const std::int64_t integers[] = {5, std::numeric_limits<std::int64_t>::min()}, colours[] = {-1, 0};
  const double reals[] = {0.5, 0};
  const std::string_view texts[] = {"one", "two"}, flags[] = {"A", "AB"};
  const std::uint8_t first[] = {1, 0};
  const ParquetValues values[] = {
      {.integers = integers}, {.integers = colours}, {.reals = reals, .present = first},
      {.reals = reals},       {.texts = texts},      {.texts = flags}};
  const Row row = parse_parquet<Row>(values, 0);
  BOOST_TEST(row.pair.first == 5);
  BOOST_TEST((row.pair.second == Colour::red));
  BOOST_TEST((row.numbers[0] == 0.5F && row.numbers[1] == 0.5F));
  BOOST_TEST(row.text == "one");
  BOOST_TEST(row.flag == 'A');
  BOOST_TEST(error_of([&] { parse_parquet<Row>(values, 1); }) == "column 6: expected a char, got 'AB'");

  using Numbers = std::tuple<std::int64_t, Colour, std::optional<double>, float>;
  const auto numbers = parse_parquet<Numbers>(values, 1);
  BOOST_TEST(std::get<0>(numbers) == std::numeric_limits<std::int64_t>::min());
  BOOST_TEST(!std::get<2>(numbers));
  BOOST_TEST(error_of([&] {
               parse_parquet<std::pair<std::int64_t, double>>(std::span(values).subspan(1), 1);
             }) == "column 2: expected float64, got no value (null); read it into std::optional");
}

BOOST_AUTO_TEST_CASE(columns_are_found_by_their_names) {
  const ParquetColumn columns[] = {column(Kind::integer, 64), decimal(15, 2)};
  std::vector<ParquetColumn> named(columns, columns + 2);
  named[0].name = "key";
  named[1].name = "price";
  named[1].type = "decimal(15, 2)";
  const auto match = [&](const std::vector<std::string>& names,
                         const std::vector<ParquetField>& fields) {
    return match_columns("a.parquet", named, names, fields);
  };
  BOOST_TEST((match({"price", "key"}, parquet_fields<std::pair<double, std::int64_t>>()) ==
              std::vector<std::size_t>{1, 0}));
  BOOST_TEST(error_of([&] { match({"cost"}, parquet_fields<double>()); }) ==
             "'a.parquet' has no column 'cost'; its columns are: key, price");
  BOOST_TEST(error_of([&] {
               match({"key", "price"}, parquet_fields<std::pair<std::int64_t, float>>());
             }) ==
             "'a.parquet': the column 'price' is of the type decimal(15, 2), which field 2 of the job's "
             "records, float32, does not hold without loss; read it as float64 or a text");
}

BOOST_AUTO_TEST_SUITE_END()
