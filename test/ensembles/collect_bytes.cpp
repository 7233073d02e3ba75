// What members make comes to the program whole, however large it is.
#include "actors/ensembles/collect_bytes.h"

#include <boost/test/unit_test.hpp>

#include "actors/jobs/engine/job_report.h"
#include "actors/jobs/job.h"

BOOST_AUTO_TEST_SUITE(collect_bytes)

using namespace actorflow;

namespace {

std::vector<std::string> collected(std::size_t parts,
                                   const std::function<std::string(std::size_t)>& make) {
  Job job(JobOptions{});
  return actorflow::collect_bytes(job, parts, make);
}

// What all stages together have read.
class BytesRead final : public JobReporter {
 public:
  void report(const StageReport& report) override {
    if (report.is_last) bytes += report.bytes_read;
  }
  std::uint64_t bytes = 0;
};

// Bytes that tell where they are.
std::string bytes_of(std::size_t part, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i >> 16) + i * 7 + part);
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(more_than_a_stage_brings_to_the_program) {
  const auto make = [](std::size_t part) { return bytes_of(part, part == 1 ? 7 : (40 << 20) + part); };
  const auto whole = collected(3, make);
  BOOST_TEST_REQUIRE(whole.size() == 3u);
  for (std::size_t part = 0; part < 3; ++part) BOOST_TEST((whole[part] == make(part)), part);
}

BOOST_AUTO_TEST_CASE(what_comes_in_many_pieces_is_not_read_anew_for_each) {
  const std::size_t parts = 12, each = std::size_t{50} << 20;  // in 13 pieces
  const auto make = [](std::size_t part) { return bytes_of(part, part == 0 ? each : 10); };
  BytesRead read;
  JobOptions options;
  options.reporter = &read;
  Job job(options);
  const auto whole = actorflow::collect_bytes(job, parts, make);
  for (std::size_t part = 0; part < parts; ++part) BOOST_TEST((whole[part] == make(part)), part);
  BOOST_TEST(read.bytes < 4 * each);
}

BOOST_AUTO_TEST_CASE(nothing_is_something_too) {
  const auto whole = collected(3, [](std::size_t part) { return bytes_of(part, part); });
  BOOST_TEST((whole == std::vector<std::string>{"", bytes_of(1, 1), bytes_of(2, 2)}));
  BOOST_TEST(collected(0, [](std::size_t) { return std::string("x"); }).empty());
}

BOOST_AUTO_TEST_SUITE_END()
