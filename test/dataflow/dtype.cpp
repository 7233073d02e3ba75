#include <boost/test/unit_test.hpp>

#include "dataflow/values/dtype.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(dtype)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(names_lead_back_to_types) {
  for (auto type :
       {DType::float32, DType::float64, DType::int32, DType::int64, DType::boolean, DType::uint8,
        DType::string, DType::float16, DType::bfloat16, DType::int8, DType::int16})
    BOOST_TEST((parse_dtype(to_string(type)) == type));
  BOOST_TEST(to_string(DType::boolean) == "bool");
}

BOOST_AUTO_TEST_CASE(an_unknown_name_lists_the_known_ones) {
  BOOST_CHECK_EXCEPTION(parse_dtype("float8"), Error,
                        test::invalid_with({"'float8'", "float32", "string", "bfloat16", "int16"}));
  BOOST_CHECK_EXCEPTION(parse_dtype("invalid"), Error, test::invalid_with({"'invalid'"}));
}

BOOST_AUTO_TEST_CASE(sizes_are_those_of_the_cpp_types) {
  BOOST_TEST(size_of(DType::float64) == sizeof(double));
  BOOST_TEST(size_of(DType::boolean) == sizeof(bool));
  BOOST_TEST(size_of(DType::float16) == sizeof(Float16));
  BOOST_TEST(size_of(DType::int16) == sizeof(std::int16_t));
  BOOST_TEST(size_of(static_cast<DType>(99)) == 0U);
}

BOOST_AUTO_TEST_CASE(kinds_are_told_apart) {
  for (const auto type : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    BOOST_TEST((is_floating(type) && !is_integer(type)));
    BOOST_TEST(is_float32_or_64(type) != is_short_floating(type));
  }
  for (const auto type : {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8})
    BOOST_TEST((is_integer(type) && !is_floating(type)));
  for (const auto type : {DType::boolean, DType::string, DType::invalid})
    BOOST_TEST((!is_integer(type) && !is_floating(type)));
}

// They are in files and messages.
BOOST_AUTO_TEST_CASE(numbers_stay) {
  BOOST_TEST(static_cast<int>(dtype_of<std::string>) == 7);
  BOOST_TEST(static_cast<int>(dtype_of<Float16>) == 8);
  BOOST_TEST(static_cast<int>(dtype_of<BFloat16>) == 9);
  BOOST_TEST(static_cast<int>(dtype_of<std::int8_t>) == 10);
  BOOST_TEST(static_cast<int>(dtype_of<std::int16_t>) == 11);
}

BOOST_AUTO_TEST_SUITE_END()
