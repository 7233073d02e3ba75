#include <boost/test/unit_test.hpp>

#include <cstdint>

#include "dataflow/values/borrowed_buffer.h"
#include "dataflow/values/tensor.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(tensor)

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(holds_its_elements_row_by_row) {
  const auto t = Tensor::of<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  BOOST_TEST(t.describe() == "int32[2,3]");
  BOOST_TEST(t.elements() == 6);
  BOOST_TEST(t.size_bytes() == 24U);
  BOOST_TEST(t.values<std::int32_t>()[4] == 5);
}

BOOST_AUTO_TEST_CASE(memory_is_aligned) {
  for (int elements = 0; elements < 100; elements += 7) {
    const auto t = Tensor::zeros(DType::float32, {elements});
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(t.data()) % buffer_alignment == 0U);
  }
}

BOOST_AUTO_TEST_CASE(copies_share_the_bytes) {
  auto a = Tensor::zeros(DType::float32, {4});
  BOOST_TEST(a.exclusive());
  {
    const Tensor b = a;
    BOOST_TEST(!a.exclusive());
    BOOST_TEST(a.data() == b.data());
  }
  BOOST_TEST(a.exclusive());
}

BOOST_AUTO_TEST_CASE(a_clone_has_bytes_of_its_own) {
  const auto a = Tensor::of<float>({2}, {1, 2});
  auto b = a.clone();
  b.mutable_values<float>()[0] = 9;
  BOOST_TEST(a.values<float>()[0] == 1);
  BOOST_TEST(b.values<float>()[1] == 2);
}

BOOST_AUTO_TEST_CASE(access_as_another_type_is_refused) {
  const auto t = Tensor::of<float>({2}, {1, 2});
  BOOST_CHECK_EXCEPTION(t.values<double>(), Error, invalid_with({"float64", "float32[2]"}));
  BOOST_CHECK_EXCEPTION(t.scalar<float>(), Error, invalid_with({"one element", "float32[2]"}));
  BOOST_TEST(Tensor::scalar(3.5F).scalar<float>() == 3.5F);
}

BOOST_AUTO_TEST_CASE(the_number_of_values_must_fit) {
  BOOST_CHECK_EXCEPTION(Tensor::of<float>({2, 2}, {1, 2, 3}), Error,
                        invalid_with({"float32[2,2] needs 4 values", "got 3"}));
}

BOOST_AUTO_TEST_CASE(reshaping_keeps_the_bytes) {
  const auto t = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto r = t.reshaped({3, 2});
  BOOST_TEST(r.data() == t.data());
  BOOST_TEST(r.describe() == "float32[3,2]");
  BOOST_CHECK_EXCEPTION(t.reshaped({4}), Error, invalid_with({"float32[2,3]", "[4]"}));
  BOOST_CHECK_EXCEPTION(t.reshaped({-1}), Error, invalid_with({"[?]"}));
}

BOOST_AUTO_TEST_CASE(strings_are_elements) {
  const auto t = Tensor::of<std::string>({2}, {"one", std::string(100, 'x')});
  const Tensor copy = t.clone();
  BOOST_TEST(copy.values<std::string>()[1].size() == 100U);
  BOOST_TEST(identical(t, copy));
  BOOST_TEST(Tensor::zeros(DType::string, {3}).values<std::string>()[2].empty());
}

BOOST_AUTO_TEST_CASE(booleans_are_elements) {
  const auto t = Tensor::of<bool>({3}, {true, false, true});
  BOOST_TEST(t.values<bool>()[0]);
  BOOST_TEST(!t.values<bool>()[1]);
}

BOOST_AUTO_TEST_CASE(identical_compares_type_shape_and_bytes) {
  const auto t = Tensor::of<float>({2}, {1, 2});
  BOOST_TEST(identical(t, Tensor::of<float>({2}, {1, 2})));
  BOOST_TEST(!identical(t, Tensor::of<float>({2}, {1, 3})));
  BOOST_TEST(!identical(t, Tensor::of<float>({2, 1}, {1, 2})));
  BOOST_TEST(!identical(t, Tensor::of<double>({2}, {1, 2})));
}

BOOST_AUTO_TEST_CASE(impossible_sizes_are_refused_before_memory_is_taken) {
  const std::int64_t large = std::int64_t{1} << 61;
  BOOST_CHECK_EXCEPTION(Tensor::allocate(DType::float64, {large}), Error, invalid_with({"2^63 bytes"}));
  BOOST_CHECK_EXCEPTION(Tensor::allocate(DType::float64, {-1}), Error, invalid_with({"fully known"}));
}

BOOST_AUTO_TEST_CASE(a_part_of_a_buffer_keeps_all_of_it_alive_and_from_being_changed) {
  auto whole = Tensor::of<std::int32_t>({32}, std::vector<std::int32_t>(32, 7));
  Tensor part(DType::int32, {16}, part_of(whole.buffer(), 64, 64));
  BOOST_TEST(part.data() == whole.values<std::int32_t>().data() + 16);
  BOOST_TEST(!whole.exclusive());
  BOOST_TEST(!part.exclusive());
  const Tensor copy = part;
  part = {};
  BOOST_TEST(!whole.exclusive());
  whole = {};
  BOOST_TEST(copy.values<std::int32_t>()[15] == 7);
}

// A sanitizer ends the process instead.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
BOOST_AUTO_TEST_CASE(running_out_of_memory_names_the_size) {
  const std::int64_t large = std::int64_t{1} << 61;
  BOOST_CHECK_EXCEPTION(Tensor::allocate(DType::uint8, {large}), Error,
                        test::error_with(Code::resource_exhausted, {std::to_string(large)}));
}
#endif

BOOST_AUTO_TEST_CASE(braces_hold_the_elements) {
  const Tensor row{1, 2, 3};
  BOOST_TEST(row.describe() == "int32[3]");
  const Tensor matrix{{1.5F, 2.0F}, {3.0F, 4.0F}, {5.0F, 6.0F}};
  BOOST_TEST(matrix.describe() == "float32[3,2]");
  BOOST_TEST(matrix.values<float>()[3] == 4);
  const Tensor cube{{{1.0}, {2.0}}, {{3.0}, {4.0}}};
  BOOST_TEST(cube.describe() == "float64[2,2,1]");
  BOOST_TEST(cube.values<double>()[2] == 3);
  BOOST_TEST(Tensor::of<float>({{1, 2}, {3, 4}}).describe() == "float32[2,2]");
  const Tensor texts{{std::string("a"), std::string("b")}, {std::string("c"), std::string("d")}};
  BOOST_TEST(texts.values<std::string>()[2] == "c");
  BOOST_TEST((Tensor{true, false}.dtype() == DType::boolean));
  const Tensor copy{row}, none{};
  BOOST_TEST(copy.data() == row.data());
  BOOST_TEST(!none.valid());
  BOOST_CHECK_EXCEPTION((Tensor{{1, 2}, {3}}), Error, invalid_with({"one length", "[2]", "[1]"}));
}

BOOST_AUTO_TEST_SUITE_END()
