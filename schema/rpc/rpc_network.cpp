#include "schema/rpc/rpc_network.h"

#include "dataflow/values/bounded_wait.h"
#include "schema/address.h"
#include "schema/file_descriptor.h"
#include "schema/rpc/peer_link.h"
#include "schema/rpc/port/peer_server.h"

namespace actorflow {
namespace {

class RpcLink final : public Link {
 public:
  RpcLink(std::shared_ptr<RpcCore> core, std::shared_ptr<PeerLink> link)
      : core_(std::move(core)), link_(std::move(link)) {}
  ~RpcLink() override {
    core_->lingering.begin();
    core_->loop.run([this] { link_->close([&lingering = core_->lingering] { lingering.end(); }); });
  }

  void send(Message message) override { link_->send(std::move(message)); }
  std::size_t waiting_bytes() const override { return link_->waiting_bytes(); }
  TensorPath tensor_path() const override { return link_->tensor_path(); }

 private:
  const std::shared_ptr<RpcCore> core_;
  const std::shared_ptr<PeerLink> link_;
};

class RpcListener final : public Listener {
 public:
  RpcListener(std::shared_ptr<RpcCore> core, std::string address, std::shared_ptr<PeerServer> server)
      : core_(std::move(core)), address_(std::move(address)), server_(std::move(server)) {}
  ~RpcListener() override {
    core_->loop.run([this] { server_->close(); });
    // An empty task: work that close() left for later is done before it, so that the port is free.
    core_->loop.run([] {});
  }

  const std::string& address() const override { return address_; }

 private:
  const std::shared_ptr<RpcCore> core_;
  const std::string address_;
  const std::shared_ptr<PeerServer> server_;
};

class RpcNetwork final : public Network {
 public:
  RpcNetwork(const OpRegistry& ops, Allocator& allocator, RpcOptions options)
      : core_(std::make_shared<RpcCore>(ops, allocator, std::move(options))) {}

  std::unique_ptr<Listener> listen(const std::string& address, const TaskIdentity& self,
                                   Inbox inbox) override {
    core_->keys.context(self.name);  // throws now rather than at the first connection
    const Reach reach =
        core_->keys.empty() && !core_->options.insecure ? Reach::loopback_only : Reach::everyone;
    const ListenSocket socket = listen_on(Address::parse(address), reach);
    if (!socket.loopback && core_->keys.empty())
      core_->options.on_warning("INSECURE: whoever reaches " + socket.address.to_string() +
                                " can read and change everything; there are no credentials");
    auto server = std::make_shared<PeerServer>(*core_, self, std::move(inbox));
    core_->loop.run([&] {
      server->start(core_->loop.sockets().wrapListenSocketFd(
          socket.fd, kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
                         kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC |
                         kj::LowLevelAsyncIoProvider::ALREADY_NONBLOCK));
    });
    return std::make_unique<RpcListener>(core_, socket.address.to_string(), std::move(server));
  }

  std::unique_ptr<Link> connect(const std::string& address, const TaskIdentity& self,
                                const TaskName& peer, LinkEvents events) override {
    auto link = std::make_shared<PeerLink>(*core_, address, self, peer, std::move(events));
    core_->loop.post([link] { link->start(); });
    return std::make_unique<RpcLink>(core_, std::move(link));
  }

  Allocator& allocator() override { return core_->arena ? *core_->arena : core_->allocator; }

 private:
  const std::shared_ptr<RpcCore> core_;
};

}  // namespace

std::unique_ptr<Network> make_rpc_network(const OpRegistry& ops, Allocator& allocator,
                                          RpcOptions options) {
  raise_descriptor_limit();
  options.full_window_timeout_ms = bounded_wait(options.full_window_timeout_ms);
  return std::make_unique<RpcNetwork>(ops, allocator, std::move(options));
}

}  // namespace actorflow
