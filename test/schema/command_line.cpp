// The command line of a program, without a program.
#include "schema/command_line/command_line.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "dataflow/values/error.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(command_line)

using namespace actorflow;

namespace {

using Words = std::vector<std::string>;

std::string mistake_in(CommandLine& line, const Words& arguments) {
  try {
    line.parse(arguments);
  } catch (const CommandLineError& error) {
    return std::string(error.what()) + "; see " + error.command();
  }
  return "none";
}

std::string asked_for(CommandLine& line, const Words& arguments) {
  try {
    line.parse(arguments);
  } catch (const HelpRequest& help) {
    return help.text;
  }
  return "nothing";
}

// A program with the commands "make cake", "make tea" and "eat", and a hidden one.
struct Kitchen {
  CommandLine line{"A kitchen", "kitchen"};
  int cakes = 1;
  Words guests;

  Kitchen() {
    Command make = line.command("make", "Makes something");
    make.runs([] { return 10; });
    Command cake = make.command("cake", "Bakes");
    cake.option("--number,-n", cakes, "How many").check(positive_number()).show_default();
    cake.runs([this] { return cakes; });
    make.command("tea", "Boils").runs([] { return 20; });
    Command eat = line.command("eat", "Is eaten by guests");
    eat.rest(guests);
    eat.runs([this] { return static_cast<int>(guests.size()); });
    line.command("clean", "Not for people").hide();
  }
};

int status_of(const Words& arguments) {
  Kitchen kitchen;
  kitchen.line.parse(arguments);
  return kitchen.line.chosen() ? kitchen.line.chosen()() : -1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_without_a_sign_are_not_below_0) {
  CommandLine line("Numbers", "numbers");
  std::uint64_t bytes = 0, count = 0;
  std::uint16_t port = 0;
  line.option("--bytes", bytes).size();
  line.option("--count", count);
  line.option("--port", port);
  for (const std::string name : {"--bytes", "--count", "--port"}) {
    const std::string mistake = mistake_in(line, {name, "-1"});
    BOOST_TEST(mistake == name + ": expected 0 or a number above it, got '-1'; see numbers");
  }
  BOOST_TEST(mistake_in(line, {"--bytes", "-5MB", "--count", "0"}) ==
             "--bytes: expected 0 or a number above it, got '-5MB'; see numbers");
}

// The parser itself makes 0 of "", and the largest number of what is too large.
BOOST_AUTO_TEST_CASE(what_is_no_number_that_fits_is_refused) {
  CommandLine line("Numbers", "numbers");
  std::uint64_t bytes = 0, count = 0;
  std::int64_t time = 0;
  int round = 0;
  double rate = 0;
  std::optional<int> maybe;
  std::vector<int> list;
  line.option("--bytes", bytes).size();
  line.option("--count", count);
  line.option("--time", time).time();
  line.option("--round", round);
  line.option("--rate", rate);
  line.option("--maybe", maybe);
  line.option("--list", list).comma_separated();
  const auto expect = [&](const std::string& name, const std::string& text, const std::string& what) {
    BOOST_TEST(mistake_in(line, {name + "=" + text}) ==
               name + ": expected " + what + ", got '" + text + "'; see numbers");
  };
  for (const char* text : {"", "many", "1.5", "1.5GB", "99999999999999999999", "5 apples"})
    expect("--bytes", text, "a number of bytes such as 512MB");
  for (const char* text : {"", "5", "-", "5 apples"})
    expect("--time", text, "a time with its unit such as 20ms");
  for (const char* name : {"--count", "--round", "--maybe"})
    for (const char* text : {"", "many", "1.5", "5x"}) expect(name, text, "a whole number");
  for (const char* name : {"--round", "--maybe"})
    expect(name, "3000000000", "a whole number from -2147483648 to 2147483647");
  expect("--count", "99999999999999999999", "a whole number from 0 to 18446744073709551615");
  for (const char* text : {"", "fast", "1.5x"}) expect("--rate", text, "a number");
  for (const char* text : {"1e400", "-1e400", "inf", "nan"}) expect("--rate", text, "a finite number");
  BOOST_TEST(mistake_in(line, {"--list=1,two"}) ==
             "--list: expected a whole number, got 'two'; see numbers");
  BOOST_TEST(mistake_in(line, {"--bytes=16GiB", "--time=5s", "--round=-7", "--list=1,2"}) == "none");
  BOOST_TEST((bytes == std::uint64_t{16} << 30U && time == 5'000'000'000 && round == -7));
}

BOOST_AUTO_TEST_CASE(options_of_each_type_set_their_variables) {
  std::string text;
  int number = 0;
  std::int64_t large = 0;
  std::uint16_t port = 0;
  std::uint64_t bytes = 0;
  double real = 0;
  std::optional<std::string> maybe_text;
  std::optional<int> maybe;
  std::optional<double> never;
  Words words, single;
  std::vector<int> numbers;
  std::map<std::int64_t, double> weights;
  bool is_given = false, is_not_given = false;
  CommandLine line("Types", "types");
  line.option("--text", text);
  line.option("--number", number);
  line.option("--large", large);
  line.option("--port", port);
  line.option("--bytes", bytes).size();
  line.option("--real", real);
  line.option("--maybe_text", maybe_text);
  line.option("--maybe", maybe);
  line.option("--never", never);
  line.option("--numbers", numbers).comma_separated();
  line.option("--single", single).one_at_a_time();
  line.option("--weights", weights);
  line.option("words", words);
  line.flag("--given", is_given);
  line.flag("--not_given", is_not_given);
  line.parse({"--text=",
              "--number",
              "-3",
              "--large=9000000000",
              "--port=65535",
              "--bytes",
              "2KiB",
              "--real",
              "1e-3",
              "--maybe_text=",
              "--maybe=0",
              "--numbers",
              "1,2",
              "--single",
              "a,b",
              "one",
              "--given",
              "--single=c",
              "--weights",
              "0",
              "0.5",
              "7",
              "2"});
  BOOST_TEST(text.empty());
  BOOST_TEST(number == -3);
  BOOST_TEST(large == 9'000'000'000);
  BOOST_TEST(port == 65'535);
  BOOST_TEST(bytes == 2048u);
  BOOST_TEST(real == 1e-3);
  BOOST_TEST((maybe_text == "" && maybe == 0 && !never));
  BOOST_TEST(numbers == (std::vector{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(single == (Words{"a,b", "c"}), boost::test_tools::per_element());
  BOOST_TEST(words == Words{"one"}, boost::test_tools::per_element());
  BOOST_TEST((weights == std::map<std::int64_t, double>{{0, 0.5}, {7, 2}}));
  BOOST_TEST((is_given && !is_not_given));
}

BOOST_AUTO_TEST_CASE(an_empty_value_does_not_take_the_next_option) {
  std::string input = "x", output;
  CommandLine line("Copies", "copy");
  line.option("--input", input);
  line.option("--output", output);
  line.parse({"--input=", "--output=o"});
  BOOST_TEST(input.empty());
  BOOST_TEST(output == "o");
}

BOOST_AUTO_TEST_CASE(times_have_units) {
  std::int64_t time = 0;
  CommandLine line("Waits", "wait");
  line.option("--for", time).time();
  line.parse({"--for=20ms"});
  BOOST_TEST(time == 20'000'000);
  line.parse({"--for", "3 s"});
  BOOST_TEST(time == 3'000'000'000);
  BOOST_TEST(mistake_in(line, {"--for=5"}) != "none");
}

BOOST_AUTO_TEST_CASE(options_that_need_and_exclude_others) {
  std::string to, name;
  bool real = false;
  CommandLine line("Writes", "write");
  line.option("--to", to);
  line.option("--name", name).needs("--to");
  line.flag("--real", real).excludes("--to");
  BOOST_TEST(mistake_in(line, {"--name=x"}) == "--name requires --to; see write");
  BOOST_TEST(mistake_in(line, {"--to=x", "--real"}) == "--to excludes --real; see write");
  BOOST_TEST(mistake_in(line, {"--to=x", "--name=y"}) == "none");
  line.option("--must", name).required();
  BOOST_TEST(mistake_in(line, {}) == "--must is required; see write");
}

BOOST_AUTO_TEST_CASE(the_environment_gives_what_the_arguments_do_not) {
  const auto parsed = [](const Words& arguments) {
    std::string folder;
    CommandLine line("Reads", "read");
    line.option("--folder", folder).from_environment("ACTORFLOW_TEST_OF_COMMAND_LINE");
    line.parse(arguments);
    return folder;
  };
  setenv("ACTORFLOW_TEST_OF_COMMAND_LINE", "there", 1);
  BOOST_TEST(parsed({}) == "there");
  BOOST_TEST(parsed({"--folder=here"}) == "here");
  unsetenv("ACTORFLOW_TEST_OF_COMMAND_LINE");
  BOOST_TEST(parsed({}) == "");
}

BOOST_AUTO_TEST_CASE(an_action_is_called_with_the_value) {
  Words taken;
  CommandLine line("Takes", "take");
  const auto take = [&taken](const std::string& text) { taken.push_back(text); };
  line.action("--once", take, "One");
  line.action("--often", take, "Several").each_time();
  line.parse({"--once=a", "--often=b", "--often", "c"});
  BOOST_TEST(taken == (Words{"b", "c", "a"}), boost::test_tools::per_element());
  BOOST_TEST(mistake_in(line, {"--once=a", "--once=b"}) != "none");
  line.action(
      "--refused", [](const std::string&) { throw invalid_argument("refused"); }, "None");
  BOOST_CHECK_THROW(line.parse({"--refused=x"}), Error);
}

BOOST_AUTO_TEST_CASE(a_choice_sets_what_a_name_stands_for) {
  enum class Dish { cake, tea } dish = Dish::cake;
  CommandLine line("Chooses", "choose");
  line.choice("--dish", dish, {{"tea", Dish::tea}, {"cake", Dish::cake}}, "Of these");
  line.parse({"--dish=tea"});
  BOOST_TEST((dish == Dish::tea));
  BOOST_TEST(mistake_in(line, {"--dish=soup"}) == "--dish: soup not in {cake,tea}; see choose");
}

BOOST_AUTO_TEST_CASE(the_innermost_command_that_is_named_is_chosen) {
  BOOST_TEST(status_of({"make", "cake"}) == 1);
  BOOST_TEST(status_of({"make", "cake", "-n", "7"}) == 7);
  BOOST_TEST(status_of({"make", "tea"}) == 20);
  BOOST_TEST(status_of({"make"}) == 10);
  BOOST_TEST(status_of({}) == -1);
}

BOOST_AUTO_TEST_CASE(the_rest_is_not_parsed) {
  BOOST_TEST(status_of({"eat", "make", "--help", "cake"}) == 3);
  BOOST_TEST(status_of({"eat"}) == 0);
  Words unknown;
  int known = 0;
  CommandLine line("Takes all", "all");
  line.option("--known", known);
  line.unknown(unknown);
  line.parse({"--k", "16", "--known=2", "--j=3"});
  BOOST_TEST(unknown == (Words{"--k", "16", "--j=3"}), boost::test_tools::per_element());
  BOOST_TEST(known == 2);
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_command_and_what_is_near) {
  const auto mistake = [](const Words& arguments) {
    Kitchen kitchen;
    return mistake_in(kitchen.line, arguments);
  };
  BOOST_TEST(mistake({"mak"}) ==
             "expected one of make, eat, got 'mak'; did you mean 'make'?; see kitchen");
  BOOST_TEST(mistake({"make", "--number=2"}) ==
             "expected one of cake, tea before '--number=2'; see kitchen make");
  BOOST_TEST(mistake({"make", "cake", "--numbr=2"}) ==
             "did not expect '--numbr=2'; did you mean '--number'?; see kitchen make cake");
  BOOST_TEST(mistake({"make", "cake", "tea"}) == "did not expect 'tea'; see kitchen make cake");
  Kitchen kitchen;
  Command make = *kitchen.line.find("make");
  make.require_command();
  make.command("soup", "Stirs");
  BOOST_TEST(mistake_in(kitchen.line, {"make"}) == "expected one of cake, tea, soup; see kitchen make");
}

BOOST_AUTO_TEST_CASE(help_and_version_are_asked_for) {
  Kitchen kitchen;
  kitchen.line.version("1.2");
  kitchen.line.footer("The end.");
  BOOST_TEST(asked_for(kitchen.line, {"--version"}) == "kitchen 1.2\n");
  const std::string help = asked_for(kitchen.line, {"--help"});
  BOOST_TEST(help.starts_with("A kitchen\nUsage: kitchen [OPTIONS] [SUBCOMMAND]\n"), help);
  BOOST_TEST(help.find("Bakes") == std::string::npos);
  BOOST_TEST(help.find("clean") == std::string::npos);
  BOOST_TEST(help.find("The end.") != std::string::npos);
  const std::string of_cake = asked_for(kitchen.line, {"make", "cake", "--help"});
  BOOST_TEST(of_cake.find("-n,--number INT:POSITIVE=1  How many") != std::string::npos, of_cake);
  BOOST_TEST(kitchen.line.find("make")->find("cake")->help("kitchen make cake") == of_cake);
  BOOST_TEST(!kitchen.line.find("bake"));
  kitchen.line.without_help();
  BOOST_TEST(mistake_in(kitchen.line, {"--help"}) == "did not expect '--help'; see kitchen");
}

BOOST_AUTO_TEST_CASE(options_that_take_the_next_word) {
  int number = 0;
  CommandLine line("Takes", "take");
  line.option("--number,-n", number);
  BOOST_TEST((line.takes_next("-n") && !line.takes_next("--help") && !line.takes_next("--no_such")));
}

BOOST_AUTO_TEST_CASE(a_file_of_options_gives_way_to_arguments) {
  const test::Folder folder;
  const std::string file = folder.file("options");
  const auto parse = [&file](const std::string& text, const Words& arguments) {
    test::write_file(file, text);
    std::string text_value, mistake;
    int steps = 0;
    CommandLine line("A file");
    line.option("--steps", steps);
    line.option("--text", text_value);
    line.read_file(file);
    mistake = mistake_in(line, arguments);
    return mistake == "none" ? std::to_string(steps) + " " + text_value : mistake;
  };
  BOOST_TEST(parse("steps = 3\ntext = \"a b\"\n", {}) == "3 a b");
  BOOST_TEST(parse("steps = 3\n", {"--steps=4"}) == "4 ");
  BOOST_TEST(parse("stpes = 3\n", {}).find("stpes") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
