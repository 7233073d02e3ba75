#include "schema/environment/elastic_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <future>

#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(elastic_link)

using namespace actorflow;

namespace {

using Kind = ElasticNews::Kind;

const std::atomic<bool> never = false;

// A link, and the launcher's end of it.
struct Ends {
  Ends() {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    launcher = FileDescriptor(ends[0]);
    link.emplace(FileDescriptor(ends[1]));
  }
  void tell(const ElasticNews& news) const {
    const std::string line = to_line(news);
    BOOST_REQUIRE(write(launcher.get(), line.data(), line.size()) == std::ssize(line));
  }
  // The next line that the task says.
  std::string heard() const {
    std::string line;
    for (char c = 0; read(launcher.get(), &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  // The task asks for a world, and gets this one.
  void enter(std::int64_t epoch) {
    auto next = std::async(std::launch::async, [&] { return link->next_world(-1, 5000, never); });
    heard();
    tell({.kind = Kind::world, .world = {.epoch = epoch, .rank = 0, .addresses = {"a:1"}}});
    BOOST_TEST(next.get().value().epoch == epoch);
    BOOST_TEST(heard() == "heard " + std::to_string(epoch));
  }

  FileDescriptor launcher;
  std::optional<ElasticLink> link;
};

ElasticNews about(Kind kind, std::int64_t epoch) {
  ElasticNews news{.kind = kind, .why = "worker 1 was lost"};
  news.world.epoch = epoch;
  return news;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lines_come_back_as_they_were) {
  for (const auto& request : {ElasticRequest{.epoch = 3, .step = 118, .port = 4711},
                              ElasticRequest{.kind = ElasticRequest::Kind::heard, .epoch = 2},
                              ElasticRequest{.kind = ElasticRequest::Kind::leave}}) {
    std::string line = to_line(request);
    line.pop_back();
    BOOST_TEST((parse_request(line).value() == request));
  }
  const ElasticNews world{.world = {.epoch = 2, .rank = 1, .addresses = {"a:1", "[::1]:2"}}};
  for (const auto& news : {world, about(Kind::over, 2), about(Kind::change, 1)}) {
    std::string line = to_line(news);
    line.pop_back();
    BOOST_TEST((parse_news(line).value() == news));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_line_is_nothing) {
  for (const char* line : {"", "join", "join 1 2", "join 1 2 0", "join 1 2 65536", "join -1 2 3",
                           "join 1 -2 3", "join 1 2 3x", "heard", "heard 0", "enter 1"})
    BOOST_TEST(!parse_request(line), line);
  for (const char* line : {"", "world", "world 1 0", "world 0 0 a:1", "world 1 1 a:1", "world x 0 a:1",
                           "over", "over x why", "change 0 why", "begin 1"})
    BOOST_TEST(!parse_news(line), line);
}

BOOST_AUTO_TEST_CASE(a_task_asks_for_a_world_and_gets_it) {
  Ends ends;
  auto next = std::async(std::launch::async, [&] { return ends.link->next_world(7, 5000, never); });
  BOOST_TEST(ends.heard() == "join 0 7 5000");
  const ElasticWorld world{.epoch = 1, .rank = 1, .addresses = {"a:1", "b:2"}};
  ends.tell({.kind = Kind::world, .world = world});
  BOOST_TEST((next.get().value() == world));
  BOOST_TEST(ends.heard() == "heard 1");
  auto second = std::async(std::launch::async, [&] { return ends.link->next_world(9, 5001, never); });
  BOOST_TEST(ends.heard() == "join 1 9 5001");
  ends.tell(about(Kind::end, 1));
  BOOST_TEST(!second.get());
}

BOOST_AUTO_TEST_CASE(a_wish_and_a_loss_are_heard_and_the_next_world_is_whole_again) {
  Ends ends;
  ends.enter(1);
  ends.tell(about(Kind::change, 1));
  BOOST_TEST(ends.heard() == "heard 1");
  BOOST_TEST(ends.link->change_is_wanted());
  BOOST_TEST(!ends.link->is_over());
  ends.tell(about(Kind::over, 1));
  BOOST_TEST(ends.heard() == "heard 1");
  BOOST_TEST(ends.link->is_over());
  BOOST_TEST(ends.link->why() == "worker 1 was lost");
  ends.enter(2);
  BOOST_TEST(!ends.link->change_is_wanted());
  BOOST_TEST(!ends.link->is_over());
}

BOOST_AUTO_TEST_CASE(the_end_of_an_earlier_world_says_nothing) {
  Ends ends;
  ends.enter(1);
  ends.enter(2);
  ends.tell(about(Kind::over, 1));
  ends.tell(about(Kind::change, 2));
  BOOST_TEST(ends.heard() == "heard 2");
  BOOST_TEST(!ends.link->is_over());
}

BOOST_AUTO_TEST_CASE(an_action_is_called_when_the_world_is_over_or_was) {
  Ends ends;
  ends.enter(1);
  std::promise<void> called;
  ends.link->on_over([&] { called.set_value(); });
  ends.tell(about(Kind::over, 1));
  called.get_future().get();
  int again = 0;
  ends.link->on_over([&] { ++again; });
  BOOST_TEST(again == 1);
  ends.link->on_over(nullptr);
}

BOOST_AUTO_TEST_CASE(an_interrupt_ends_the_wait_and_so_does_the_loss_of_the_launcher) {
  Ends ends;
  const std::atomic<bool> interrupted = true;
  BOOST_TEST(!ends.link->next_world(-1, 5000, interrupted));
  ends.launcher = FileDescriptor();
  BOOST_CHECK_EXCEPTION(ends.link->next_world(-1, 5000, never), Error, [](const Error& error) {
    return error.code() == Code::unavailable &&
           error.what() == std::string("the launcher of this elastic job is gone");
  });
}

BOOST_AUTO_TEST_SUITE_END()
