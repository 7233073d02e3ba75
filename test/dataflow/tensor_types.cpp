#include "dataflow/graph/tensor_types.h"

#include <boost/test/unit_test.hpp>

#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(tensor_types)

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(a_list_survives_its_text) {
  const std::vector<TensorType> types = {{DType::uint8, {28, -1}},
                                         {DType::int64, {}},
                                         {DType::string, Shape::unknown_rank()},
                                         {DType::boolean, {0}}};
  BOOST_TEST(to_string(types) == "uint8[28,?] int64[] string<unknown> bool[0]");
  BOOST_TEST((parse_tensor_types(to_string(types)) == types));
  BOOST_TEST(parse_tensor_types("").empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_type_is_named) {
  for (const char* text : {"float32", "float32[", "float32[1,]", "float32[-1]", "float32[x]", "[]",
                           "float32<>", "float33[1]", "float32[1]]"})
    BOOST_CHECK_THROW(parse_tensor_types(text), Error);
  BOOST_CHECK_EXCEPTION(parse_tensor_types("int64[] float32[a]"), Error,
                        invalid_with({"float32[a]", "float32[28,?]"}));
}

BOOST_AUTO_TEST_CASE(a_tuple_fits_types_of_its_dtypes_and_shapes) {
  const std::vector<Tensor> tuple = {Tensor::of<float>({2}, {1, 2}), Tensor::scalar<std::int64_t>(3)};
  BOOST_TEST(describe(tuple) == "float32[2] int64[]");
  BOOST_TEST(fits(tuple, parse_tensor_types("float32[?] int64[]")));
  BOOST_TEST(!fits(tuple, parse_tensor_types("float32[3] int64[]")));
  BOOST_TEST(!fits(tuple, parse_tensor_types("float32[2]")));
  BOOST_TEST(!fits(tuple, parse_tensor_types("float32[2] int32[]")));
}

BOOST_AUTO_TEST_SUITE_END()
