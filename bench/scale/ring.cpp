#include "bench/scale/ring.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/simulation/sim_network.h"
#include "actors/simulation/sim_runtime.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/world/world.h"
#include "bench/scale/virtual_time.h"
#include "kernels/core/kernel.h"

namespace actorflow::bench {
namespace {

class Ring {
 public:
  Ring(int workers, std::int64_t bytes, const LinkModel& links)
      : chunk_(Tensor::zeros(DType::uint8, {std::max<std::int64_t>(bytes / workers, 1)})),
        rounds_(2 * (workers - 1)),
        members_(static_cast<std::size_t>(workers)) {
    network_.set_model(links);
    for (int i = 0; i < workers; ++i) listen(i);
    for (int i = 0; i < workers; ++i) connect(i);
    run_until([this] { return linked_ == std::ssize(members_); });
  }

  double all_reduce() {
    const auto start = world_.elapsed();
    for (auto& member : members_)
      world_.as(member.track, [&] { send(member); });
    run_until([this] { return done_ == std::ssize(members_); });
    return seconds(world_.elapsed() - start);
  }

 private:
  struct Member {
    TrackId track = outside;
    std::unique_ptr<Listener> listener;
    std::unique_ptr<Link> next;
    int sent = 0, received = 0;
  };

  static TaskName name(int i) { return {"worker", i}; }
  static std::string address(int i) { return "worker-" + std::to_string(i) + ":2222"; }

  void listen(int i) {
    Member& member = members_[static_cast<std::size_t>(i)];
    member.track = world_.add_track(name(i).to_string());
    world_.as(member.track, [&] {
      member.listener = network_.listen(
          address(i), {name(i), 1},
          {.received = [this, &member](const TaskIdentity&, const Message&) { receive(member); },
           .gone = [](const TaskIdentity&) {},
           .master = {}});
    });
  }

  void connect(int i) {
    Member& member = members_[static_cast<std::size_t>(i)];
    const int next = (i + 1) % static_cast<int>(std::ssize(members_));
    world_.as(member.track, [&] {
      member.next = network_.connect(
          address(next), {name(i), 1}, name(next),
          {.up = [this](const TaskIdentity&) { ++linked_; }, .down = [](const Status&) {}});
    });
  }

  // The chunk of the next round is the one that came in the last.
  void send(Member& member) {
    if (member.sent == rounds_) return;
    member.next->send(TensorDelivery{static_cast<StepId>(member.sent++), 0, chunk_});
  }
  void receive(Member& member) {
    if (++member.received == rounds_) ++done_;
    send(member);
  }

  template <class Condition>
  void run_until(Condition&& condition) {
    while (!condition())
      if (!world_.step()) throw std::logic_error("the ring stands still");
  }

  World world_{1, std::make_unique<RandomSchedule>(1), false};
  SimNetwork network_{world_, builtin_ops().registry(), cpu_device().allocator()};
  SimStorage storage_{world_};
  SimRuntime runtime_{world_, network_, storage_};
  Tensor chunk_;
  int rounds_;
  std::vector<Member> members_;
  std::ptrdiff_t linked_ = 0, done_ = 0;
};

}  // namespace

double simulate_ring(int workers, std::int64_t bytes, const LinkModel& links) {
  return workers == 1 ? 0 : Ring(workers, bytes, links).all_reduce();
}

}  // namespace actorflow::bench
