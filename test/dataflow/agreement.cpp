#include "dataflow/collectives/agreement.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/values/error.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(agreement)

using namespace actorflow;
using test::says;

namespace {

CollectiveCall sum() { return {.dtype = DType::float32, .dims = {2, 3}}; }

template <class Change>
CollectiveCall but(Change change) {
  CollectiveCall call = sum();
  change(call);
  return call;
}

}  // namespace

BOOST_AUTO_TEST_CASE(equal_calls_agree) { BOOST_TEST(!disagreement(sum(), 0, sum(), 1)); }

BOOST_AUTO_TEST_CASE(a_difference_names_both_values_and_both_ranks) {
  const auto check = [](const CollectiveCall& other, const std::string& text) {
    const auto found = disagreement(sum(), 0, other, 2);
    BOOST_REQUIRE(found);
    BOOST_TEST(*found == text);
  };
  check(but([](auto& c) { c.dims = {3, 2}; }), "rank 0 has the shape [2,3], rank 2 the shape [3,2]");
  check(but([](auto& c) { c.dtype = DType::int32; }),
        "rank 0 has the dtype float32, rank 2 the dtype int32");
  check(but([](auto& c) { c.kind = CollectiveKind::broadcast; }),
        "rank 0 has the operation all_reduce, rank 2 the operation broadcast");
  check(but([](auto& c) { c.reduction = ReduceOp::max; }),
        "rank 0 has the reduction sum, rank 2 the reduction max");
  check(but([](auto& c) { c.root = 1; }), "rank 0 has the root 0, rank 2 the root 1");
  check(but([](auto& c) { c.prescale = 0.5; }), "rank 0 has the prescale 1, rank 2 the prescale 0.5");
  check(but([](auto& c) { c.compression = ReduceCompression::bfloat16; }),
        "rank 0 has the compression none, rank 2 the compression bfloat16");
  check(but([](auto& c) { c.postscale = 2; }), "rank 0 has the postscale 1, rank 2 the postscale 2");
}

BOOST_AUTO_TEST_CASE(a_call_says_what_it_is) {
  BOOST_TEST(sum().to_string() == "all_reduce float32[2,3] sum");
  BOOST_TEST(but([](auto& c) { c.compression = ReduceCompression::bfloat16; }).to_string() ==
             "all_reduce float32[2,3] sum as bfloat16");
  BOOST_TEST(but([](auto& c) { c.kind = CollectiveKind::all_gather; }).to_string() ==
             "all_gather float32[?,2,3]");
  BOOST_TEST((CollectiveCall{.kind = CollectiveKind::barrier}.to_string()) == "barrier");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_calculated_is_refused) {
  check_call(sum(), 2);
  const auto refused = [](const CollectiveCall& call, const std::string& text) {
    BOOST_CHECK_EXCEPTION(check_call(call, 2), Error, says(text));
  };
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float64, DType::int32})
    check_call(but([&](auto& c) { c.dtype = dtype; }), 2);
  refused(but([](auto& c) { c.dtype = DType::uint8; }), "got uint8");
  refused(but([](auto& c) { c.dtype = DType::int16; }),
          "expected int32, int64, float16, bfloat16, float32 or float64 to reduce, got int16");
  refused(but([](auto& c) {
            c.dtype = DType::bfloat16;
            c.compression = ReduceCompression::bfloat16;
          }),
          "is float32 to reduce, got bfloat16");
  refused(but([](auto& c) { c.dtype = DType::string; }), "strings do not travel");
  refused(but([](auto& c) { c.root = 2; }), "a root from 0 to 1, got 2");
  refused(but([](auto& c) {
            c.dtype = DType::int64;
            c.reduction = ReduceOp::average;
          }),
          "got int64");
  check_call(but([](auto& c) {
               c.kind = CollectiveKind::all_gather;
               c.dtype = DType::uint8;
             }),
             2);
}

BOOST_AUTO_TEST_CASE(reductions_have_names) {
  BOOST_TEST((parse_reduction("product") == ReduceOp::product));
  BOOST_CHECK_EXCEPTION(parse_reduction("mean"), Error, says("got 'mean'"));
}

BOOST_AUTO_TEST_SUITE_END()
