// Which actors run on the network's thread.
#include <boost/test/unit_test.hpp>
#include <caf/all.hpp>
#include <future>
#include <thread>

#include "actors/core/messages.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/runtime/threaded_runtime.h"
#include "schema/link.h"

BOOST_AUTO_TEST_SUITE(network_thread)

using namespace actorflow;

namespace {

// Tells on which thread it has got a message.
struct Witness {
  std::shared_ptr<std::promise<std::thread::id>> ran_on;
};
template <class Base>
caf::behavior witness(caf::stateful_actor<Witness, Base>* self,
                      std::shared_ptr<std::promise<std::thread::id>> ran_on) {
  self->state.ran_on = std::move(ran_on);
  return {[=](const Message&) { self->state.ran_on->set_value(std::this_thread::get_id()); }};
}

// True if an actor of that kind, woken by a message, runs on the thread that has received this.
template <class Base>
bool runs_on_network_thread() {
  ThreadedRuntime runtime;
  auto ran_on = std::make_shared<std::promise<std::thread::id>>();
  auto actor = runtime.system().spawn(witness<Base>, ran_on);
  std::promise<std::thread::id> received_on;
  const auto listener =
      runtime.rpc_network().listen("127.0.0.1:0", {{"ps", 0}, 1},
                                   {[&](const TaskIdentity&, Message message) {
                                      received_on.set_value(std::this_thread::get_id());
                                      caf::anon_send(actor, std::move(message));
                                    },
                                    [](const TaskIdentity&) {},
                                    {}});
  const auto link = runtime.rpc_network().connect(listener->address(), {{"worker", 0}, 1}, {"ps", 0},
                                                  {[](const TaskIdentity&) {}, [](const Status&) {}});
  link->send(ReplicaDone{});
  return ran_on->get_future().get() == received_on.get_future().get();
}

}  // namespace

BOOST_AUTO_TEST_CASE(light_actors_run_on_the_thread_of_the_network_that_wakes_them) {
  BOOST_TEST(runs_on_network_thread<LightActor>());
}

BOOST_AUTO_TEST_CASE(actors_that_compute_do_not) {
  BOOST_TEST(!runs_on_network_thread<ComputingActor>());
  BOOST_TEST(!runs_on_network_thread<PinnedActor>());
}

BOOST_AUTO_TEST_SUITE_END()
