// Tensors and messages between two processes over TCP, actor to actor, against raw sockets that move as
// many bytes in the same pattern, or against a time that a step can afford.
#include <caf/all.hpp>
#include <chrono>
#include <future>
#include <memory>

#include "actors/messages.h"
#include "actors/runtime.h"
#include "bench/harness.h"
#include "bench/peer.h"
#include "bench/raw_socket.h"
#include "kernels/device.h"

namespace actorflow::bench {
namespace {

using Clock = std::chrono::steady_clock;

// What the actor on this side says and does with an answer. It is over when `reply` returns true, which
// leaves no answer open.
struct Conversation {
  std::function<void(Link&)> begin;
  std::function<bool(Link&, const Message&)> reply;
};
struct Talk {
  Link* link = nullptr;
  const Conversation* conversation = nullptr;
  std::shared_ptr<std::promise<void>> over;
};
struct Lost {
  Status reason;
};

}  // namespace
}  // namespace actorflow::bench

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::bench::Talk)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::bench::Lost)

namespace actorflow::bench {
namespace {

caf::behavior talker(caf::stateful_actor<Talk>* self) {
  return {
      [=](const Talk& talk) {
        self->state = talk;
        talk.conversation->begin(*talk.link);
      },
      [=](const Message& message) {
        const Talk& talk = self->state;
        if (talk.conversation->reply(*talk.link, message))
          std::exchange(self->state.over, {})->set_value();
      },
      [=](const Lost& lost) {
        if (self->state.over)
          self->state.over->set_exception(std::make_exception_ptr(Error(lost.reason)));
        self->quit();
      },
  };
}

// Two processes that are linked both ways.
class Pair {
 public:
  Pair() {
    const auto actor = actor_;
    listener_ = runtime_.rpc_network().listen(
        "127.0.0.1:0", {{"here", 0}, 1},
        {[actor](const TaskIdentity&, Message message) { caf::anon_send(actor, std::move(message)); },
         [](const TaskIdentity&) {},
         {}});
    peer_ = std::make_unique<PeerProcess>(listener_->address());
    link_ = runtime_.rpc_network().connect(
        peer_->link_address(), {{"here", 0}, 1}, {"there", 0},
        {[](const TaskIdentity&) {},
         [actor](const Status& reason) { caf::anon_send(actor, Lost{reason}); }});
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() { end_actor(); }

  // Throws deadline_exceeded if it takes longer than a minute; this pair can then say nothing more.
  void converse(const Conversation& conversation) {
    const auto over = std::make_shared<std::promise<void>>();
    auto done = over->get_future();
    caf::anon_send(actor_, Talk{link_.get(), &conversation, over});
    if (done.wait_for(std::chrono::minutes(1)) == std::future_status::timeout) {
      end_actor();
      throw Error(Code::deadline_exceeded, "the peer process has not answered for a minute");
    }
    done.get();
  }
  std::uint16_t raw_port() const { return peer_->raw_port(); }

 private:
  void end_actor() {
    caf::anon_send_exit(actor_, caf::exit_reason::kill);
    caf::scoped_actor { runtime_.system() } -> wait_for(actor_);
  }

  Runtime runtime_;
  caf::actor actor_ = runtime_.system().spawn(talker);
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<PeerProcess> peer_;
  std::unique_ptr<Link> link_;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds of each of `count` messages, from sending it until its answer is here.
std::vector<double> round_trips(Pair& pair, const Message& message, std::size_t count) {
  std::vector<double> seconds;
  Clock::time_point sent;
  const auto send = [&](Link& link) {
    sent = Clock::now();
    link.send(message);
  };
  pair.converse({send, [&](Link& link, const Message&) {
                   seconds.push_back(seconds_since(sent));
                   if (seconds.size() == count) return true;
                   send(link);
                   return false;
                 }});
  return seconds;
}

std::vector<double> raw_round_trips(const Pair& pair, const RawPattern& pattern, std::size_t count) {
  RawStream stream = RawStream::connect(pair.raw_port());
  stream.write(std::as_bytes(std::span(&pattern, 1)));
  const std::vector<std::byte> message(pattern.message_bytes);
  std::vector<std::byte> reply(pattern.reply_bytes);
  std::vector<double> seconds;
  while (seconds.size() < count)
    seconds.push_back(seconds_of([&] {
      stream.write(message);
      if (!stream.read(reply)) throw Error(Code::unavailable, "the peer process has closed its socket");
    }));
  return seconds;
}

constexpr std::size_t small_bytes = 64;

Tensor bytes(std::size_t size) {
  Tensor tensor =
      Tensor::allocate(DType::uint8, {static_cast<std::int64_t>(size)}, cpu_device().allocator());
  std::ranges::fill(tensor.mutable_values<std::uint8_t>(), std::uint8_t{1});
  return tensor;
}

Measurement small_round_trip(bool quick) {
  Pair pair;
  const std::size_t count = quick ? 50 : 5000;
  const Message message = TensorDelivery{0, echo, bytes(small_bytes)};
  return in_turn(
      5, [&] { return median(round_trips(pair, message, count)) * 1e6; },
      [&] {
        return median(raw_round_trips(pair, {small_bytes, small_bytes}, count)) * 1e6;
      });
}

// Gigabytes per second one way, each tensor acknowledged by a small message.
Measurement bulk(std::size_t size, std::size_t count) {
  Pair pair;
  const Message message = TensorDelivery{0, acknowledge, bytes(size)};
  const auto rate = [size](const std::vector<double>& seconds) {
    return static_cast<double>(size) / median(seconds) / 1e9;
  };
  return in_turn(
      5, [&] { return rate(round_trips(pair, message, count)); },
      [&] {
        return rate(raw_round_trips(pair, {size, small_bytes}, count));
      });
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;

Measurement bulk_1_mib(bool quick) { return bulk(mebibyte, quick ? 3 : 300); }
Measurement bulk_16_mib(bool quick) { return bulk((quick ? 2 : 16) * mebibyte, quick ? 3 : 50); }
Measurement bulk_100_mib(bool quick) { return bulk((quick ? 3 : 100) * mebibyte, quick ? 3 : 10); }

// Million small tensors per second, sent without waiting; the last one is acknowledged.
double pipelined(Pair& pair, std::uint64_t count) {
  const Tensor tensor = bytes(small_bytes);
  const auto send_all = [&](Link& link) {
    for (std::uint64_t i = 1; i < count; ++i) link.send(TensorDelivery{i, silent, tensor});
    link.send(TensorDelivery{count, acknowledge, tensor});
  };
  const double seconds = seconds_of([&] {
    pair.converse({send_all, [](Link&, const Message&) { return true; }});
  });
  return static_cast<double>(count) / seconds / 1e6;
}

Measurement pipelined_against_round_trips(bool quick) {
  Pair pair;
  const Message message = TensorDelivery{0, acknowledge, bytes(small_bytes)};
  return in_turn(
      5, [&] { return pipelined(pair, quick ? 1000 : 500'000); },
      [&] { return 1e-6 / median(round_trips(pair, message, quick ? 50 : 5000)); });
}

Measurement pipelined_against_target(bool quick) {
  Pair pair;
  return in_turn(
      5, [&] { return pipelined(pair, quick ? 1000 : 500'000); }, [] { return 1.5; });
}

// Milliseconds below which 99 % of the round trips of a control message stay, on the link on which two
// tensors are always on their way.
double control_while_streaming(Pair& pair, const Tensor& tensor, std::size_t count) {
  constexpr std::uint64_t control = 1, stream = 2;
  std::vector<double> seconds;
  Clock::time_point sent;
  int tensors_open = 0;
  const auto send_control = [&](Link& link) {
    sent = Clock::now();
    link.send(DeregisterGraph{control});
  };
  const auto send_tensor = [&](Link& link) {
    ++tensors_open;
    link.send(TensorDelivery{stream, acknowledge, tensor});
  };
  const auto on_control = [&](Link& link) {
    seconds.push_back(seconds_since(sent));
    if (seconds.size() < count) send_control(link);
  };
  const auto on_tensor = [&](Link& link) {
    --tensors_open;
    if (seconds.size() < count) send_tensor(link);
  };
  pair.converse({[&](Link& link) {
                   send_tensor(link);
                   send_tensor(link);
                   send_control(link);
                 },
                 [&](Link& link, const Message& message) {
                   if (std::get<DeregisterGraph>(message).handle == control)
                     on_control(link);
                   else
                     on_tensor(link);
                   return seconds.size() == count && tensors_open == 0;
                 }});
  return quantile(seconds, 0.99) * 1e3;
}

Measurement control_against_limit(bool quick) {
  Pair pair;
  const Tensor tensor = bytes((quick ? 2 : 16) * mebibyte);
  return in_turn(
      3, [&] { return control_while_streaming(pair, tensor, quick ? 10 : 500); }, [] { return 2.0; });
}

}  // namespace

std::vector<Benchmark> transport_benchmarks() {
  const std::string raw = "raw TCP, two processes";
  return {
      {"transport/round_trip_64_bytes_p50", "us", raw, at_most(1.4), small_round_trip},
      {"transport/1_MiB", "GB/s", raw, at_least(0.95), bulk_1_mib},
      {"transport/16_MiB", "GB/s", raw, at_least(0.95), bulk_16_mib},
      {"transport/100_MiB", "GB/s", raw, at_least(0.95), bulk_100_mib},
      {"transport/pipelined_vs_round_trips", "M/s", "a round trip for each", at_least(20),
       pipelined_against_round_trips},
      {"transport/pipelined", "M/s", "1.5 M/s", at_least(1), pipelined_against_target},
      {"transport/control_p99_beside_16_MiB_tensors", "ms", "2 ms", at_most(1), control_against_limit},
  };
}

}  // namespace actorflow::bench
