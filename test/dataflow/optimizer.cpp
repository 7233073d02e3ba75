#include <boost/test/unit_test.hpp>

#include <limits>

#include "dataflow/ops/optimizer.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(optimizer)

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(name_and_hyperparameters_lead_back_to_the_optimizer) {
  constexpr double a = 0.125, b = 0.25, c = 0.375, d = 0.5, e = 0.625;  // as their ranges want them
  const std::vector<Optimizer> all = {
      Sgd{a},           Momentum{a, b},   Nesterov{a, b},      Adagrad{a, b},
      Adam{a, b, c, d}, Lion{a, b, c, d}, RmsProp{a, b, c, d}, AdamW{a, b, c, d, e},
      Muon{a, b, c},    Ftrl{a, b, c, d}, Lamb{a, b, c, d, e}};
  for (const auto& optimizer : all) {
    const auto& values = optimizer.hyperparameters();
    for (std::size_t i = 0; i < values.size(); ++i)
      BOOST_TEST(values[i] == 0.125 * static_cast<double>(i + 1));
    BOOST_TEST((parse_optimizer(optimizer.name(), values) == optimizer));
  }
  BOOST_TEST(described<Adam>(Optimizer(Adam{a, b, c, d}).hyperparameters()).epsilon == d);
}

BOOST_AUTO_TEST_CASE(the_learning_rate_replaces_the_default) {
  const Optimizer adam = make_optimizer("adam", 0.5);
  BOOST_TEST((adam == Optimizer(Adam{.learning_rate = 0.5})));
  BOOST_TEST((with_learning_rate(adam, 2) == Optimizer(Adam{.learning_rate = 2})));
}

BOOST_AUTO_TEST_CASE(an_optimizer_of_a_program_travels_as_it_is) {
  const std::vector<double> values = {0.1, 7};
  BOOST_TEST((parse_optimizer("signum", values) == Optimizer("signum", values)));
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  BOOST_CHECK_EXCEPTION(
      make_optimizer("adm", 0.1), Error,
      invalid_with({"'adm'", "sgd, momentum, nesterov, adagrad, adam, rmsprop, adamw", "'adam'?"}));
  const std::vector<double> two = {0.1, 0.9};
  BOOST_CHECK_EXCEPTION(parse_optimizer("sgd", two), Error,
                        invalid_with({"has 1 hyperparameters, got 2"}));
  BOOST_CHECK_EXCEPTION(make_optimizer("sgd", std::numeric_limits<double>::quiet_NaN()), Error,
                        invalid_with({"finite", "nan"}));
  BOOST_CHECK_EXCEPTION(Optimizer(Adam{.beta1 = 1}), Error,
                        invalid_with({"the beta1 of optimizer 'adam' must be 0 or more, and below 1"}));
  BOOST_CHECK_EXCEPTION(Optimizer(Lamb{.epsilon = -1}), Error,
                        invalid_with({"the epsilon of optimizer 'lamb' must be 0 or more, got -1"}));
  BOOST_CHECK_EXCEPTION(Optimizer(Adagrad{.initial_accumulator = -1}), Error,
                        invalid_with({"the initial_accumulator of optimizer 'adagrad'"}));
}

BOOST_AUTO_TEST_SUITE_END()
