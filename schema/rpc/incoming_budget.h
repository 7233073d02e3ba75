// The memory that the large tensors of all peers of a task may take together. Internal to schema/:
// includes kj.
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/values/buffer.h"
#include "dataflow/values/error.h"
#include "schema/rpc/rpc_network.h"

namespace actorflow {

// For the loop's thread; what has been lent may be given back on any thread, also after the end.
//
// A peer that has nothing here gets room for one message at once, however large: so nobody starves. The
// rest is lent first come first served, as far as the budget goes. So what is here is never more than
// the budget and a message of each peer. A message that waits while nothing ends is refused after
// RpcOptions::full_window_timeout_ms, with the names of those whose tensors are here.
class IncomingBudget : public std::enable_shared_from_this<IncomingBudget> {
  struct Tally;

 public:
  IncomingBudget(kj::Timer& timer, const RpcOptions& options);

  // Bytes lent to a message. What of them has not become a buffer is free when this ends.
  class Room {
   public:
    Room() = default;
    Room(std::shared_ptr<Tally> tally, std::size_t bytes) : tally_(std::move(tally)), bytes_(bytes) {}
    Room(Room&& other) noexcept
        : tally_(std::move(other.tally_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Room& operator=(Room&& other) noexcept;
    ~Room() { free(); }

    // The same bytes, counted until they are destroyed. REQUIRES: they are no more than what is left.
    BufferRef take(BufferRef bytes, std::size_t size_bytes);

   private:
    void free() noexcept;
    std::shared_ptr<Tally> tally_;
    std::size_t bytes_ = 0;
  };
  struct Grant {
    Status status;  // not ok: refused, and there is no room
    Room room;
  };

  // The part of one connection of a peer.
  class Share {
   public:
    // A promise that is dropped asks no more.
    kj::Promise<Grant> ask(std::size_t bytes);
    // Call when tensors of this connection have been destroyed: others may wait for their room.
    void released() { budget_->released(); }

   private:
    friend class IncomingBudget;
    Share(std::shared_ptr<IncomingBudget> budget, std::shared_ptr<Tally> tally)
        : budget_(std::move(budget)), tally_(std::move(tally)) {}
    std::shared_ptr<IncomingBudget> budget_;
    std::shared_ptr<Tally> tally_;
  };
  // `peer`: the name in messages.
  Share share(const std::string& peer);

  // Call when all connections have been closed.
  void stop() {
    watching_ = nullptr;
    waiting_.clear();
  }

 private:
  // What is here of one connection, and of all. Any thread.
  struct Tally {
    std::string peer;
    std::shared_ptr<std::atomic<std::size_t>> all;
    std::atomic<std::size_t> bytes{0};

    void add(std::size_t more) {
      bytes += more;
      *all += more;
    }
    void subtract(std::size_t less) noexcept {
      bytes -= less;
      *all -= less;
    }
  };
  class Counted;
  struct Waiting {
    std::shared_ptr<Tally> tally;
    std::size_t bytes;
    kj::TimePoint since;
    kj::Own<kj::PromiseFulfiller<Grant>> grant;
  };

  bool fits(std::size_t bytes) const;
  static Room lend(const std::shared_ptr<Tally>& tally, std::size_t bytes);
  void released();
  void lend_to_waiting();
  bool refuse_or_report(Waiting& waiting);
  void begin_watch();
  kj::Promise<void> watch();
  void look();
  void give_up() noexcept;
  std::string holders() const;

  kj::Timer& timer_;
  const std::size_t limit_bytes_;
  const std::int64_t timeout_ms_;
  const std::function<void(const std::string&)> warn_;
  const std::shared_ptr<std::atomic<std::size_t>> all_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::vector<std::weak_ptr<Tally>> tallies_;
  std::deque<Waiting> waiting_;  // in the order in which they came
  std::size_t seen_bytes_ = 0;   // of all, when look() was last called
  kj::TimePoint last_release_ = kj::origin<kj::TimePoint>();
  kj::TimePoint next_report_ = kj::origin<kj::TimePoint>();
  bool is_watching_ = false;
  kj::Promise<void> watching_ = nullptr;
};

}  // namespace actorflow
