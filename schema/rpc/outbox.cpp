#include "schema/rpc/outbox.h"

#include <utility>

#include "schema/codec/message_size.h"
#include "schema/link.h"

namespace actorflow {
namespace {

// The limits of one batch.
constexpr std::size_t batch_bytes = std::size_t{1} << 20;
constexpr std::size_t batch_messages = 1024;

// Messages with a reason stay in their order, however long the reason is.
bool keeps_its_place(const Message& message) {
  return std::holds_alternative<AbortStep>(message) || std::holds_alternative<Shutdown>(message) ||
         std::holds_alternative<Undelivered>(message);
}

}  // namespace

Outbox::Pushed Outbox::push(Message message) {
  const std::size_t size = estimated_bytes(message);
  const std::lock_guard lock(mutex_);
  const Plane plane =
      size < large_message_bytes || keeps_its_place(message) ? Plane::control : Plane::bulk;
  if (closed_) return {plane, false};
  if (plane == Plane::control) {
    const std::uint64_t after = must_follow(message);
    control_.push_back({std::move(message), after, size});
    return {plane, !std::exchange(control_busy_, true)};
  }
  ++bulk_messages_;
  if (std::holds_alternative<RunGraph>(message)) last_bulk_run_ = bulk_messages_;
  waiting_bytes_ += size;
  bulk_.emplace_back(std::move(message), size);
  return {plane, !std::exchange(bulk_busy_, true)};
}

std::uint64_t Outbox::must_follow(const Message& message) const {
  // The end of a run must come after its beginning.
  if (std::holds_alternative<AbortStep>(message) || std::holds_alternative<DeregisterGraph>(message))
    return last_bulk_run_;
  // Last messages come after everything else.
  if (std::holds_alternative<ReplicaDone>(message) || std::holds_alternative<Shutdown>(message))
    return bulk_messages_;
  return 0;
}

std::vector<ControlMessage> Outbox::take_control() {
  std::vector<ControlMessage> batch;
  std::size_t bytes = 0;
  const std::lock_guard lock(mutex_);
  while (!control_.empty() && batch.size() < batch_messages) {
    bytes += control_.front().size_bytes;
    if (!batch.empty() && bytes > batch_bytes) break;
    batch.push_back(std::move(control_.front()));
    control_.pop_front();
  }
  control_busy_ = !batch.empty();
  return batch;
}

std::optional<Message> Outbox::take_bulk() {
  const std::lock_guard lock(mutex_);
  bulk_busy_ = !bulk_.empty();
  if (!bulk_busy_) return {};
  std::optional<Message> message(std::move(bulk_.front().first));
  waiting_bytes_ -= bulk_.front().second;
  bulk_.pop_front();
  return message;
}

bool Outbox::idle() const {
  const std::lock_guard lock(mutex_);
  return !control_busy_ && !bulk_busy_;
}

void Outbox::close() {
  const std::lock_guard lock(mutex_);
  control_.clear();
  bulk_.clear();
  waiting_bytes_ = 0;
  closed_ = true;
}

std::uint64_t Outbox::bulk_messages() const {
  const std::lock_guard lock(mutex_);
  return bulk_messages_;
}

std::size_t Outbox::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_;
}

}  // namespace actorflow
