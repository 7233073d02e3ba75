// A port of a task: whatever bytes a peer may write to it - handshake, messages, a client's requests.
#include "kernels/core/kernel.h"
#include "schema/rpc/port/peer_server.h"
#include "test/fuzz/support/wire_input.h"

using namespace actorflow;

namespace {

// Hands peers to the server.
class Door final : public kj::ConnectionReceiver {
 public:
  kj::Promise<kj::Own<kj::AsyncIoStream>> accept() override {
    auto next = kj::newPromiseAndFulfiller<kj::Own<kj::AsyncIoStream>>();
    waiting_ = kj::mv(next.fulfiller);
    return kj::mv(next.promise);
  }
  kj::Promise<kj::AuthenticatedStream> acceptAuthenticated() override { KJ_UNIMPLEMENTED("not used"); }
  kj::uint getPort() override { return 0; }

  void enter(kj::Own<kj::AsyncIoStream> peer) { waiting_->fulfill(kj::mv(peer)); }

 private:
  kj::Own<kj::PromiseFulfiller<kj::Own<kj::AsyncIoStream>>> waiting_;
};

RpcOptions options() {
  RpcOptions options;
  options.max_incoming_bytes = std::size_t{1} << 20;
  options.shared_memory_bytes = 0;
  return options;
}

// "/job:ps/task:0", whose master refuses everything.
struct Task {
  Task() {
    auto receiver = kj::heap<Door>();
    door = receiver.get();
    core.loop.run([&] { server->start(kj::mv(receiver)); });
  }

  RpcCore core{builtin_ops().registry(), heap(), options()};
  Door* door = nullptr;
  std::shared_ptr<PeerServer> server = std::make_shared<PeerServer>(
      core, TaskIdentity{{"ps", 0}, 1},
      Inbox{[](const TaskIdentity&, const Message&) {}, [](const TaskIdentity&) {},
            [](const MasterRequest&, const MasterReplyFn& reply) { reply({}); }});
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Task& task = *new Task;
  fuzz::Signal closed;
  task.core.loop.post([&] {
    task.door->enter(kj::heap<fuzz::Peer>(fuzz::input(data, size),
                                          fuzz::PeerEvents{.closed = [&] { closed.happened(); }}));
  });
  closed.wait();
  task.core.loop.run([] { fuzz::require(task.server->connections() == 0, "nobody stays"); });
  return 0;
}
