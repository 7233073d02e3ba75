// What members make comes to the program whole, however large it is.
#include "actors/ensembles/collect_bytes.h"

#include <boost/test/unit_test.hpp>

#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

std::vector<std::string> collected(std::size_t parts,
                                   const std::function<std::string(std::size_t)>& make) {
  Job job(JobOptions{});
  return collect_bytes(job, parts, make);
}

// Bytes that tell where they are.
std::string bytes_of(std::size_t part, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i >> 16) + i * 7 + part);
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(collect_bytes)

BOOST_AUTO_TEST_CASE(more_than_a_stage_brings_to_the_program) {
  const auto make = [](std::size_t part) { return bytes_of(part, part == 1 ? 7 : (40 << 20) + part); };
  const auto whole = collected(3, make);
  BOOST_TEST_REQUIRE(whole.size() == 3u);
  for (std::size_t part = 0; part < 3; ++part) BOOST_TEST((whole[part] == make(part)), part);
}

BOOST_AUTO_TEST_CASE(nothing_is_something_too) {
  const auto whole = collected(3, [](std::size_t part) { return bytes_of(part, part); });
  BOOST_TEST((whole == std::vector<std::string>{"", bytes_of(1, 1), bytes_of(2, 2)}));
  BOOST_TEST(collected(0, [](std::size_t) { return std::string("x"); }).empty());
}

BOOST_AUTO_TEST_SUITE_END()
