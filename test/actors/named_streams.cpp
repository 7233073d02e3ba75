// The messages of a stream: each once, in order, whatever the link does.
#include <boost/test/unit_test.hpp>
#include <caf/all.hpp>

#include "actors/named/incoming_streams.h"
#include "actors/named/message_mark.h"
#include "actors/named/message_type.h"
#include "actors/named/outgoing_streams.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/schema/support/tasks.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(named_streams)

using namespace actorflow;

namespace {

const ActorAddress writer{TaskId{1}, "writer"};

IncomingStreams::Arrived message(std::uint64_t number, std::uint64_t stream = 1,
                                 std::uint64_t incarnation = 7,
                                 MessageMark::Kind kind = MessageMark::Kind::tell) {
  ActorMessage content;
  content.from = "writer";
  content.request = number;
  return {{TaskId{1}, incarnation}, {kind, stream, "Add{string}"}, std::move(content)};
}

std::vector<std::uint64_t> taken(IncomingStreams& streams) {
  std::vector<std::uint64_t> numbers;
  while (const auto arrived = streams.take(writer)) numbers.push_back(arrived->message.request);
  return numbers;
}

// The messages of a sender, which go to nobody but the test.
struct Sending {
  Sending() {
    task->tasks = {{"worker", 0}};
    task->self = {task->tasks[0], 1};
    task->clock = &runtime.clock();
    task->switchboard = runtime.system().spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](const Sender&, const ActorMessage& message) {
        // On a busy machine it asks actors that have been silent for long.
        if (MessageMark::parse(message.type)->kind == MessageMark::Kind::ask) sent.put(message);
      }};
    });
  }
  ~Sending() {
    caf::anon_send_exit(task->switchboard, caf::exit_reason::user_shutdown);
    *task = {};
  }
  void ask(const std::string& name) {
    streams.send(
        {.to = {TaskId{0}, name}, .ask = true, .type = "Get{}", .answered = [this](const RawAnswer&) {
           ++answered;
         }});
  }
  ActorMessage last() { return sent.take().value(); }
  void answer(const ActorMessage& to) {
    MessageMark mark = MessageMark::parse(to.type).value();
    mark.kind = MessageMark::Kind::reply;
    ActorMessage reply;
    reply.from = to.to;
    reply.request = to.request;
    streams.take({TaskId{0}, 1}, mark, reply);
  }

  ThreadedRuntime runtime;
  std::shared_ptr<TaskContext> task = std::make_shared<TaskContext>();
  test::Mailbox<ActorMessage> sent;
  OutgoingStreams streams{task, "reader"};
  int answered = 0;
};

using Numbers = std::vector<std::uint64_t>;

struct Pair {
  std::string name;
  std::vector<std::int32_t> values;
};
struct Nothing {};

}  // namespace

BOOST_AUTO_TEST_CASE(messages_come_in_their_order_and_once) {
  IncomingStreams streams;
  for (const std::uint64_t number : {3, 2, 3, 2}) streams.add(message(number));
  BOOST_TEST(taken(streams).empty());
  streams.add(message(1));
  BOOST_TEST(taken(streams) == (Numbers{1, 2, 3}));
  for (const std::uint64_t number : {1, 2, 3, 5, 4}) streams.add(message(number));
  BOOST_TEST(taken(streams) == (Numbers{4, 5}));
}

BOOST_AUTO_TEST_CASE(a_new_stream_ends_the_old_one) {
  IncomingStreams streams;
  streams.add(message(1));
  streams.add(message(3));
  BOOST_TEST(taken(streams) == (Numbers{1}));
  streams.add(message(4, 4));
  streams.add(message(2, 1));
  BOOST_TEST(taken(streams) == (Numbers{4}));
}

BOOST_AUTO_TEST_CASE(another_life_of_the_sender_begins_anew) {
  IncomingStreams streams;
  streams.add(message(1));
  streams.add(message(3));
  BOOST_TEST(taken(streams) == (Numbers{1}));
  streams.add(message(1, 1, 8));
  BOOST_TEST(taken(streams) == (Numbers{1}));
}

