#include "schema/rpc/bulk_sender.h"

#include <capnp/serialize.h>
#include <kj/debug.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "schema/codec/message_codec.h"
#include "schema/codec/text.h"
#include "schema/io/leases.h"

namespace actorflow {
namespace {

// Smaller tensors are copied into the frame.
constexpr TensorLimits frame_limits{std::size_t{4} << 20, std::size_t{8} << 10, true};

constexpr std::size_t max_named_steps = 3;

StepId step_of(const Message& message) {
  if (const auto* delivery = std::get_if<TensorDelivery>(&message)) return delivery->step;
  if (const auto* run = std::get_if<RunGraph>(&message)) return run->step;
  if (const auto* done = std::get_if<StepDone>(&message)) return done->step;
  return 0;
}

kj::ArrayPtr<const kj::byte> bytes_at(const BufferRef& buffer, std::size_t offset, std::size_t size) {
  return {static_cast<const kj::byte*>(buffer->data()) + offset, size};
}

}  // namespace

// A message on its way.
struct BulkSender::Frame {
  capnp::MallocMessageBuilder builder;
  kj::Array<capnp::word> header;
  std::vector<Transfer> payloads;
  std::vector<BufferRef> blocks;  // of each payload: in shared memory, or empty if it goes inline
  std::size_t bytes = 0;          // what the payloads take of the window
  StepId step = 0;                // the step of the message
  // While writing: what comes next, and what is being written.
  bool header_written = false;
  std::size_t index = 0;
  std::size_t offset = 0;
  std::vector<kj::ArrayPtr<const kj::byte>> pieces;

