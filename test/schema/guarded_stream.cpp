// Calls and deliveries on one stream.
#include "schema/io/guarded_stream.h"

#include <capnp/message.h>

#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "schema/worker.capnp.h"

using namespace actorflow;

namespace {

// A message with the text.
struct Said {
  explicit Said(const std::string& text) {
    builder.initRoot<wire::Envelope>().setShutdown(text.c_str());
  }
  auto segments() { return builder.getSegmentsForOutput(); }

  capnp::MallocMessageBuilder builder;
};

std::string text_of(capnp::MessageReader& message) {
  return message.getRoot<wire::Envelope>().getShutdown().cStr();
}

struct Streams {
  // What comes: deliveries marked with a star.
  std::vector<std::string> read(std::size_t calls) {
    std::vector<std::string> texts;
    receiver.trust([&](capnp::MessageReader& message) { texts.push_back("*" + text_of(message)); });
    while (calls-- > 0) {
      auto message = receiver.MessageStream::readMessage().wait(scope);
      texts.push_back(text_of(*message));
    }
    return texts;
  }

  kj::EventLoop loop;
  kj::WaitScope scope{loop};
  kj::TwoWayPipe pipe = kj::newTwoWayPipe();
  GuardedStream sender{kj::mv(pipe.ends[0]), true};
  GuardedStream receiver{kj::mv(pipe.ends[1]), false};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(guarded_stream, Streams)

BOOST_AUTO_TEST_CASE(writes_of_different_callers_go_one_after_another) {
  Said a("a"), b("b"), c("c"), d("d");
  std::vector<kj::Promise<void>> writes;
  writes.push_back(sender.writeMessage(nullptr, a.segments()).eagerlyEvaluate(nullptr));
  writes.push_back(sender.deliver(b.segments()).eagerlyEvaluate(nullptr));
  writes.push_back(sender.deliver(c.segments()).eagerlyEvaluate(nullptr));
  writes.push_back(sender.writeMessage(nullptr, d.segments()).eagerlyEvaluate(nullptr));
  const std::vector<std::string> expected{"a", "*b", "*c", "d"};
  BOOST_TEST(read(2) == expected, boost::test_tools::per_element());
  for (auto& write : writes) write.wait(scope);
}

BOOST_AUTO_TEST_CASE(who_gives_up_waiting_for_a_turn_keeps_nobody_else_from_it) {
  Said a("a"), b("b"), c("c");
  auto first = sender.writeMessage(nullptr, a.segments()).eagerlyEvaluate(nullptr);
  { const auto given_up = sender.deliver(b.segments()); }
  auto last = sender.writeMessage(nullptr, c.segments()).eagerlyEvaluate(nullptr);
  const std::vector<std::string> expected{"a", "c"};
  BOOST_TEST(read(2) == expected, boost::test_tools::per_element());
  last.wait(scope);
}

BOOST_AUTO_TEST_CASE(nobody_writes_behind_half_of_a_message) {
  Said a("a"), b("b");
  { const auto given_up = sender.writeMessage(nullptr, a.segments()); }
  BOOST_CHECK_THROW(sender.deliver(b.segments()).wait(scope), kj::Exception);
}

BOOST_AUTO_TEST_CASE(a_delivery_that_is_refused_ends_the_reading) {
  Said a("a"), b("b");
  auto written = sender.deliver(a.segments()).eagerlyEvaluate(nullptr);
  auto next = sender.writeMessage(nullptr, b.segments()).eagerlyEvaluate(nullptr);
  receiver.trust([](capnp::MessageReader&) { throw std::runtime_error("not like this"); });
  BOOST_CHECK_EXCEPTION(
      receiver.MessageStream::readMessage().wait(scope), kj::Exception, [](const kj::Exception& error) {
        return std::string(error.getDescription().cStr()).find("not like this") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(a_delivery_to_somebody_who_takes_none_ends_the_reading) {
  Said a("a");
  auto written = sender.deliver(a.segments()).eagerlyEvaluate(nullptr);
  receiver.trust();
  BOOST_CHECK_THROW(receiver.MessageStream::readMessage().wait(scope), kj::Exception);
}

BOOST_AUTO_TEST_SUITE_END()
