// Tensors and messages between two processes, actor to actor, against raw sockets that move as many
// bytes in the same pattern, against a copy in one thread, or against a time or a size that a step can
// afford.
#include <algorithm>
#include <caf/all.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <thread>

#include "actors/core/messages.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/runtime/threaded_runtime.h"
#include "bench/harness.h"
#include "bench/network/peer.h"
#include "bench/network/raw_socket.h"
#include "bench/on_core.h"
#include "kernels/core/kernel.h"
#include "kernels/devices/device.h"
#include "schema/rpc/rpc_network.h"
#include "schema/tls/keygen.h"

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

caf::behavior talker(caf::stateful_actor<Talk, LightActor>* self) {
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

enum class Reach { same_machine, tcp_only };

// Two processes that are linked both ways.
class Pair {
 public:
  // The networks of both spin alike.
  explicit Pair(Reach reach = Reach::same_machine, const PeerOptions& peer = {})
      : runtime_(runtime_options(reach, peer)) {
    const auto actor = actor_;
    listener_ = network().listen(
        "127.0.0.1:0", {{"here", 0}, 1},
        {[actor](const TaskIdentity&, Message message) { caf::anon_send(actor, std::move(message)); },
         [](const TaskIdentity&) {},
         {}});
    peer_ = std::make_unique<PeerProcess>(listener_->address(), peer);
    link_ = network().connect(peer_->link_address(), {{"here", 0}, 1}, {"there", 0},
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
  const PeerProcess& peer() const { return *peer_; }
  Network& network() { return runtime_.rpc_network(); }

 private:
  static RuntimeOptions runtime_options(Reach reach, const PeerOptions& peer) {
    return {.credentials = peer.credentials,
            .spin_us = peer.spin_us,
            .shared_memory = reach == Reach::same_machine};
  }
  void end_actor() {
    caf::anon_send_exit(actor_, caf::exit_reason::kill);
    caf::scoped_actor { runtime_.system() } -> wait_for(actor_);
  }

  ThreadedRuntime runtime_;
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

std::vector<double> raw_round_trips(RawStream stream, const RawPattern& pattern, std::size_t count) {
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

// The microseconds of a round trip. Each process has a core: where the system puts both on the same one,
// as it often does, no core has to be woken, and everything takes a fourth of the time.
Measurement small_round_trip(bool quick, std::int64_t spin_us) {
  const OnCore here(0);
  Pair pair(Reach::same_machine, {spin_us, 1});
  const std::size_t count = quick ? 50 : 5000;
  const Message message = TensorDelivery{0, echo, bytes(small_bytes)};
  return in_turn(
      5, [&] { return median(round_trips(pair, message, count)) * 1e6; },
      [&] {
        return median(raw_round_trips(RawStream::connect(pair.peer().raw_port()),
                                      {small_bytes, small_bytes}, count)) *
               1e6;
      });
}

Measurement round_trip_asleep(bool quick) { return small_round_trip(quick, 0); }
Measurement round_trip_spinning(bool quick) { return small_round_trip(quick, 50); }

constexpr std::size_t mebibyte = std::size_t{1} << 20;

double gigabytes_per_second(std::size_t size, const std::vector<double>& seconds) {
  return static_cast<double>(size) / median(seconds) / 1e9;
}

// One way over TCP, each tensor acknowledged by a small message. Each process has a core.
Measurement bulk(std::size_t size, std::size_t count) {
  const OnCore here(0);
  Pair pair(Reach::tcp_only, {.core = 1});
  const Message message = TensorDelivery{0, acknowledge, bytes(size)};
  return in_turn(
      5, [&] { return gigabytes_per_second(size, round_trips(pair, message, count)); },
      [&] {
        return gigabytes_per_second(size, raw_round_trips(RawStream::connect(pair.peer().raw_port()),
                                                          {size, small_bytes}, count));
      });
}

Measurement bulk_1_mib(bool quick) { return bulk(mebibyte, quick ? 3 : 300); }
Measurement bulk_16_mib(bool quick) { return bulk((quick ? 2 : 16) * mebibyte, quick ? 3 : 50); }
Measurement bulk_100_mib(bool quick) { return bulk((quick ? 3 : 100) * mebibyte, quick ? 3 : 10); }

// Credentials of both tasks, as long as the object.
class Keys {
 public:
  Keys() {
    std::string name = (std::filesystem::temp_directory_path() / "actorflow-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error(Code::unavailable, "cannot make " + name);
    options_.folder = name;
    options_.tasks = {{"here", 0}, {"there", 0}};
    options_.now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
    generate_keys(options_);
  }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  ~Keys() {
    std::error_code ignored;
    std::filesystem::remove_all(options_.folder, ignored);
  }
  const std::string& folder() const { return options_.folder; }

 private:
  KeygenOptions options_;
};

RawStream raw_tls(const Pair& pair) {
  RawStream stream = RawStream::connect(pair.peer().raw_tls_port());
  stream.call_tls();
  return stream;
}

// The same with TLS, against plain OpenSSL on blocking sockets, or against the link without it.
Measurement bulk_tls(std::size_t size, std::size_t count, bool against_plain_link) {
  const Keys keys;
  Pair pair(Reach::tcp_only, {.credentials = keys.folder()}), plain(Reach::tcp_only);
  const Message message = TensorDelivery{0, acknowledge, bytes(size)};
  const auto raw = [&] { return raw_round_trips(raw_tls(pair), {size, small_bytes}, count); };
  return in_turn(
      5, [&] { return gigabytes_per_second(size, round_trips(pair, message, count)); },
      [&] {
        return gigabytes_per_second(size,
                                    against_plain_link ? round_trips(plain, message, count) : raw());
      });
}

Measurement tls_16_mib(bool quick) {
  return bulk_tls((quick ? 2 : 16) * mebibyte, quick ? 3 : 50, false);
}
Measurement tls_beside_plain_16_mib(bool quick) {
  return bulk_tls((quick ? 2 : 16) * mebibyte, quick ? 3 : 50, true);
}

// Microseconds of a small message there and back, each process on a core of its own.
Measurement tls_round_trip(bool quick, bool against_plain_link) {
  const Keys keys;
  const OnCore here(0);
  Pair pair(Reach::same_machine, {.core = 1, .credentials = keys.folder()});
  Pair plain(Reach::same_machine, {.core = 1});
  const std::size_t count = quick ? 50 : 5000;
  const Message message = TensorDelivery{0, echo, bytes(small_bytes)};
  const auto raw = [&] { return raw_round_trips(raw_tls(pair), {small_bytes, small_bytes}, count); };
  return in_turn(
      5, [&] { return median(round_trips(pair, message, count)) * 1e6; },
      [&] { return median(against_plain_link ? round_trips(plain, message, count) : raw()) * 1e6; });
}

Measurement tls_round_trip_raw(bool quick) { return tls_round_trip(quick, false); }
Measurement tls_round_trip_plain(bool quick) { return tls_round_trip(quick, true); }

// The same in shared memory, into which the tensor is copied once.
Measurement shared(std::size_t size, std::size_t count) {
  Pair pair;
  const Tensor from = bytes(size);
  Tensor to = bytes(size);
  const Message message = TensorDelivery{0, acknowledge, from};
  const auto copy = [&] {
    return seconds_of([&] { std::memcpy(to.mutable_data(), from.data(), size); });
  };
  return in_turn(
      5, [&] { return gigabytes_per_second(size, round_trips(pair, message, count)); },
      [&] {
        std::vector<double> seconds(count);
        std::ranges::generate(seconds, copy);
        return gigabytes_per_second(size, seconds);
      });
}

Measurement shared_16_mib(bool quick) { return shared((quick ? 2 : 16) * mebibyte, quick ? 3 : 100); }
Measurement shared_100_mib(bool quick) { return shared((quick ? 3 : 100) * mebibyte, quick ? 3 : 20); }

// Microseconds of the round trip of a tensor that lies in shared memory, and of a few bytes through a
// Unix socket.
Measurement handed_over(std::size_t size, std::size_t count) {
  const OnCore here(0);
  Pair pair(Reach::same_machine, {.spin_us = 0, .core = 1});
  Tensor tensor =
      Tensor::zeros(DType::uint8, {static_cast<std::int64_t>(size)}, pair.network().allocator());
  const Message message = TensorDelivery{0, acknowledge, std::move(tensor)};
  return in_turn(
      5, [&] { return median(round_trips(pair, message, count)) * 1e6; },
      [&] {
        return median(raw_round_trips(RawStream::connect(pair.peer().raw_local_name()),
                                      {small_bytes, small_bytes}, count)) *
               1e6;
      });
}

Measurement handed_over_16_mib(bool quick) { return handed_over(16 * mebibyte, quick ? 50 : 2000); }
Measurement handed_over_100_mib(bool quick) { return handed_over(100 * mebibyte, quick ? 50 : 2000); }

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

Measurement control_against_limit(bool quick, Reach reach) {
  Pair pair(reach);
  const Tensor tensor = bytes((quick ? 2 : 16) * mebibyte);
  return in_turn(
      3, [&] { return control_while_streaming(pair, tensor, quick ? 10 : 500); }, [] { return 2.0; });
}

Measurement control_beside_shared(bool quick) {
  return control_against_limit(quick, Reach::same_machine);
}
Measurement control_beside_tcp(bool quick) { return control_against_limit(quick, Reach::tcp_only); }

// A figure of /proc/ID/status, in MiB.
double status_of(pid_t process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string word; file >> word;)
    if (word == name + ":") {
      double kibibytes = 0;
      file >> kibibytes;
      return kibibytes / 1024;
    }
  throw Error(Code::unavailable, "the peer process has no " + name);
}

// The most memory, in MiB, by which a receiver grows that takes twice as long for a tensor as its
// sender, and the window that it grants.
Measurement slow_receiver(bool quick) {
  constexpr std::uint64_t receiver_us = 8'000;
  constexpr auto sender_pause = std::chrono::microseconds(receiver_us / 2);
  Pair pair(Reach::tcp_only);
  const std::uint64_t count = quick ? 10 : 150;
  const Tensor tensor = bytes((quick ? 1 : 16) * mebibyte);
  const Message last = TensorDelivery{0, acknowledge, bytes(small_bytes)};
  round_trips(pair, last, 1);
  const double before = status_of(pair.peer().id(), "VmRSS");
  const auto send_all = [&](Link& link) {
    for (std::uint64_t i = 0; i < count; ++i) {
      link.send(TensorDelivery{receiver_us, slow, tensor});
      std::this_thread::sleep_for(sender_pause);
    }
    // Not small: it comes after the others.
    link.send(TensorDelivery{0, acknowledge, tensor});
  };
  pair.converse({send_all, [](Link&, const Message&) { return true; }});
  return {status_of(pair.peer().id(), "VmHWM") - before,
          static_cast<double>(RpcOptions().window_bytes) / mebibyte};
}

}  // namespace

std::vector<Benchmark> transport_benchmarks() {
  const std::string raw = "raw TCP, two processes";
  return {
      {"transport/round_trip_64_bytes_p50", "us", raw, at_most(1.4), round_trip_asleep},
      {"transport/round_trip_spinning_p50", "us", raw, at_most(0.5), round_trip_spinning},
      {"transport/1_MiB", "GB/s", raw, at_least(0.95), bulk_1_mib},
      {"transport/16_MiB", "GB/s", raw, at_least(0.95), bulk_16_mib},
      {"transport/100_MiB", "GB/s", raw, at_least(0.95), bulk_100_mib},
      {"transport/tls_16_MiB", "GB/s", "raw TLS, two processes", at_least(0.9), tls_16_mib},
      {"transport/tls_beside_plain_16_MiB", "GB/s", "the link without TLS", at_least(0.2),
       tls_beside_plain_16_mib},
      {"transport/tls_round_trip_64_bytes_p50", "us", "raw TLS, two processes", at_most(2),
       tls_round_trip_raw},
      {"transport/tls_round_trip_beside_plain", "us", "the link without TLS", at_most(2),
       tls_round_trip_plain},
      {"transport/pipelined_vs_round_trips", "M/s", "a round trip for each", at_least(20),
       pipelined_against_round_trips},
      {"transport/pipelined", "M/s", "1.5 M/s", at_least(1), pipelined_against_target},
      {"transport/same_machine_16_MiB", "GB/s", "memcpy, one thread", at_least(0.7), shared_16_mib},
      {"transport/same_machine_100_MiB", "GB/s", "memcpy, one thread", at_least(0.7), shared_100_mib},
      {"transport/hand_over_16_MiB", "us", "raw Unix socket, 64 bytes", at_most(2.5),
       handed_over_16_mib},
      {"transport/hand_over_100_MiB", "us", "raw Unix socket, 64 bytes", at_most(2.5),
       handed_over_100_mib},
      {"transport/control_p99_beside_16_MiB_tensors", "ms", "2 ms", at_most(1), control_beside_tcp},
      {"transport/control_p99_beside_shared_memory", "ms", "2 ms", at_most(1), control_beside_shared},
      {"transport/memory_of_a_slow_receiver", "MiB", "its credit window", at_most(1.2), slow_receiver},
  };
}

}  // namespace actorflow::bench
