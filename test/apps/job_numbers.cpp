// Numbers that programs of jobs cannot use: each program refuses each of them before it reads anything,
// in one line that names the option, what was expected and what came.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "actors/runtime/exit_status.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(job_numbers)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Words = std::vector<std::string>;

// Values for an option, and what is said to be expected.
struct BadNumbers {
  std::string option, expected;
  Words values;
};

const std::string not_negative = "0 or a number above it", whole = "a whole number",
                  size = "a number of bytes such as 512MB", one = "1 or more",
                  tasks = "a number from 0 to 1024", partitions = "a number from 0 to 65536";

const std::vector<BadNumbers> of_all_programs{
    {"--memory", not_negative, {"-1"}},
    {"--memory", size, {"", "lots", "1.5GB", "99999999999999999999"}},
    {"--tasks", not_negative, {"-1"}},
    {"--tasks", tasks, {"1025"}},
    {"--tasks", whole, {"", "two", "1.5"}},
    {"--partitions", not_negative, {"-1"}},
    {"--partitions", partitions, {"65537"}},
    {"--split_bytes", not_negative, {"-1"}},
    {"--split_bytes", "a number above 0", {"0"}},
    {"--partition_bytes", not_negative, {"-1MB"}},
    {"--partition_bytes", "a number above 0", {"0"}},
    {"--spill_bytes", not_negative, {"-1"}},
    {"--skip_bad_records", not_negative, {"-1"}},
    {"--skip_bad_records", whole, {"", "all"}},
    {"--task_index", not_negative, {"-1"}},
    {"--task_index", whole, {"", "first", "0.5"}},
    {"--connect_timeout_ms", not_negative, {"-1"}},
    {"--program_timeout_ms", "a number above 0", {"-1", "0"}},
    {"--heartbeat_timeout_ms", not_negative, {"-1"}},
    {"--heartbeat_timeout_ms", whole, {"", "5s"}},
};

// A program with the job of it that is meant and what else it wants, and the numbers of its own.
struct ProgramOfJobs {
  Words command;
  std::vector<BadNumbers> numbers = {};
};

std::vector<ProgramOfJobs> programs() {
  const Words input{"--input", ACTORFLOW_SOURCE_DIR "/apps/data/iris.csv"};
  const auto with_input = [&](Words command) {
    command.insert(command.end(), input.begin(), input.end());
    return command;
  };
  const BadNumbers rate{"--rate", "a number of 0 or more", {"-1", "nan", "inf"}},
      rounds{"--rounds", one, {"-1", "0"}}, k{"--k", one, {"-1", "0"}};
  const Words tables{"--customer", input[1], "--orders", input[1], "--lineitem", input[1]};
  return {
      {with_input({"word_count"})},
      {with_input({"inverted_index"})},
      {with_input({"histogram"})},
      {with_input({"terasort"})},
      {with_input({"mean"})},
      {with_input({"gensort", "valsort"})},
      {{"gensort", "gensort"}, {{"--records", "0 or more", {"-1"}}, {"--records", whole, {"", "all"}}}},
      {{"join", "--left", input[1], "--right", input[1]}},
      {{"sql", "q1", "--lineitem", input[1]}},
      {{"sql", "q3", tables[0], tables[1], tables[2], tables[3], tables[4], tables[5]}},
      {with_input({"top_k"}), {k, {"--k", whole, {"", "all", "1.5", "99999999999999999999"}}}},
      {with_input({"ranked"}), {k, {"--k", whole, {"", "all"}}}},
      {with_input({"k_means"}), {k, rounds, {"--rounds", whole, {"", "many", "1.5"}}}},
      {with_input({"logistic_regression"}), {rate, rounds, {"--rate", "a number", {"", "fast"}}}},
      {with_input({"sparse_regression"}),
       {rate, {"--epochs", one, {"-1", "0"}}, {"--features", one, {"-1", "0"}}}},
      {{"ensemble", "iris"},
       {{"--members", "2 or more", {"-1", "1"}},
        {"--epochs", one, {"-1", "0"}},
        {"--batch_size", one, {"-1", "0"}},
        {"--learning_rate", "a number above 0, or 0", {"-1", "nan"}},
        {"--seed", whole, {"-1", "x"}}}},
  };
}

void expect_refused(Words command, const BadNumbers& numbers) {
  const std::string program = command[0] == "actorflow" ? command[2] : command[0];
  for (const auto& value : numbers.values) {
    Words arguments = command;
    arguments.push_back(numbers.option + "=" + value);
    Process process(arguments);
    BOOST_TEST_CONTEXT(program << " " << arguments.back()) {
      BOOST_TEST(process.wait() == bad_usage);
      const std::string output = process.output();
      BOOST_TEST(output.find(": error: " + numbers.option + ": expected " + numbers.expected) !=
                     std::string::npos,
                 output);
      const bool named = output.find(", got " + value) != std::string::npos ||
                         output.find(", got '" + value + "'") != std::string::npos;
      BOOST_TEST(named, output);
      BOOST_TEST(output.find('\n') == output.size() - 1, output);
    }
  }
}

Words writing(Words command, const std::string& output) {
  for (const auto& word : {std::string("--output"), output}) command.push_back(word);
  return command;
}

}  // namespace

BOOST_AUTO_TEST_CASE(programs_of_jobs_refuse_their_own_numbers) {
  const Folder folder;
  for (const auto& program : programs())
    for (const auto& numbers : program.numbers) {
      const bool has_output = program.command[0] != "ensemble";
      expect_refused(has_output ? writing(program.command, folder.file("out")) : program.command,
                     numbers);
    }
  BOOST_TEST(!std::filesystem::exists(folder.file("out")));
}

BOOST_AUTO_TEST_CASE(all_programs_of_jobs_refuse_a_negative_number_of_anything) {
  for (const auto& program : programs())
    for (const auto& numbers : of_all_programs)
      if (numbers.values[0].starts_with("-"))
        expect_refused(program.command, {numbers.option, numbers.expected, {numbers.values[0]}});
}

BOOST_AUTO_TEST_CASE(what_is_no_number_that_fits_is_refused_by_what_all_programs_share) {
  for (const auto& numbers : of_all_programs) {
    expect_refused({"word_count"}, numbers);
    expect_refused({"actorflow", "job", "word_count"}, numbers);
  }
}

BOOST_AUTO_TEST_SUITE_END()
