#include "actors/runtime/random.h"

#include <mutex>
#include <random>

namespace actorflow {
namespace {

class SystemRandom final : public Random {
 public:
  std::uint64_t next() override {
    const std::scoped_lock lock(mutex_);
    return engine_();
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_{(std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}()};
};

}  // namespace

Random& system_random() {
  static SystemRandom instance;
  return instance;
}

}  // namespace actorflow
