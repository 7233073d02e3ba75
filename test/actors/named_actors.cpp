// Users' own actors: in one task, between tasks of a process, and behind ports.
#include <boost/test/unit_test.hpp>
#include <future>
#include <map>
#include <optional>
#include <stdexcept>

#include "actors/actorflow.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(named_actors)

using namespace actorflow;
using namespace std::chrono_literals;
using test::status_of;

namespace {

struct Add {
  std::string key;
  std::int64_t by;
};
struct Get {
  std::string key;
};
struct Count {
  std::int64_t value;
};
struct Numbered {
  std::int64_t number;
  std::vector<std::uint8_t> ballast;
};
struct Fail {
  std::string why;
};
struct Refuse {};
struct Hang {};      // until the gate opens
struct Forget {};    // without an answer
struct Keep {};      // the question, for ever
struct GetLater {};  // answers after a moment
struct GetFrom {     // asks another actor
  std::string task, name;
};
struct TellFrom {
  std::string task, name;
  std::int64_t times;
};
struct Unknown {
  double x;
};

namespace other_program {
struct Add {
  std::string key;
  float by;
};
struct Count {
  float value;
};
}  // namespace other_program

// What the test holds in its hands.
struct Gate {
  std::promise<void> opened;
  std::shared_future<void> open{opened.get_future()};
};

class Counter final : public NamedActor {
 public:
  explicit Counter(std::shared_future<void> gate = {}) : gate_(std::move(gate)) {
    on([this](const Add& add) { counts_[add.key] += add.by; });
    on([this](const Get& get) { return Count{counts_[get.key]}; });
    on([this](const Numbered& message) {
      if (message.number == next_) ++next_;
      counts_["in order"] = next_;
    });
    on([](const Fail& fail) { throw std::runtime_error(fail.why); });
    on([](Refuse) -> Count { throw Refused(Code::out_of_range, "not so"); });
    on([this](Hang) { gate_.wait(); });
    on([](Forget, ActorReply<Count>) {});
    on([this](Keep, ActorReply<Count> reply) { kept_.push_back(std::move(reply)); });
    on([this](GetLater, ActorReply<Count> reply) {
      after(1ms, [this, reply] { reply.send({counts_["a"]}); });
    });
    on([this](const GetFrom& from, ActorReply<Count> reply) {
      ask<Count>(from.task, from.name, Get{"a"}, [reply](const Status& status, const Count& count) {
        if (status.ok())
          reply.send(count);
        else
          reply.fail(status);
      });
    });
    on([this](const TellFrom& message) {
      for (std::int64_t i = 0; i < message.times; ++i) tell(message.task, message.name, Add{"a", 1});
    });
  }

 private:
  std::shared_future<void> gate_;
  std::map<std::string, std::int64_t> counts_;
  std::int64_t next_ = 0;
  std::vector<ActorReply<Count>> kept_;
};

void spawn_counter(Server& server, SpawnOptions options = {}, std::shared_future<void> gate = {}) {
  server.spawn(
      "counter", [gate] { return std::make_unique<Counter>(gate); }, options);
}

std::int64_t count_of(const ActorRef& counter, const std::string& key = "a") {
  return counter.ask<Count>(Get{key}).get().value;
}

void check(const Status& status, Code code, const std::string& text) {
  BOOST_TEST((status.code == code), status.to_string());
  BOOST_TEST(status.message.find(text) != std::string::npos, status.to_string());
}

struct OneTask {
  Server server = Server::local();
  ActorRef counter = server.find("/job:local/task:0", "counter");
};

// Two tasks behind ports.
struct TwoPorts {
  ServerOptions options(int task) const {
    ServerOptions options;
    options.cluster = cluster;
    options.job = "worker";
    options.task = task;
    return options;
  }

