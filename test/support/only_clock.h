// A runtime that has a clock of the test's, and nothing else.
#pragma once

#include <functional>
#include <stdexcept>

#include "actors/runtime/runtime.h"

namespace actorflow::test {

class OnlyClock : public Runtime, public Clock {
 public:
  time_point now() override { return now_; }
  Clock& clock() override { return *this; }
  bool wait_until(time_point, const std::function<void(Waker&)>&,
                  const std::function<void(Waker&)>&) override {
    throw std::logic_error("nobody waits");
  }
  caf::actor_system& system() override { throw std::logic_error("there is none"); }
  Team& team() override { throw std::logic_error("there is none"); }
  Random& random() override { throw std::logic_error("there is none"); }
  Storage& storage() override { throw std::logic_error("there is none"); }
  Network& rpc_network() override { throw std::logic_error("there is none"); }
  Network& local_network() override { throw std::logic_error("there is none"); }

 protected:
  time_point now_{};
};

}  // namespace actorflow::test