  void next_pieces();
};

// Prepares the next bulk_part_bytes or so to write: the header, then the inline payloads.
void BulkSender::Frame::next_pieces() {
  pieces.clear();
  if (!std::exchange(header_written, true)) pieces.push_back(header.asBytes());
  for (std::size_t room = bulk_part_bytes; room > 0 && index < payloads.size();) {
    const Transfer& payload = payloads[index];
    const std::size_t size = blocks[index] ? 0 : std::min(room, payload.size_bytes - offset);
    if (size > 0) pieces.push_back(bytes_at(payload.bytes, offset, size));
    room -= size;
    offset += size;
    if (!blocks[index] && offset < payload.size_bytes) break;
    ++index;
    offset = 0;
  }
}

void BulkSender::start(wire::BulkLane::Reader terms, RpcEnd& rpc) {
  const auto token = terms.getToken();
  KJ_REQUIRE(token.size() == sizeof(BulkToken), "the peer's way for large messages has no token");
  std::memcpy(address_.token.data(), token.begin(), token.size());
  address_.local_socket = to_string(terms.getLocalSocket());
  address_.arena = core_.arena;
  address_.tcp = rpc.peer_address->clone();
  address_.security = rpc.security;
  window_ = Window(terms.getWindowBytes(), terms.getMaxBytes(),
                   core_.options.window_idle_ms * kj::MILLISECONDS, core_.loop.timer().now());
  started_ = true;
  pump();
}

void BulkSender::pump() {
  if (!started_ || stopped_ || std::exchange(draining_, true)) return;
  sending_ =
      kj::evalNow([this] { return pump_all(); }).eagerlyEvaluate([this](kj::Exception&& exception) {
        events_.failed(status_of(exception));
      });
}

kj::Promise<void> BulkSender::pump_all() {
  auto message = outbox_.take_bulk();
  if (!message) {
    draining_ = false;
    events_.idle();
    return kj::READY_NOW;
  }
  auto ready = stream_.get() == nullptr ? open() : kj::Promise<void>(kj::READY_NOW);
  return ready.then([this, message = std::move(*message)] { return send(message); }).then([this] {
    return pump_all();
  });
}

kj::Promise<void> BulkSender::open() {
  return answer_within(core_.options.handshake_timeout_ms, core_.loop.timer(),
                       open_bulk(core_.loop, kj::mv(address_)))
      .then([this](BulkConnection connection) {
        stream_ = kj::mv(connection.stream);
        path_ = connection.shares_memory ? TensorPath::shared_memory : TensorPath::stream;
        reading_ = kj::evalNow([this] {
                     return read_returned();
                   }).eagerlyEvaluate([this](kj::Exception&&) { all_returned(); });
      });
}

kj::Promise<void> BulkSender::send(const Message& message) {
  auto frame = kj::heap<Frame>();
  auto& it = *frame;
  try {
    encode(message, it);
  } catch (...) {
    return send_in_place_of(it, current_writing_status());
  }
  stalled_since_ = next_report_ = core_.loop.timer().now();
  window_.shrink(leased_bytes_, stalled_since_);
  return wait_for_window(it.bytes).then([this, frame = kj::mv(frame)](Status status) mutable {
    return status.ok() ? transmit(kj::mv(frame)) : send_in_place_of(*frame, std::move(status));
  });
}

// Sends the replacement at the message's place in the order of the plane.
kj::Promise<void> BulkSender::send_in_place_of(Frame& frame, Status reason) {
  reason.message = "cannot send to " + receiver_ + ": " + reason.message;
  core_.options.on_warning(reason.message);
  const auto refused = frame.builder.getRoot<wire::BulkFrame>().asReader();
  auto message = in_place_of(refused.getEnvelope(), reason);
  if (!message) {
    events_.failed(std::move(reason));
    return kj::NEVER_DONE;
  }
  auto other = kj::heap<Frame>();
  encode(*message, *other);
  return transmit(kj::mv(other));
}

kj::Promise<void> BulkSender::transmit(kj::Own<Frame> frame) {
  auto& it = *frame;
  place(it);
  return copy(it, 0, 0).then([this, &it] { return write(it); }).attach(kj::mv(frame));
}

void BulkSender::encode(const Message& message, Frame& frame) {
  frame.step = step_of(message);
  auto root = frame.builder.initRoot<wire::BulkFrame>();
  BufferKeeper nothing;  // what the limits leave inline is copied
  TensorWriter tensors(frame.builder.getOrphanage(), nothing, next_number_, frame_limits);
  write_message(message, tensors, root.initEnvelope());
  frame.payloads = tensors.take_transfers();
  root.initPayloads(static_cast<unsigned>(frame.payloads.size()));
  for (const auto& payload : frame.payloads) frame.bytes += payload.size_bytes + payload_overhead_bytes;
  throw_if_error(check_size({frame.builder.sizeInWords(), 0}));
  if (frame.bytes > window_.most_bytes())
    throw Error(Code::resource_exhausted, "a message with tensors of " + std::to_string(frame.bytes) +
                                              " bytes is over its limit of " +
                                              std::to_string(window_.most_bytes()) +
                                              " bytes (ServerOptions::max_incoming_bytes)");
}

// Writes into the frame where each payload will be, and counts its bytes.
void BulkSender::place(Frame& frame) {
  auto to = frame.builder.getRoot<wire::BulkFrame>().getPayloads();
  for (unsigned i = 0; i < to.size(); ++i) {
    const Transfer& payload = frame.payloads[i];
    BufferRef block;
    if (path_ == TensorPath::shared_memory)
      block = core_.arena->holds(payload.bytes) ? payload.bytes
                                                : core_.arena->try_allocate(payload.size_bytes);
    to[i].setNumber(payload.number);
    to[i].setSizeBytes(payload.size_bytes);
    if (block) to[i].setPlace(core_.arena->place_of(block));
    frame.blocks.push_back(block);
    const std::size_t size = payload.size_bytes + payload_overhead_bytes;
    leases_.emplace(payload.number, Lease{size, std::move(block), frame.step});
    leased_bytes_ += size;
  }
  window_.held(leased_bytes_, core_.loop.timer().now());
  frame.header = capnp::messageToFlatArray(frame.builder);
}

// The window grows if nothing comes back for a while. At its largest size the waiting message is
// reported, and given up in the end.
kj::Promise<Status> BulkSender::wait_for_window(std::size_t bytes) {
  if (window_.fits(leased_bytes_, bytes)) return Status{};
  const bool may_grow = window_.may_grow();
  if (!may_grow)
    if (Status status = report_full_window(bytes); !status.ok()) return status;
  auto opened = kj::newPromiseAndFulfiller<void>();
  window_opened_ = kj::mv(opened.fulfiller);
  const auto patience_ms = may_grow ? core_.options.window_patience_ms
                                    : std::min(look_interval_ms, core_.options.full_window_timeout_ms);
  auto patience = core_.loop.timer().afterDelay(patience_ms * kj::MILLISECONDS).then([this] {
    window_.grow(core_.loop.timer().now());
  });
  return opened.promise.exclusiveJoin(kj::mv(patience)).then([this, bytes] {
    return wait_for_window(bytes);
  });
}

// Not ok when the message has waited for too long.
Status BulkSender::report_full_window(std::size_t bytes) {
  const auto now = core_.loop.timer().now();
  const auto limit = core_.options.full_window_timeout_ms * kj::MILLISECONDS;
  const auto waited_s = std::to_string((now - stalled_since_) / kj::SECONDS);
  const std::string why =
      std::to_string(bytes) + " bytes of tensors wait: it holds " + holders() + " and takes " +
      std::to_string(window_.most_bytes()) +
      " at a time (ServerOptions::max_incoming_bytes), and has given none back for " + waited_s + " s";
  if (now - stalled_since_ >= limit) return {Code::resource_exhausted, why};
  if (now >= next_report_ && now > stalled_since_) {
    next_report_ = now + report_interval;
    core_.options.on_warning("cannot send to " + receiver_ + " yet: " + why);
  }
  return {};
}

// "9000 bytes of 3 tensors (6000 of step 8, 3000 of step 9)": the steps with most come first.
std::string BulkSender::holders() const {
  std::map<StepId, std::size_t> by_step;
  std::size_t count = 0;
  for (const auto& [number, lease] : leases_) {
    if (lease.size_bytes == 0) continue;
    by_step[lease.step] += lease.size_bytes;
    ++count;
  }
  std::vector<std::pair<std::size_t, StepId>> sorted;
  for (const auto& [step, bytes] : by_step) sorted.emplace_back(bytes, step);
  std::ranges::sort(sorted, std::greater());
  std::string text = std::to_string(leased_bytes_) + " bytes of " + std::to_string(count) + " tensors (";
  for (std::size_t i = 0; i < std::min(sorted.size(), max_named_steps); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(sorted[i].first) + " of " +
            (sorted[i].second == 0 ? "no step" : "step " + std::to_string(sorted[i].second));
  if (sorted.size() > max_named_steps)
    text += " and " + std::to_string(sorted.size() - max_named_steps) + " more steps";
  return text + ")";
}

// Copies payloads into shared memory, in parts.
kj::Promise<void> BulkSender::copy(Frame& frame, std::size_t index, std::size_t offset) {
  for (; index < frame.payloads.size(); ++index) {
    const Transfer& payload = frame.payloads[index];
    const BufferRef& block = frame.blocks[index];
    if (!block || block.get() == payload.bytes.get()) continue;
    const std::size_t size = std::min(bulk_part_bytes, payload.size_bytes - offset);
    std::memcpy(static_cast<std::byte*>(block->data()) + offset,
                bytes_at(payload.bytes, offset, size).begin(), size);
    offset += size;
    if (offset < payload.size_bytes)
      return after_poll(core_.loop).then([this, &frame, index, offset] {
        return copy(frame, index, offset);
      });
    offset = 0;
  }
  return kj::READY_NOW;
}

kj::Promise<void> BulkSender::write(Frame& frame) {
  frame.next_pieces();
  if (frame.pieces.empty()) return kj::READY_NOW;
  auto written = stream_->write(kj::arrayPtr(frame.pieces.data(), frame.pieces.size()));
  if (frame.index == frame.payloads.size()) return written;
  return written.then([this] { return after_poll(core_.loop); }).then([this, &frame] {
    return write(frame);
  });
}

kj::Promise<void> BulkSender::read_returned() {
  auto* to = reinterpret_cast<kj::byte*>(returned_.data());
  return stream_->tryRead(to, sizeof(std::uint64_t), sizeof returned_)
      .then([this, to](std::size_t size) {
        const std::size_t rest = size % sizeof(std::uint64_t);
        const std::size_t count = size / sizeof(std::uint64_t) + (rest > 0);
        kj::Promise<void> complete = kj::READY_NOW;
        if (rest > 0) complete = stream_->read(to + size, sizeof(std::uint64_t) - rest);
        return complete.then([this, count]() -> kj::Promise<void> {
          if (count == 0) {
            all_returned();
            return kj::READY_NOW;
          }
          for (std::size_t i = 0; i < count; ++i) take_back(returned_[i]);
          return read_returned();
        });
      });
}

void BulkSender::take_back(std::uint64_t number) {
  const auto found = leases_.find(number & ~lives_on);
  KJ_REQUIRE(found != leases_.end(), "the peer returns a tensor that it does not have", number);
  stalled_since_ = core_.loop.timer().now();
  window_.held(leased_bytes_, stalled_since_);
  leased_bytes_ -= std::exchange(found->second.size_bytes, 0);
  if ((number & lives_on) == 0) leases_.erase(found);
  if (window_opened_.get() != nullptr) window_opened_->fulfill();
  if (given_back_.get() != nullptr && leases_.empty()) given_back_->fulfill();
}

// Called when the receiver has gone.
void BulkSender::all_returned() {
  leases_.clear();
  leased_bytes_ = 0;
  if (given_back_.get() != nullptr) return given_back_->fulfill();
  events_.failed({Code::unavailable, "the peer has closed the way for large messages"});
}

void BulkSender::stop() {
  if (std::exchange(stopped_, true)) return;
  events_ = {};
  sending_ = nullptr;
  window_opened_ = nullptr;
  const bool reads_our_memory =
      std::ranges::any_of(leases_, [](const auto& entry) { return bool(entry.second.block); });
  if (!reads_our_memory) {
    reading_ = nullptr;
    stream_ = nullptr;
    leases_.clear();
    return;
  }
  stream_->shutdownWrite();
  auto given_back = kj::newPromiseAndFulfiller<void>();
  given_back_ = kj::mv(given_back.fulfiller);
  core_.loop.spawn(given_back.promise.attach(shared_from_this()));
}

}  // namespace actorflow