  ClusterSpec cluster{{"worker", {test::free_address(), test::free_address()}}};
  std::optional<Server> one{options(0)}, two{options(1)};
  ActorRef counter = one->find("/job:worker/task:1", "counter");
};

void count_in_order(const ActorRef& counter) {
  for (std::int64_t i = 0; i < 200; ++i)
    counter.tell(Numbered{i, std::vector<std::uint8_t>(i % 10 == 0 ? 300'000 : i % 3)});
  BOOST_TEST(count_of(counter, "in order") == 200);
  for (int i = 0; i < 5'000; ++i) counter.tell(Add{i % 2 == 0 ? "even" : "odd", 1});
  BOOST_TEST(count_of(counter, "even") == 2'500);
  BOOST_TEST(count_of(counter, "odd") == 2'500);
  counter.drain();
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(messages_are_handled_once_and_in_their_order_in_one_task, OneTask) {
  spawn_counter(server);
  count_in_order(counter);
}

BOOST_AUTO_TEST_CASE(and_between_the_tasks_of_a_process) {
  LocalCluster cluster({{"worker", 2}}, 1);
  spawn_counter(cluster.server("worker", 1));
  count_in_order(cluster.server("worker", 0).find("/job:worker/task:1", "counter"));
}

BOOST_FIXTURE_TEST_CASE(and_between_tasks_behind_ports_from_several_threads, TwoPorts) {
  spawn_counter(*two);
  count_in_order(counter);
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 4; ++i)
    threads.push_back(std::async(std::launch::async, [&] {
      for (int j = 0; j < 1'000; ++j) counter.tell(Add{"a", 1});
      counter.ask<void>(Add{"a", 1}).get();
    }));
  for (auto& thread : threads) thread.get();
  BOOST_TEST(count_of(counter) == 4'004);
}

BOOST_FIXTURE_TEST_CASE(a_name_that_nobody_has_is_said_and_may_be_taken_later, TwoPorts) {
  const std::string nobody = "/job:worker/task:1 has no actor 'counter'";
  check(status_of([&] { count_of(counter); }), Code::not_found, nobody);
  counter.tell(Add{"a", 1});
  check(status_of([&] { counter.drain(); }), Code::not_found, nobody);
  // The last question, of one every 50 ms, may come too late to be answered.
  for (const auto time : {100ms, 101ms, 102ms, 103ms, 104ms})
    check(status_of([&] { counter.wait_until_there(time); }), Code::not_found, nobody);
  auto waits = std::async(std::launch::async, [&] { counter.wait_until_there(); });
  spawn_counter(*two);
  waits.get();
  BOOST_TEST(count_of(counter) == 0);
  check(status_of([&] { spawn_counter(*two); }), Code::already_exists, "'counter'");
  check(status_of([&] { two->spawn("actorflow.x", [] { return std::make_unique<Counter>(); }); }),
        Code::invalid_argument, "'actorflow.'");
  check(status_of([&] { one->find("/job:worker/task:2", "counter"); }), Code::invalid_argument,
        "/job:worker/task:2");
}

BOOST_FIXTURE_TEST_CASE(messages_of_a_program_that_differs_are_refused_and_both_are_named, OneTask) {
  spawn_counter(server);
  check(status_of([&] {
          counter.ask<void>(other_program::Add{"a", 1}).get();
        }),
        Code::invalid_argument,
        "'counter' of /job:local/task:0 takes Add{string,int64}, but /job:local/task:0 has sent "
        "Add{string,float32}");
  check(status_of([&] { counter.ask<other_program::Count>(Get{"a"}).get(); }), Code::invalid_argument,
        "expected Count{float32} as the answer, but it is Count{int64}");
  const Status unknown = status_of([&] { counter.ask<void>(Unknown{1}).get(); });
  check(unknown, Code::invalid_argument, "has no handler for Unknown{float64} of /job:local/task:0");
  check(unknown, Code::invalid_argument, "it takes Add{string,int64} ");
  counter.tell(Unknown{1});
  check(status_of([&] { counter.drain(); }), Code::invalid_argument, "Unknown{float64}");
  counter.drain();
  BOOST_TEST(count_of(counter) == 0);
}

BOOST_FIXTURE_TEST_CASE(an_actor_that_throws_begins_anew_and_is_stopped_in_the_end, OneTask) {
  spawn_counter(server, {.restarts = 2});
  const std::string failed = "'counter' of /job:local/task:0 has failed in Fail{string}: on purpose";
  counter.tell(Add{"a", 5});
  check(status_of([&] { counter.ask<Count>(Fail{"on purpose"}).get(); }), Code::internal, failed);
  BOOST_TEST(count_of(counter) == 0);
  counter.tell(Add{"a", 5});
  counter.tell(Fail{"on purpose"});
  check(status_of([&] { counter.drain(); }), Code::internal, failed);
  BOOST_TEST(count_of(counter) == 0);
  counter.tell(Fail{"on purpose"});
  check(status_of([&] { count_of(counter); }), Code::not_found, failed + "; it has been stopped");
}

BOOST_FIXTURE_TEST_CASE(an_actor_that_cannot_be_made_again_is_stopped, OneTask) {
  server.spawn("counter", [made = false]() mutable {
    if (std::exchange(made, true)) throw std::runtime_error("only once");
    return std::make_unique<Counter>();
  });
  check(status_of([&] { counter.ask<Count>(Fail{"on purpose"}).get(); }), Code::internal, "on purpose");
  check(status_of([&] { count_of(counter); }), Code::not_found, "it cannot be made again: only once");
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_refuse_and_the_actor_keeps_its_state, OneTask) {
  spawn_counter(server, {.restarts = 0});
  counter.tell(Add{"a", 5});
  check(status_of([&] { counter.ask<Count>(Refuse{}).get(); }), Code::out_of_range, "not so");
  BOOST_TEST(count_of(counter) == 5);
}

BOOST_FIXTURE_TEST_CASE(answers_may_come_later_or_never_and_somebody_else_may_give_them, TwoPorts) {
  spawn_counter(*one);
  spawn_counter(*two);
  const ActorRef near = one->find("/job:worker/task:0", "counter");
  counter.tell(Add{"a", 7});
  BOOST_TEST(counter.ask<Count>(GetLater{}).get().value == 7);
  BOOST_TEST(near.ask<Count>(GetFrom{"/job:worker/task:1", "counter"}).get().value == 7);
  check(status_of([&] {
          near.ask<Count>(GetFrom{"/job:worker/task:1", "nobody"}).get();
        }),
        Code::not_found, "'nobody'");
  check(status_of([&] { counter.ask<Count>(Forget{}).get(); }), Code::aborted, "without an answer");
  check(status_of([&] { counter.ask<Count>(Keep{}, 300ms).get(); }), Code::deadline_exceeded,
        "'counter' of /job:worker/task:1 has not answered Keep{} in time");
  near.tell(TellFrom{"/job:worker/task:1", "counter", 3});
  near.drain();
  while (count_of(counter) != 10)
    ;
}

BOOST_FIXTURE_TEST_CASE(who_sends_more_than_an_actor_handles_waits_for_it, TwoPorts) {
  Gate gate;
  spawn_counter(*two, {}, gate.open);
  const ActorRef hasty =
      one->find("/job:worker/task:1", "counter", {.window_messages = 4, .patience = 100ms});
  hasty.tell(Hang{});
  for (int i = 0; i < 3; ++i) hasty.tell(Add{"a", 1});
  const Status full = status_of([&] { hasty.tell(Add{"a", 1}); });
  check(full, Code::resource_exhausted,
        "'counter' of /job:worker/task:1 does not keep up: it has 4 messages");
  check(status_of([&] { hasty.drain(100ms); }), Code::deadline_exceeded, "has not handled 4 messages");
  auto patient = std::async(std::launch::async, [&] {
    const ActorRef ref = one->find("/job:worker/task:1", "counter", {.window_bytes = 100});
    for (int i = 0; i < 1'000; ++i) ref.tell(Add{"a", 1});
    return count_of(ref);
  });
  BOOST_TEST((patient.wait_for(100ms) == std::future_status::timeout));
  gate.opened.set_value();
  BOOST_TEST(patient.get() == 1'003);
}

BOOST_FIXTURE_TEST_CASE(an_actor_that_sends_too_much_from_a_handler_is_refused_and_does_not_wait,
                        TwoPorts) {
  Gate gate;
  spawn_counter(*one);
  spawn_counter(*two, {}, gate.open);
  const ActorRef near = one->find("/job:worker/task:0", "counter");
  counter.tell(Hang{});
  near.tell(Add{"b", 1});
  near.tell(TellFrom{"/job:worker/task:1", "counter", 2'000});
  check(status_of([&] { near.drain(); }), Code::resource_exhausted, "'counter' of /job:worker/task:1");
  BOOST_TEST(count_of(near, "b") == 1);  // its state has been kept
  gate.opened.set_value();
  counter.drain();
}

BOOST_FIXTURE_TEST_CASE(what_a_lost_task_has_not_answered_fails_and_its_successor_is_reached, TwoPorts) {
  spawn_counter(*two);
  counter.tell(Add{"a", 1});
  BOOST_TEST(count_of(counter) == 1);
  auto never = counter.ask<Count>(Keep{});
  counter.ask<void>(Add{"a", 1}).get();
  two.reset();
  check(status_of([&] { never.get(); }), Code::unavailable, "/job:worker/task:1");
  two.emplace(options(1));
  spawn_counter(*two);
  counter.tell(Add{"a", 1});
  BOOST_TEST(count_of(counter) == 1);
}

BOOST_AUTO_TEST_CASE(a_reference_outlives_its_server_and_says_so) {
  auto task = std::make_unique<OneTask>();
  spawn_counter(task->server);
  const ActorRef counter = task->counter;
  auto never = counter.ask<Count>(Keep{});
  BOOST_TEST(count_of(counter) == 0);
  task.reset();
  check(status_of([&] { never.get(); }), Code::cancelled, "has ended");
  check(status_of([&] { counter.tell(Add{"a", 1}); }), Code::cancelled, "has ended");
  check(status_of([&] { counter.ask<Count>(Get{"a"}); }), Code::cancelled, "has ended");
}

BOOST_AUTO_TEST_SUITE_END()
