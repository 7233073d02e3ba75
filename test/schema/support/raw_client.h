// A peer that speaks Cap'n Proto to a port but need not keep to the rules.
#pragma once

#include <capnp/rpc-twoparty.h>
#include <capnp/serialize.h>
#include <kj/async-io.h>

#include <functional>
#include <string>

#include "schema/worker.capnp.h"

namespace actorflow::test {

struct RawClient {
  explicit RawClient(const std::string& address)
      : io(kj::setupAsyncIo()),
        stream(io.provider->getNetwork()
                   .parseAddress(address.c_str())
                   .then([](kj::Own<kj::NetworkAddress> found) { return found->connect(); })
                   .wait(io.waitScope)),
        rpc(*stream),
        task(rpc.bootstrap().castAs<wire::Task>()) {}

  kj::WaitScope& wait_scope() { return io.waitScope; }

  // Connects as /job:worker/task:7 to a /job:ps/task:0.
  capnp::Response<wire::Task::ConnectResults> connect(std::uint32_t version = wire::PROTOCOL_VERSION) {
    auto request = task.connectRequest();
    request.setProtocolVersion(version);
    request.initSelf().initName().setJob("worker");
    request.getSelf().getName().setIndex(7);
    request.initExpected().setJob("ps");
    return request.send().wait(wait_scope());
  }
  wire::Master::Client master() {
    auto request = task.masterRequest();
    request.setProtocolVersion(wire::PROTOCOL_VERSION);
    return request.send().wait(wait_scope()).getMaster();
  }

  // Writes `count` messages, unless the connection has been closed.
  void deliver(unsigned count,
               const std::function<void(capnp::List<wire::Envelope>::Builder)>& write_messages) {
    capnp::MallocMessageBuilder message;
    write_messages(message.initRoot<wire::Delivery>().initEnvelopes(count));
    auto words = capnp::messageToFlatArray(message);
    auto bytes = words.asBytes();
    bytes[3] |= 0x80;  // the highest bit of the first word
    wait_for(kj::evalNow([&] { return stream->write(bytes.begin(), bytes.size()); }));
  }

  // Waits for the end of calls that may well fail: the rule that they broke closes the connection.
  void wait_for(kj::Promise<void> calls) {
    calls.catch_([](kj::Exception&&) {}).wait(wait_scope());
  }

  kj::AsyncIoContext io;
  kj::Own<kj::AsyncIoStream> stream;
  capnp::TwoPartyClient rpc;
  wire::Task::Client task;
};

}  // namespace actorflow::test
