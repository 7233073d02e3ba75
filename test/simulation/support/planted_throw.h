// A handler of an actor that throws once.
#pragma once

#include <cstdint>
#include <map>
#include <new>
#include <stdexcept>
#include <string>

#include "actors/probes/handler_probe.h"

namespace actorflow::test {

inline std::string to_string(const HandlerName& handler) {
  return std::string(handler.actor) + "/" + std::string(handler.message);
}

enum class Kind { error, no_memory, of_no_type };

// What is to throw: the handler, when it runs for that time.
struct Where {
  std::string handler;
  bool after = false;
  std::uint64_t occurrence = 1;
  Kind kind = Kind::error;
};

// Notes which handlers there are and how often they run, and lets one of them throw, once.
class Plant final : public HandlerProbe {
 public:
  explicit Plant(Where where = {}) : where_(std::move(where)) { handler_probe = this; }
  ~Plant() override { handler_probe = nullptr; }

  void made(const HandlerName& handler) override { seen_.try_emplace(to_string(handler)); }
  void before(const HandlerName& handler) override {
    if (++seen_[to_string(handler)] == where_.occurrence && !where_.after) hit(handler);
  }
  // Counted by itself: a handler can begin in one actor while it still runs in another.
  void after(const HandlerName& handler) override {
    if (++ended_[to_string(handler)] == where_.occurrence && where_.after) hit(handler);
  }

  const std::map<std::string, std::uint64_t>& seen() const { return seen_; }
  bool thrown() const { return thrown_; }
  // What must be named where somebody hears of it.
  std::string cause() const {
    return where_.kind == Kind::error       ? "a planted error"
           : where_.kind == Kind::no_memory ? "out of memory"
                                            : "an exception of unknown type";
  }

 private:
  void hit(const HandlerName& handler) {
    if (thrown_ || to_string(handler) != where_.handler) return;
    thrown_ = true;
    if (where_.kind == Kind::error) throw std::runtime_error(cause());
    if (where_.kind == Kind::no_memory) throw std::bad_alloc();
    throw 42;  // NOLINT: of no type that anybody knows
  }

  const Where where_;
  std::map<std::string, std::uint64_t> seen_, ended_;
  bool thrown_ = false;
};

}  // namespace actorflow::test
