#include "apps/launch/keeper/frames.h"

#include <boost/test/unit_test.hpp>

#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(frames)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const Frame hostile{"start", "", std::string("\0\n'\"$\x01\xff", 7), std::string(100'000, 'x')};

FrameReader reader_of(const std::string& bytes) {
  FrameReader reader(false);
  reader.add(bytes);
  return reader;
}

}  // namespace

BOOST_AUTO_TEST_CASE(any_bytes_arrive_equal_in_parts_of_any_size) {
  const std::string bytes = encode(hostile) + encode({"end"});
  for (const std::size_t part : {1u, 7u, 4096u, 1'000'000u}) {
    FrameReader reader(false);
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += part) {
      reader.add(std::string_view(bytes).substr(at, part));
      while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    }
    BOOST_TEST((frames == std::vector<Frame>{hostile, {"end"}}));
  }
}

BOOST_AUTO_TEST_CASE(what_a_login_shell_prints_first_is_skipped) {
  FrameReader reader(true);
  reader.add("Welcome to node 7\nYou have mail\n");
  BOOST_TEST(!reader.next());
  const std::string begin(FrameReader::frames_begin);
  reader.add(begin.substr(0, 5));
  reader.add(begin.substr(5) + encode({"hello", "1"}));
  BOOST_TEST((reader.next() == Frame{"hello", "1"}));
  BOOST_TEST(reader.greeting() == "");
}

BOOST_AUTO_TEST_CASE(what_came_in_place_of_a_keeper_can_be_shown) {
  FrameReader reader(true);
  reader.add("This account ");
  reader.add("is closed\n");
  BOOST_TEST(reader.greeting() == "This account is closed\n");
  reader.add(std::string(100'000, 'x'));
  BOOST_TEST(reader.greeting() == std::string(512, 'x'));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_frames_are_refused) {
  BOOST_CHECK_EXCEPTION(reader_of("GET / HTTP/1.1\r\n").next(), Error, says("no frame of a keeper"));
  BOOST_CHECK_EXCEPTION(reader_of(std::string("\2\0\0\0ab", 6)).next(), Error, says("no frame"));
  BOOST_CHECK_EXCEPTION(reader_of(std::string("\0\0\0\0", 4)).next(), Error, says("no frame"));
  BOOST_CHECK_EXCEPTION(reader_of(std::string("\x06\0\0\0\xff\0\0\0ab", 10)).next(), Error,
                        says("no frame"));
}

BOOST_AUTO_TEST_SUITE_END()
