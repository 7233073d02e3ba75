#include "schema/json.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "dataflow/values/error.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(json)

using namespace actorflow;
using namespace actorflow::test;

BOOST_AUTO_TEST_CASE(members_come_back_as_they_were) {
  const JsonMembers members{{"number", 1.5},
                            {"count", std::int64_t{7}},
                            {"largest", std::numeric_limits<std::uint64_t>::max()},
                            {"text", std::string("Grüße, \"世界\"\n")},
                            {"counts", std::vector<std::int64_t>{1, 2}},
                            {"numbers", std::vector<double>{0.5, -1e300}},
                            {"texts", std::vector<std::string>{"a", ""}}};
  BOOST_TEST((parse_json_object(json_object(members)) == members));
}

BOOST_AUTO_TEST_CASE(what_json_lacks_becomes_nan) {
  const auto back = parse_json_object(json_object({{"loss", std::numeric_limits<double>::infinity()}}));
  BOOST_TEST(std::isnan(std::get<double>(back.at(0).second)));
}

BOOST_AUTO_TEST_CASE(a_text_that_is_not_utf_8_is_named) {
  const auto has_code = [](const Error& error) { return error.code() == Code::invalid_argument; };
  const JsonMembers strange[]{{{"count", std::int64_t{7}}, {"data", std::string("caf\xe9/text")}},
                              {{"caf\xe9", std::string("data")}},
                              {{"data", std::vector<std::string>{"a", "caf\xe9"}}}};
  for (const auto& members : strange) {
    BOOST_CHECK_EXCEPTION(json_object(members), Error, has_code);
    BOOST_CHECK_EXCEPTION(json_object(members), Error, says("UTF-8 only, got {"));
    BOOST_CHECK_EXCEPTION(json_object(members), Error, says("data"));
  }
}

BOOST_AUTO_TEST_CASE(no_object_is_refused_with_what_came) {
  BOOST_CHECK_EXCEPTION(parse_json_object("[1]"), Error, says("expected a JSON object, got: [1]"));
  BOOST_CHECK_EXCEPTION(parse_json_object("{\"a\": "), Error,
                        says("no JSON object of plain values: parse error"));
}

BOOST_AUTO_TEST_SUITE_END()