BOOST_AUTO_TEST_CASE(senders_are_told_of_tells_and_know_of_asks_by_their_answers) {
  IncomingStreams streams;
  streams.add(message(1, 1, 7, MessageMark::Kind::ask));
  taken(streams);
  BOOST_TEST(streams.untold().empty());
  streams.add(message(2));
  streams.add(message(3));
  taken(streams);
  BOOST_TEST((streams.untold() == std::vector{writer}));
  BOOST_TEST(!streams.take_done(writer, 3));
  const auto done = streams.take_done(writer, 2);
  BOOST_REQUIRE(done);
  BOOST_TEST((done->to == writer && done->stream == 1 && done->number == 3));
  BOOST_TEST(streams.untold().empty());
}

BOOST_AUTO_TEST_CASE(actors_to_which_nothing_is_under_way_are_forgotten_where_they_are_many) {
  Sending sending;
  constexpr int names = 10 * OutgoingStreams::few;
  for (int i = 0; i < names; ++i) {
    sending.ask("actor " + std::to_string(i));
    const ActorMessage sent = sending.last();
    if (i == 0) continue;  // it does not answer
    BOOST_REQUIRE(sent.to == "actor " + std::to_string(i));
    sending.answer(sent);
    sending.streams.tick();
    BOOST_REQUIRE(sending.streams.size() <= OutgoingStreams::few);
  }
  BOOST_TEST(sending.answered == names - 1);
  // What an actor knows of an earlier stream does not make it drop the messages of the new one.
  sending.ask("actor 1");
  const ActorMessage again = sending.last();
  BOOST_TEST(again.request > 1U);
  BOOST_TEST(MessageMark::parse(again.type)->stream == again.request);
  sending.ask("actor 0");
  BOOST_TEST(sending.last().request == 2U, "its stream goes on");
}

BOOST_AUTO_TEST_CASE(marks_are_read_as_they_were_written) {
  for (const auto kind : {MessageMark::Kind::tell, MessageMark::Kind::ask, MessageMark::Kind::reply,
                          MessageMark::Kind::done, MessageMark::Kind::probe})
    for (const char* type : {"", "Add{string,int64}", "A B/1 "}) {
      const auto mark = MessageMark::parse(MessageMark{kind, ~0ULL, type}.to_string());
      BOOST_REQUIRE(mark);
      BOOST_TEST((mark->kind == kind && mark->stream == ~0ULL && mark->type == type));
    }
  for (const char* wrong : {"", "tell", "tell/1", "tell/ x", "tell/1x y", "shout/1 x", "tell/-1 x",
                            "tell/99999999999999999999 x", "1 x/1"})
    BOOST_TEST(!MessageMark::parse(wrong), wrong);
}

BOOST_AUTO_TEST_CASE(messages_are_named_by_struct_and_fields) {
  BOOST_TEST(message_type<Pair>() == "Pair{string,vector<int32>}");
  BOOST_TEST(message_type<Nothing>() == "Nothing{}");
  const Pair pair = from_payload<Pair>(to_payload(Pair{"a", {1, -2}}));
  BOOST_TEST((pair.name == "a" && pair.values == std::vector<std::int32_t>{1, -2}));
  from_payload<Nothing>(to_payload(Nothing{}));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_such_message_are_refused) {
  const auto code_of = [](const Tensor& of) {
    return test::status_of([&] { from_payload<Pair>(of); }).code;
  };
  const Tensor payload = to_payload(Pair{"abc", {1, 2}});
  const auto bytes = payload.values<std::uint8_t>();
  const std::vector<std::uint8_t> all(bytes.begin(), bytes.end());
  for (std::size_t size = 0; size < all.size(); ++size)
    BOOST_TEST((code_of(Tensor::of({static_cast<std::int64_t>(size)},
                                   std::vector(all.begin(), all.begin() + size))) == Code::data_loss));
  auto longer = all;
  longer.push_back(0);
  BOOST_TEST(
      (code_of(Tensor::of({static_cast<std::int64_t>(longer.size())}, longer)) == Code::data_loss));
  BOOST_TEST((code_of(Tensor::scalar(1.F)) == Code::data_loss));
  BOOST_TEST((code_of(Tensor()) == Code::data_loss));
}

BOOST_AUTO_TEST_SUITE_END()
