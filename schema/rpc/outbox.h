// What a link still has to send, in its two planes. Internal to schema/.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "schema/message.h"

namespace actorflow {

enum class Plane : std::uint8_t { control, bulk };

// A message of the control plane, which is handled only when so many of the bulk plane have been.
struct ControlMessage {
  Message message;
  std::uint64_t after_bulk = 0;
  std::size_t size_bytes = 0;
};

// Decides which plane a message takes and what it must not overtake; the rules are in link.h.
// Thread-safe.
class Outbox {
 public:
  struct Pushed {
    Plane plane;
    bool wake;  // nobody works on that plane: the caller must see to it that somebody does
  };
  // Drops the message if the outbox has been closed.
  Pushed push(Message message);

  // What goes out together. Empty: the caller no longer works on the plane, the next push wakes.
  std::vector<ControlMessage> take_control();
  std::optional<Message> take_bulk();

  // True if nobody works on either plane, nor has been told to.
  bool idle() const;
  // Drops everything, now and later.
  void close();

  // How many messages have gone into the bulk plane.
  std::uint64_t bulk_messages() const;
  // About the size of all messages of the bulk plane that nobody has taken yet.
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
