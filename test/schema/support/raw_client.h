// A peer that speaks Cap'n Proto to a port but need not keep to the rules.
#pragma once

#include <capnp/ez-rpc.h>

#include <string>

#include "schema/worker.capnp.h"

namespace actorflow::test {

struct RawClient {
  explicit RawClient(const std::string& address)
      : rpc(address.c_str()), task(rpc.getMain<wire::Task>()) {}

  kj::WaitScope& wait_scope() { return rpc.getWaitScope(); }

  // As /job:worker/task:7, to a /job:ps/task:0.
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

  // Waits for the end of calls that may well fail: the rule that they broke closes the connection.
  void wait_for(kj::Promise<void> calls) {
    calls.catch_([](kj::Exception&&) {}).wait(wait_scope());
  }

  capnp::EzRpcClient rpc;
  wire::Task::Client task;
};

}  // namespace actorflow::test
