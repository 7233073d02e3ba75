// What programs write for each other: flags on a command line, reports.
#include <boost/test/unit_test.hpp>

#include "apps/cli/train_flags.h"
#include "apps/training/report.h"
#include "dataflow/values/error.h"

using namespace actorflow;

namespace {

TrainFlags parse(std::vector<std::string> arguments) {
  TrainFlags flags;
  CLI::App app;
  flags.add_to(app);
  std::ranges::reverse(arguments);  // as CLI11 takes them
  app.parse(std::move(arguments));
  return flags;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(round_trips)

BOOST_AUTO_TEST_CASE(flags_as_arguments) {
  BOOST_TEST(TrainFlags{}.arguments().empty());
  const TrainFlags flags{.hidden = {32, 16},
                         .optimizer = "sgd",
                         .learning_rate = 0.1,
                         .batch_size = 7,
                         .epochs = 2.5,
                         .train_steps = 12,
                         .seed = 1ULL << 63,
                         .ps_strategy = "greedy",
                         .data = "my images",
                         .checkpoint_folder = "a/b",
                         .save_checkpoint_secs = 1e-3,
                         .save_checkpoint_steps = 3,
                         .summary_folder = "s",
                         .save_summaries_steps = 5,
                         .report = "-",
                         .connect_timeout_s = 0.25,
                         .replicas_to_aggregate = 2,
                         .staleness_bound = 0,
                         .precision = "bf16",
                         .not_finite = "skip"};
  BOOST_TEST(flags.arguments().size() == 20u);  // none of the fields is as without flags
  BOOST_TEST((parse(flags.arguments()) == flags));
}

BOOST_AUTO_TEST_CASE(a_report_as_json) {
  const TrainReport report{.test_accuracy = 1,
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
}

BOOST_AUTO_TEST_CASE(another_report_is_refused) {
  const auto refused = [](const std::string& text, const std::string& why) {
    BOOST_CHECK_EXCEPTION(parse_report(text), Error, [&why](const Error& error) {
      return error.code() == Code::data_loss && std::string(error.what()).find(why) != std::string::npos;
    });
  };
  refused("", "no JSON object");
  refused("[1]", "expected a JSON object");
  refused("{}", "without 'test_accuracy'");
  std::string text = to_json({});
  refused(text.replace(text.find("\"global_step\": 0"), 16, "\"global_step\": \"0\""),
          "another 'global_step'");
}

BOOST_AUTO_TEST_SUITE_END()
