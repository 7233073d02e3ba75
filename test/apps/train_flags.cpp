// The flags of training: what they mean, and how one program hands them on to another.
#include <boost/test/unit_test.hpp>

#include "apps/cli/program.h"
#include "apps/cli/server_flags.h"
#include "apps/cli/train_flags.h"

BOOST_AUTO_TEST_SUITE(train_flags)

using namespace actorflow;

namespace {

using Arguments = std::vector<std::string>;

TrainFlags parse(Arguments arguments, bool sync_by_default = false) {
  TrainFlags flags{.sync_by_default = sync_by_default};
  CommandLine line("");
  flags.add_to(line);
  line.parse(std::move(arguments));
  return flags;
}

void expect_strategy(const TrainFlags& flags, const Strategy& expected) {
  BOOST_TEST((flags.strategy() == expected));
  BOOST_TEST((flags.options().strategy == expected));
}

void expect_contradiction(const TrainFlags& flags, const Arguments& named) {
  BOOST_CHECK_EXCEPTION(flags.options(), UsageError, [&named](const UsageError& error) {
    return std::ranges::all_of(named, [text = std::string(error.what())](const std::string& flag) {
      return text.find(flag) != std::string::npos;
    });
  });
}

// "name=value" of each setting that a parameter server was given.
Arguments given(Arguments arguments, bool sync_by_default = false) {
  const TrainFlags flags = parse(std::move(arguments), sync_by_default);
  Arguments texts;
  for (const auto& [name, value] : flags.given(flags.options(), false))
    texts.push_back(name + "=" + value);
  return texts;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_parameter_server_was_given) {
  BOOST_TEST(given({}).empty());
  BOOST_TEST(given({}, true).empty());
  BOOST_TEST(given({"--epochs=2"}).empty());  // steps follow from the data
  BOOST_TEST(given({"--model=mlp", "--seed=1", "--not_finite=fail", "--ps_strategy=round_robin"}) ==
                 (Arguments{"model=mlp with hidden=256", "seed=1", "not_finite=fail",
                            "ps_strategy=round_robin"}),
             boost::test_tools::per_element());  // the defaults, but somebody said them
  const TrainFlags of_program{.default_model = "lenet", .default_batch_size = 16};
  BOOST_TEST(of_program.given(of_program.options(), false).empty());
  BOOST_TEST(given({"--sync"}) == Arguments{"strategy=synchronous, all gradients"},
             boost::test_tools::per_element());
  BOOST_TEST(given({"--async"}, true) == Arguments{"strategy=asynchronous"},
             boost::test_tools::per_element());
  BOOST_TEST(given({"--train_steps=200", "--optimizer=sgd", "--batch_size=8", "--seed=3"}) ==
                 (Arguments{"batch_size=8", "seed=3", "train_steps=200", "optimizer=sgd 0.2"}),
             boost::test_tools::per_element());
  BOOST_TEST(given({"--optimizer=muon"}).empty());  // another one for biases
  BOOST_TEST(given({"--model=lenet", "--precision=tf32", "--not_finite=skip", "--ps_strategy=greedy"}) ==
                 (Arguments{"model=lenet", "precision=tf32", "not_finite=skip", "ps_strategy=greedy"}),
             boost::test_tools::per_element());
}

// More seconds than a clock counts with are a century; only 0 s are 0 ms.
BOOST_AUTO_TEST_CASE(seconds_of_waits) {
  constexpr std::int64_t century_ms = std::int64_t{100} * 365 * 24 * 3600 * 1000;
  const auto timeout_ms = [](const char* seconds) {
    return parse({std::string("--connect_timeout=") + seconds}).options().connect_timeout_ms;
  };
  BOOST_TEST(timeout_ms("0.25") == 250);
  BOOST_TEST(timeout_ms("1e-300") == 1);
  BOOST_TEST(timeout_ms("1e300") == century_ms);
  ServerFlags server;
  server.heartbeat_timeout_s = 0;
  BOOST_TEST(server.options().heartbeat_timeout_ms == 0);
}

BOOST_AUTO_TEST_CASE(flags_as_arguments) {
  BOOST_TEST(TrainFlags{}.arguments().empty());
  const TrainFlags flags{.model = "lenet",
                         .settings = {"a=b,c", "d="},
                         .hidden = {32, 16},
                         .optimizer = "sgd",
                         .learning_rate = 0.1,
                         .batch_size = 7,
                         .epochs = 2.5,
                         .train_steps = 12,
                         .seed = 1ULL << 63,
                         .data = "my images",
                         .precision = "bf16",
                         .not_finite = "skip",
                         .distribution = "multi_worker",
                         .sync = true,
                         .async = true,
                         .replicas_to_aggregate = 2,
                         .staleness_bound = 0,
                         .sharded_optimizer = true,
                         .compression = "bfloat16",
                         .local_steps = 5,
                         .outer_learning_rate = 0.5,
                         .outer_momentum = 0.25,
                         .ps_strategy = "greedy",
                         .connect_timeout_s = 0.25,
                         .checkpoint_folder = "a/b",
                         .strict = true,
                         .save_checkpoint_secs = 1e-3,
                         .save_checkpoint_steps = 3,
                         .summary_folder = "s",
                         .save_summaries_steps = 5,
                         .report = "-",
                         .plots = "p"};
  BOOST_TEST(flags.arguments().size() == 33u);  // none of the fields is as without flags
  BOOST_TEST((parse(flags.arguments()) == flags));
}

BOOST_AUTO_TEST_CASE(a_model_has_its_precision_unless_a_flag_says_another) {
  BOOST_TEST((TrainFlags{.model = "fast"}.options().precision == Precision::bf16));
  BOOST_TEST((TrainFlags{.model = "fast", .precision = "float32"}.options().precision ==
              Precision::float32));
  BOOST_TEST((TrainFlags{.model = "lenet"}.options().precision == Precision::float32));
}

BOOST_AUTO_TEST_CASE(both_spellings_of_a_flag_and_its_other_names) {
  for (const char* flag : {"--batch-size=7", "--batch_size=7"})
    BOOST_TEST(parse({flag}).batch_size.value_or(0) == 7);
  for (const char* flag : {"--data=x", "--data_dir=x", "--data-dir=x"})
    BOOST_TEST(parse({flag}).data == "x");
  for (const char* flag : {"--sync", "--sync_replicas", "--sync-replicas"})
    BOOST_TEST(parse({flag}).sync);
}

BOOST_AUTO_TEST_CASE(the_strategy_that_the_flags_say) {
  expect_strategy(parse({}), Asynchronous{});
  expect_strategy(parse({}, true), Synchronous{});
  expect_strategy(parse({"--sync"}), Synchronous{});
  expect_strategy(parse({"--async"}, true), Asynchronous{});
  expect_strategy(parse({"--staleness_bound=0"}), BoundedStaleness{0});
  expect_strategy(parse({"--async", "--staleness_bound=3"}, true), BoundedStaleness{3});
  expect_strategy(parse({"--replicas_to_aggregate=2"}, true), Synchronous{.replicas_to_aggregate = 2});
}

BOOST_AUTO_TEST_CASE(flags_that_contradict_each_other_are_both_named) {
  for (const bool by_default : {false, true}) {
    expect_contradiction(parse({"--sync", "--async"}, by_default), {"--sync", "--async"});
    expect_contradiction(parse({"--sync", "--staleness_bound=1"}, by_default),
                         {"--sync", "--staleness_bound"});
    expect_contradiction(parse({"--async", "--replicas_to_aggregate=2"}, by_default),
                         {"--async", "--replicas_to_aggregate"});
  }
  expect_contradiction(parse({"--epochs=2", "--train-steps=5"}), {"--epochs", "--train-steps"});
  expect_contradiction(parse({"--staleness_bound=1"}, true), {"--async", "--staleness_bound"});
  expect_contradiction(parse({"--replicas_to_aggregate=2"}), {"--sync", "--replicas_to_aggregate"});
}

BOOST_AUTO_TEST_CASE(passes_that_a_program_has_by_default_give_way_to_steps) {
  BOOST_TEST(TrainFlags{.default_epochs = 20}.arguments() == Arguments{"--epochs=20"},
             boost::test_tools::per_element());
  const TrainFlags of_program{.default_model = "lenet", .default_batch_size = 16};
  BOOST_TEST(of_program.arguments() == (Arguments{"--model=lenet", "--batch-size=16"}),
             boost::test_tools::per_element());
  const TrainFlags steps{.train_steps = 5, .default_epochs = 20};
  BOOST_TEST(steps.arguments() == Arguments{"--train-steps=5"}, boost::test_tools::per_element());
  BOOST_CHECK_NO_THROW(steps.options());
}

// Its own default is another.
BOOST_AUTO_TEST_CASE(trainer_is_told_the_default_of_the_program_that_starts_it) {
  BOOST_TEST(parse({}, true).arguments() == Arguments{"--sync_replicas"},
             boost::test_tools::per_element());
  BOOST_TEST(parse({"--async"}, true).arguments() == Arguments{"--async"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
