// What programs write for each other: reports. (Flags on a command line: train_flags.cpp.)
#include <boost/test/unit_test.hpp>

#include "apps/training/reports/report.h"
#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(round_trips)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(a_report_as_json) {
  const TrainReport report{.run = {.version = "1.0.0",
                                   .data = "/data/mnist",
                                   .model = "mlp",
                                   .settings = "hidden=64",
                                   .strategy = "multi_worker",
                                   .precision = "bf16",
                                   .optimizer = "adam",
                                   .learning_rate = "0.001",
                                   .device = "gpu:0",
                                   .workers = 3,
                                   .batch_size = 64,
                                   .train_steps = 1LL << 40,
                                   .epochs = 0.1,
                                   .seed = 0xFEDC'BA98'7654'3210,
                                   .flags = {"--hidden=64", "--seed=18364758544493064720"}},
                           .test_accuracy = 1,
                           .loss = 0.1,
                           .global_step = 1LL << 40,
                           .examples_per_second = 1e9,
                           .train_seconds = 1.0 / 3,
                           .mode = "sync",
                           .staleness_mean = 0.5,
                           .staleness_max = 3,
                           .max_lead = 2,
                           .dropped_gradients = {0, 4},
                           .uneven_updates = 2,
                           .weights_hash = 0xFEDC'BA98'7654'3210};
  BOOST_TEST((parse_report(to_json(report)) == report));
  BOOST_TEST((parse_report(to_json({})) == TrainReport{}));
}

BOOST_AUTO_TEST_CASE(another_report_is_refused) {
  const auto refused = [](const std::string& text, const std::string& why) {
    BOOST_CHECK_EXCEPTION(parse_report(text), Error, [&why](const Error& error) {
      return error.code() == Code::data_loss && std::string(error.what()).find(why) != std::string::npos;
    });
  };
  refused("", "no JSON object");
  refused("[1]", "expected a JSON object");
  refused("{}", "without 'version'");
  std::string text = to_json({});
  refused(text.replace(text.find("\"global_step\": 0"), 16, "\"global_step\": \"0\""),
          "another 'global_step'");
}

BOOST_AUTO_TEST_SUITE_END()
