#include <boost/test/unit_test.hpp>

#include "dataflow/values/dtype.h"
#include "test/dataflow/expect.h"

using namespace actorflow;

BOOST_AUTO_TEST_SUITE(dtype)

BOOST_AUTO_TEST_CASE(names_lead_back_to_types) {
  for (auto type : {DType::float32, DType::float64, DType::int32, DType::int64, DType::boolean,
                    DType::uint8, DType::string})
    BOOST_TEST((parse_dtype(to_string(type)) == type));
  BOOST_TEST(to_string(DType::boolean) == "bool");
}

BOOST_AUTO_TEST_CASE(an_unknown_name_lists_the_known_ones) {
  BOOST_CHECK_EXCEPTION(parse_dtype("float16"), Error,
                        test::invalid_with({"'float16'", "float32", "string"}));
  BOOST_CHECK_EXCEPTION(parse_dtype("invalid"), Error, test::invalid_with({"'invalid'"}));
}

BOOST_AUTO_TEST_CASE(sizes_are_those_of_the_cpp_types) {
  BOOST_TEST(size_of(DType::float64) == sizeof(double));
  BOOST_TEST(size_of(DType::boolean) == sizeof(bool));
  BOOST_TEST(size_of(static_cast<DType>(99)) == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
