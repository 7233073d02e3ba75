// Reading a socket with few system calls.
#include "schema/io/read_ahead.h"

#include <boost/test/unit_test.hpp>
#include <string>

BOOST_AUTO_TEST_SUITE(read_ahead)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(each_part_of_what_comes_in_several_is_progress) {
  auto io = kj::setupAsyncIo();
  auto pipe = kj::newTwoWayPipe();
  int parts = 0;
  ReadAhead reader(kj::mv(pipe.ends[0]), [&parts] { ++parts; });
  const std::string sent = std::string(40'000, 'a') + std::string(50'000, 'b') + std::string(10'000, 'c');
  std::string got(sent.size(), '\0');
  auto read = reader.tryRead(got.data(), got.size(), got.size());
  std::size_t begin = 0;
  for (const std::size_t size : {40'000, 50'000, 10'000}) {
    pipe.ends[1]->write(sent.data() + begin, size).wait(io.waitScope);
    begin += size;
  }
  BOOST_TEST(read.wait(io.waitScope) == sent.size());
  BOOST_TEST((got == sent));
  BOOST_TEST(parts == 2);
}

BOOST_AUTO_TEST_CASE(what_comes_at_once_is_none) {
  auto io = kj::setupAsyncIo();
  auto pipe = kj::newTwoWayPipe();
  int parts = 0;
  ReadAhead reader(kj::mv(pipe.ends[0]), [&parts] { ++parts; });
  auto written = pipe.ends[1]->write("12345678", 8);
  std::string got(8, '\0');
  BOOST_TEST(reader.tryRead(got.data(), 4, 4).wait(io.waitScope) == 4u);
  BOOST_TEST(reader.tryRead(got.data() + 4, 4, 4).wait(io.waitScope) == 4u);
  written.wait(io.waitScope);
  BOOST_TEST(got == "12345678");
  BOOST_TEST(parts == 0);
}

BOOST_AUTO_TEST_SUITE_END()
