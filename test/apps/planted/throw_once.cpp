// Linked to the trainer, makes of it a program in which a handler throws once, as the environment says:
// ACTORFLOW_TEST_THROW="lane/Completed:3", the third time that a lane handles a Completed.
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "actors/probes/handler_probe.h"

namespace {

class ThrowOnce final : public actorflow::HandlerProbe {
 public:
  ThrowOnce() {
    const char* text = std::getenv("ACTORFLOW_TEST_THROW");
    if (!text || *text == 0) return;
    handler_ = text;
    const auto colon = handler_.find(':');
    left_ = std::stoi(handler_.substr(colon + 1));
    handler_.resize(colon);
    actorflow::handler_probe = this;
  }

  void made(const actorflow::HandlerName&) override {}
  void before(const actorflow::HandlerName& name) override {
    if (std::string(name.actor) + "/" + std::string(name.message) == handler_ && --left_ == 0)
      throw std::runtime_error("a planted error");
  }
  void after(const actorflow::HandlerName&) override {}

 private:
  std::string handler_;
  std::atomic<int> left_{0};
};

// Until the process ends: actors may run until then.
const auto* const probe = new ThrowOnce;  // NOLINT

}  // namespace
