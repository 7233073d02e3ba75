// The messages that a link still has to send, in its two lanes. Internal to schema/.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "schema/message.h"

namespace actorflow {

enum class Lane : std::uint8_t { control, bulk };

// A message of the control lane, and the number of bulk messages that must be handled before it.
struct ControlMessage {
  Message message;
  std::uint64_t after_bulk = 0;
  std::size_t size_bytes = 0;
};

// Decides which lane a message takes and what it must not overtake; the rules are in link.h.
// Thread-safe.
class Outbox {
 public:
  struct Pushed {
    Lane lane;
    bool wake;  // nobody works on that lane yet: the caller must start that
  };
  // Drops the message if the outbox has been closed.
  Pushed push(Message message);

  // Takes the messages to send together. Empty: the caller no longer works on the lane, and the next
  // push wakes it.
  std::vector<ControlMessage> take_control();
  std::optional<Message> take_bulk();

  // True if nobody works on either lane or has been told to.
  bool idle() const;
  // Drops everything, now and later.
  void close();

  // The number of messages that have entered the bulk lane.
  std::uint64_t bulk_messages() const;
  // The approximate size of all messages of the bulk lane that nobody has taken yet.
  std::size_t waiting_bytes() const;

 private:
  std::uint64_t must_follow(const Message& message) const;

  mutable std::mutex mutex_;  // guards all
  bool closed_ = false;
  std::deque<ControlMessage> control_;
  std::deque<std::pair<Message, std::size_t>> bulk_;
  bool control_busy_ = false;
  bool bulk_busy_ = false;
  std::uint64_t bulk_messages_ = 0;
  std::uint64_t last_bulk_run_ = 0;  // the number of the last RunGraph among them
  std::size_t waiting_bytes_ = 0;
};

}  // namespace actorflow
