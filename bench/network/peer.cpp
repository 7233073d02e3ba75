#include "bench/network/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <caf/all.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "actors/core/messages.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/runtime/threaded_runtime.h"
#include "bench/network/raw_socket.h"
#include "bench/on_core.h"
#include "schema/link.h"

namespace actorflow::bench {
namespace {

struct EchoState {
  std::unique_ptr<Link> link;
};

caf::behavior echo_actor(caf::stateful_actor<EchoState, LightActor>* self, Network* network,
                         const std::string& parent) {
  self->state.link = network->connect(parent, {{"there", 0}, 1}, {"here", 0},
                                      {[](const TaskIdentity&) {}, [](const Status&) {}});
  return {
      [=](TensorDelivery& delivery) {
        if (delivery.channel == echo)
          self->state.link->send(std::move(delivery));
        else if (delivery.channel == acknowledge)
          self->state.link->send(DeregisterGraph{delivery.step});
        else if (delivery.channel == slow)
          std::this_thread::sleep_for(std::chrono::microseconds(delivery.step));
      },
      [=](DeregisterGraph message) { self->state.link->send(message); },
  };
}

// Only the messages that the benchmarks send.
void pass_on(const caf::actor& actor, Message message) {
  if (auto* delivery = std::get_if<TensorDelivery>(&message))
    caf::anon_send(actor, std::move(*delivery));
  if (auto* control = std::get_if<DeregisterGraph>(&message)) caf::anon_send(actor, *control);
}

void answer(RawStream stream) {
  RawPattern pattern{};
  if (!stream.read(std::as_writable_bytes(std::span(&pattern, 1)))) return;
  std::vector<std::byte> message(pattern.message_bytes), reply(pattern.reply_bytes);
  while (stream.read(message)) stream.write(reply);
}

// With TLS if there are credentials.
void answer_each(RawListener& listener, const std::string& credentials = {}) {
  while (true) {
    try {
      RawStream stream = listener.accept();
      if (!credentials.empty()) stream.answer_tls(credentials, TaskName{"there", 0});
      answer(std::move(stream));
    } catch (const Error& error) {
      std::cerr << "peer: " << error.what() << "\n";
    }
  }
}

std::string local_name_of(pid_t peer) { return "actorflow_bench-" + std::to_string(peer); }

struct Pipe {
  int read = -1, write = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(Code::unavailable, "there are no pipes left");
    read = ends[0];
    write = ends[1];
  }
};

pid_t spawn_peer(std::string address, const PeerOptions& options, int standard_input,
                 int standard_output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, standard_input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, standard_output, STDOUT_FILENO);
  std::string program = "actorflow_bench", option = "--peer";
  std::string spin = "--peer_spin_us=" + std::to_string(options.spin_us);
  std::string credentials = "--peer_credentials=" + options.credentials;
  std::array<char*, 6> arguments{program.data(), option.data(), address.data(), spin.data()};
  if (!options.credentials.empty()) arguments[4] = credentials.data();
  pid_t id = -1;
  const int error = posix_spawn(&id, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(Code::unavailable, "the peer process does not start");
  return id;
}

}  // namespace

PeerProcess::PeerProcess(const std::string& address, const PeerOptions& options) {
  std::optional<OnCore> core;
  if (options.core >= 0) core.emplace(options.core);
  const Pipe input, output;
  id_ = spawn_peer(address, options, input.read, output.write);
  close(input.read);
  close(output.write);
  to_peer_ = input.write;
  from_peer_ = output.read;
  read_addresses();
}

PeerProcess::~PeerProcess() {
  close(to_peer_);
  close(from_peer_);
  waitpid(id_, nullptr, 0);
}

std::string PeerProcess::raw_local_name() const { return local_name_of(id_); }

// One line, written at once.
void PeerProcess::read_addresses() {
  std::array<char, 256> line{};
  pollfd ready{.fd = from_peer_, .events = POLLIN, .revents = 0};
  const bool printed =
      poll(&ready, 1, 60'000) == 1 && read(from_peer_, line.data(), line.size() - 1) > 0;
  std::istringstream(line.data()) >> link_address_ >> raw_port_ >> raw_tls_port_;
  if (printed && raw_port_ != 0) return;
  throw Error(Code::unavailable, "the peer process has not said where it listens");
}

void run_peer(const std::string& address_of_parent, const PeerOptions& options) {
  ThreadedRuntime runtime(
      RuntimeOptions{.credentials = options.credentials, .spin_us = options.spin_us});
  const auto actor = runtime.system().spawn(echo_actor, &runtime.rpc_network(), address_of_parent);
  const auto listener = runtime.rpc_network().listen(
      "127.0.0.1:0", {{"there", 0}, 1},
      {[actor](const TaskIdentity&, Message message) { pass_on(actor, std::move(message)); },
       [](const TaskIdentity&) {},
       {}});
  RawListener raw;
  std::thread([&raw] { answer_each(raw); }).detach();
  RawListener raw_tls;
  if (!options.credentials.empty())
    std::thread([&] { answer_each(raw_tls, options.credentials); }).detach();
  RawListener raw_local(local_name_of(getpid()));
  std::thread([&raw_local] { answer_each(raw_local); }).detach();
  std::cout << listener->address() << " " << raw.port() << " "
            << (options.credentials.empty() ? 0 : raw_tls.port()) << std::endl;
  while (std::getchar() != EOF) {
  }
  std::_Exit(0);  // whatever the threads are waiting for
}

}  // namespace actorflow::bench
