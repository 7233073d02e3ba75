// Actors of tasks that reach each other by name.
#include "actors/named/switchboard.h"

#include <boost/test/unit_test.hpp>
#include <optional>

#include "actors/actorflow.h"
#include "test/actors/support/recorder.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(switchboard)

using namespace actorflow;
using test::Recorder;

namespace {

const TaskName first{"worker", 0}, second{"worker", 1};

Tensor bytes(std::int64_t size) {
  Tensor tensor = Tensor::allocate(DType::uint8, {size});
  std::uint8_t value = 0;
  for (auto& byte : tensor.mutable_values<std::uint8_t>()) byte = value++;
  return tensor;
}

ActorMessage message(const std::string& to, std::uint64_t request = 0) {
  return {.to = to,
          .from = "sender",
          .type = "what",
          .request = request,
          .content = bytes(3),
          .payload = {},
          .status = {}};
}

// Two tasks behind ports of this machine.
struct Ports {
  ServerOptions options(int task) const {
    ServerOptions options;
    options.cluster = cluster;
    options.job = "worker";
    options.task = task;
    options.max_incoming_bytes = std::size_t{4} << 20;
    return options;
  }

  ClusterSpec cluster{{"worker", {test::free_address(), test::free_address()}}};
  std::optional<Server> one{options(0)}, two{options(1)};
  Recorder here, there;
};

void check_large_and_small(Server& from, Recorder& to, const TaskName& where) {
  for (const std::int64_t size : {0, 1, 1 << 20}) {
    ActorMessage said = message("there", 7);
    said.payload = bytes(size);
    test::send(from, where, said);
    const auto got = to.messages.take();
    BOOST_REQUIRE(got);
    BOOST_TEST(
        (got->to == "there" && got->from == "sender" && got->type == "what" && got->request == 7));
    BOOST_TEST((identical(got->content, said.content) && identical(got->payload, said.payload)), size);
  }
}

void check_not_found(const std::optional<ActorMessage>& answer, const std::string& name) {
  BOOST_REQUIRE(answer);
  BOOST_TEST((answer->type == not_found_type && answer->from == name && answer->request == 8));
  BOOST_TEST((answer->status.code == Code::not_found));
  BOOST_TEST(answer->status.message.find("has no actor '" + name + "'") != std::string::npos,
             answer->status.message);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(messages_reach_the_actor_of_their_name_in_another_process_and_in_the_own_one,
                        Ports) {
  BOOST_TEST(there.join(*two, "there").ok());
  check_large_and_small(*one, there, second);
  check_large_and_small(*two, there, second);
}

BOOST_AUTO_TEST_CASE(between_tasks_of_a_process_tensors_are_passed_as_handles) {
  LocalCluster cluster({{"worker", 2}}, 1);
  Recorder there;
  BOOST_TEST(there.join(cluster.server("worker", 1), "there").ok());
  check_large_and_small(cluster.server("worker", 0), there, second);
  ActorMessage said = message("there");
  test::send(cluster.server("worker", 0), second, said);
  BOOST_TEST((there.messages.take()->content.data() == said.content.data()));
}

BOOST_FIXTURE_TEST_CASE(a_request_to_a_name_that_nobody_has_is_answered, Ports) {
  BOOST_TEST(here.join(*one, "sender").ok());
  BOOST_TEST(there.join(*two, "sender").ok());
  for (const auto& where : {first, second}) {
    test::send(*one, where, message("nobody"));
    test::send(*one, where, message("nobody", 8));
    check_not_found(here.messages.take(), "nobody");
  }
  BOOST_TEST(here.messages.size() == 0u);
  BOOST_TEST(there.messages.size() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_message_above_the_limit_comes_without_tensors_and_says_why, Ports) {
  BOOST_TEST(there.join(*two, "there").ok());
  ActorMessage large = message("there", 7);
  large.payload = bytes(5 << 20);
  test::send(*one, second, large);
  const auto got = there.messages.take();
  BOOST_REQUIRE(got);
  BOOST_TEST((got->from == "sender" && got->type == "what" && got->request == 7));
  BOOST_TEST((!got->content.valid() && !got->payload.valid()));
  BOOST_TEST((got->status.code == Code::resource_exhausted), got->status.to_string());
  BOOST_TEST(got->status.message.find("4194304 bytes") != std::string::npos, got->status.message);
}

BOOST_FIXTURE_TEST_CASE(a_name_is_taken_until_its_actor_ends_or_is_unregistered, Ports) {
  Recorder second_one, third_one;
  BOOST_TEST(here.join(*one, "here").ok());
  const Status taken = second_one.join(*one, "here");
  BOOST_TEST((taken.code == Code::already_exists), taken.to_string());
  BOOST_TEST(taken.message == "/job:worker/task:0 has an actor 'here' already");
  here.leave();
  while (!second_one.join(*one, "here").ok())
    ;
  test::send(*one, first, message("here"));
  BOOST_TEST(second_one.messages.take().has_value());
  caf::anon_send(one->context()->switchboard, UnregisterActor{"here"});
  BOOST_TEST(third_one.join(*one, "here").ok());
}

BOOST_FIXTURE_TEST_CASE(registered_actors_hear_that_a_task_is_lost_and_its_successor_is_reached, Ports) {
  BOOST_TEST(here.join(*one, "here").ok());
  BOOST_TEST(there.join(*two, "there").ok());
  test::send(*one, second, message("there"));
  BOOST_TEST(there.messages.take().has_value());
  there.leave();
  two.reset();
  const auto lost = here.losses.take();
  BOOST_REQUIRE(lost);
  BOOST_TEST((lost->code == Code::unavailable), lost->to_string());
  two.emplace(options(1));
  BOOST_TEST(there.join(*two, "there").ok());
  test::send(*one, second, message("there"));
  BOOST_TEST(there.messages.take().has_value());
}

BOOST_AUTO_TEST_SUITE_END()
