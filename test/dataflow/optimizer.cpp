#include <boost/test/unit_test.hpp>

#include <limits>

#include "dataflow/ops/optimizer.h"
#include "test/dataflow/expect.h"

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_SUITE(optimizer)

BOOST_AUTO_TEST_CASE(name_and_hyperparameters_lead_back_to_the_optimizer) {
  const std::vector<Optimizer> all = {Sgd{1},        Momentum{1, 2},   Nesterov{1, 2},
                                      Adagrad{1, 2}, Adam{1, 2, 3, 4}, RmsProp{1, 2, 3, 4}};
  for (const auto& optimizer : all) {
    const auto values = hyperparameters(optimizer);
    for (std::size_t i = 0; i < values.size(); ++i) BOOST_TEST(values[i] == static_cast<double>(i + 1));
    const auto parsed = parse_optimizer(optimizer_name(optimizer), values);
    BOOST_TEST(parsed.index() == optimizer.index());
    BOOST_TEST(hyperparameters(parsed) == values, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(the_learning_rate_replaces_the_default) {
  const auto optimizer = make_optimizer("adam", 0.5);
  BOOST_TEST(std::get<Adam>(optimizer).learning_rate == 0.5);
  BOOST_TEST(std::get<Adam>(optimizer).beta2 == 0.999);
}

BOOST_AUTO_TEST_CASE(slots_are_named) {
  BOOST_TEST(slot_names(Sgd{}).empty());
  const std::vector<std::string_view> adam = {"m", "v", "step"};
  BOOST_TEST(slot_names(Adam{}) == adam, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  BOOST_CHECK_EXCEPTION(
      make_optimizer("adm", 0.1), Error,
      invalid_with({"'adm'", "sgd, momentum, nesterov, adagrad, adam, rmsprop", "'adam'?"}));
  const std::vector<double> two = {0.1, 0.9};
  BOOST_CHECK_EXCEPTION(parse_optimizer("sgd", two), Error,
                        invalid_with({"has 1 hyperparameters, got 2"}));
  BOOST_CHECK_EXCEPTION(make_optimizer("sgd", std::numeric_limits<double>::quiet_NaN()), Error,
                        invalid_with({"finite", "nan"}));
}

BOOST_AUTO_TEST_SUITE_END()
