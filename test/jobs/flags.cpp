// The command line of a program of jobs.
#include "actors/jobs/job_flags.h"

#include <boost/test/unit_test.hpp>

#include "actors/jobs/job.h"
#include "test/support/status_of.h"

using namespace actorflow;

namespace {

JobOptions parsed(const std::vector<std::string>& arguments) {
  CLI::App app("jobs", "jobs");
  return parse_job_flags(app, arguments, {{"count", [](Job&) {}}}).options;
}

std::string error_of(const std::vector<std::string>& arguments) {
  try {
    parsed(arguments);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(flags)

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

BOOST_AUTO_TEST_CASE(a_shuffle_in_gzip_is_refused) {
  JobOptions options;
  options.shuffle_compression = Compression::gzip;
  const Status status = test::status_of([&] { Job job(options); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("expected none, lz4 or zstd, got gzip") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
