// The command line of a program of jobs.
#include "actors/jobs/program/job_flags.h"

#include <boost/test/unit_test.hpp>

#include "actors/jobs/job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(flags)

using namespace actorflow;

namespace {

JobOptions parsed(const std::vector<std::string>& arguments) {
  CommandLine line("jobs", "jobs");
  return parse_job_flags(line, arguments, {{"count", [](Job&) {}}}).options;
}

std::string error_of(const std::vector<std::string>& arguments) {
  try {
    parsed(arguments);
  } catch (const CommandLineError& error) {
    return error.what();
  }
  return "no error";
}

std::string help_of(const JobTable& jobs, const std::vector<std::string>& arguments) {
  CommandLine line("jobs", "jobs");
  try {
    parse_job_flags(line, arguments, jobs);
  } catch (const HelpRequest& help) {
    return help.text;
  }
  return "no help";
}

// What follows the first result is not called for help.
void nearest_words(Job& job) {
  const auto lines = job.read_text(job.param("input"));
  const auto k = job.param<std::size_t>("k", 16);
  const std::string start = job.param("start", ""), names = job.param("names");
  const auto nearest = lines.top(k + start.size() + names.size()).collect();
  throw Error(Code::internal, nearest.at(0) + job.param("after", "it"));
}

void two_columns(Job& job) {
  const auto paths = job.input_files(job.param("tables"));
  job.read_text(paths.at(1)).write_text(job.param("output"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_result_and_the_shuffle_are_compressed_as_they_say) {
  BOOST_TEST((parsed({}).shuffle_compression == Compression::lz4));
  BOOST_TEST((parsed({}).compression == Compression::none));
  BOOST_TEST((parsed({"--compress_shuffle", "zstd"}).shuffle_compression == Compression::zstd));
  BOOST_TEST((parsed({"--compress_shuffle=none"}).shuffle_compression == Compression::none));
  const JobOptions both = parsed({"--compress", "gzip", "--compress_shuffle", "lz4"});
  BOOST_TEST((both.compression == Compression::gzip && both.shuffle_compression == Compression::lz4));
  BOOST_TEST(error_of({"--compress_shuffle", "gzip"}).find("expected lz4, zstd or none, got gzip") !=
             std::string::npos);
  BOOST_TEST(error_of({"--compress", "bzip2"}).find("expected none, gzip, zstd or lz4, got bzip2") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_parameter_that_is_given_twice_is_refused_and_both_values_are_named) {
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const Status status = test::status_of([&] { parsed(arguments); });
    BOOST_TEST((status.code == Code::invalid_argument));
    return status.message;
  };
  BOOST_TEST(refusal({"--k", "16", "--k=8"}) == "--k was given twice, as '16' and as '8': give it once");
  BOOST_TEST(refusal({"--input=a", "--k", "16", "--input", "b"}) ==
             "--input was given twice, as 'a' and as 'b': give it once");
  BOOST_TEST(refusal({"--output", "a", "--output", "a"}) ==
             "--output was given twice, as 'a' and as 'a': give it once");
  const JobOptions each_once = parsed({"--input", "a", "--k=16", "--output", "b"});
  BOOST_TEST((each_once.parameters ==
              std::map<std::string, std::string>{{"input", "a"}, {"k", "16"}, {"output", "b"}}));
}

BOOST_AUTO_TEST_CASE(a_shuffle_in_gzip_is_refused) {
  JobOptions options;
  options.shuffle_compression = Compression::gzip;
  const Status status = test::status_of([&] { Job job(options); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("expected none, lz4 or zstd, got gzip") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(help_says_what_a_job_asks_for) {
  const std::string help = help_of({{"nearest_words", nearest_words}}, {"--help"});
  const std::string asked =
      "Parameters of nearest_words, given as --name value, with their defaults:\n"
      "  --input (must be given)\n"
      "  --k 16\n"
      "  --start \"\"\n"
      "  --names (must be given)\n";
  BOOST_TEST(help.find(asked) != std::string::npos, help);
  BOOST_TEST(help.find("--after") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(help_of_several_jobs_names_them_and_with_a_name_is_of_one) {
  const JobTable jobs{{"nearest_words", nearest_words}, {"two_columns", two_columns}};
  const std::string all = help_of(jobs, {"--help"});
  BOOST_TEST(all.find("Jobs: nearest_words, two_columns.") != std::string::npos, all);
  BOOST_TEST(all.find("--names") == std::string::npos);
  const std::string one = help_of(jobs, {"two_columns", "--help"});
  BOOST_TEST(one.find("Parameters of two_columns,") != std::string::npos, one);
  BOOST_TEST(one.find("  --tables (must be given)\n") != std::string::npos, one);
}

BOOST_AUTO_TEST_SUITE_END()
