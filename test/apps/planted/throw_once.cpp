// Linked to a program, makes of it one in which a handler throws once, as the environment says:
// ACTORFLOW_TEST_THROW="lane/Completed:3", the third time that a lane handles a Completed, before it
// does. "lane/Completed:3:after" = when it has done so; "lane/Completed:3:before:no_memory" and
// ":of_no_type" = other exceptions.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "actors/probes/handler_probe.h"
#include "test/apps/support/throw_once.h"

namespace {

class ThrowOnce final : public actorflow::HandlerProbe {
 public:
  ThrowOnce() {
    const char* text = std::getenv("ACTORFLOW_TEST_THROW");
    if (!text || *text == 0) return;
    std::istringstream parts(text);
    std::string times, when;
    std::getline(parts, handler_, ':');
    std::getline(parts, times, ':');
    std::getline(parts, when, ':');
    std::getline(parts, kind_);
    left_ = std::stoi(times);
    after_ = when == "after";
    actorflow::handler_probe = this;
  }

  void made(const actorflow::HandlerName&) override {}
  void before(const actorflow::HandlerName& name) override {
    if (!after_) count(name);
  }
  void after(const actorflow::HandlerName& name) override {
    if (after_) count(name);
  }

 private:
  void count(const actorflow::HandlerName& name) {
    if (std::string(name.actor) + "/" + std::string(name.message) != handler_ || --left_ != 0) return;
    std::fprintf(stderr, "%s\n", actorflow::test::throws_here);
    if (kind_ == "no_memory") throw std::bad_alloc();
    if (kind_ == "of_no_type") throw 42;  // NOLINT: of no type that anybody knows
    throw std::runtime_error("a planted error");
  }

  std::string handler_, kind_;
  bool after_ = false;
  std::atomic<int> left_{0};
};

// Until the process ends: actors may run until then.
const auto* const probe = new ThrowOnce;  // NOLINT

}  // namespace
