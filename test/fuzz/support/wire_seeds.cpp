#include <capnp/rpc-twoparty.h>

#include "schema/codec/message_bytes.h"
#include "schema/codec/message_codec.h"
#include "schema/master.capnp.h"
#include "test/fuzz/support/capnp.h"
#include "test/fuzz/support/seeds.h"

namespace actorflow::fuzz {
namespace {

// Keeps what is written, and answers nothing.
class Recorder final : public kj::AsyncIoStream {
 public:
  kj::Promise<std::size_t> tryRead(void*, std::size_t, std::size_t) override { return kj::NEVER_DONE; }
  kj::Promise<void> write(const void* buffer, std::size_t size) override {
    const auto* first = static_cast<const std::byte*>(buffer);
    bytes.insert(bytes.end(), first, first + size);
    return kj::READY_NOW;
  }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    for (const auto piece : pieces) write(piece.begin(), piece.size());
    return kj::READY_NOW;
  }
  kj::Promise<void> whenWriteDisconnected() override { return kj::NEVER_DONE; }
  void shutdownWrite() override {}

  Bytes bytes;
};

using Promises = std::vector<kj::Promise<void>>;

// What a caller writes that does not wait for answers: each call is made on the promised result of the one
// before it.
Bytes record(const std::function<Promises(wire::Task::Client)>& calls) {
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  Recorder recorder;
  capnp::TwoPartyClient client(recorder);
  const Promises kept = calls(client.bootstrap().castAs<wire::Task>());
  scope.poll();
  return recorder.bytes;
}

Promises connect_and_finish(wire::Task::Client task) {
  Promises promises;
  auto connect = task.connectRequest();
  connect.setProtocolVersion(wire::PROTOCOL_VERSION);
  write_identity({{"worker", 1}, 2}, connect.initSelf());
  write_task_name({"ps", 0}, connect.initExpected());
  auto connected = connect.send();
  auto inbox = connected.getInbox();
  promises.push_back(connected.ignoreResult());
  auto done = inbox.doneRequest();
  promises.push_back(done.send().ignoreResult());
  return promises;
}

Promises use_master(wire::Task::Client task) {
  Promises promises;
  auto hello = task.masterRequest();
  hello.setProtocolVersion(wire::PROTOCOL_VERSION);
  auto answered = hello.send();
  auto master = answered.getMaster();
  promises.push_back(answered.ignoreResult());
  auto put = master.putRequest();
  auto chunk = put.initChunk();
  chunk.setTransfer(1);
  chunk.setTotal(8);
  chunk.initData(8);
  promises.push_back(put.send());
  auto create = master.createSessionRequest();
  auto node = create.initGraph().initNodes(1)[0];
  node.setName("nothing");
  node.setOp("NoOp");
  create.initOptions().initDeviceFilters(1).set(0, "/job:ps");
  promises.push_back(create.send().ignoreResult());
  auto run = master.runStepRequest();
  run.setSession("session");
  auto feed = run.initFeeds(1)[0];
  feed.setName("x:0");
  feed.initValue().setDtype(wire::DType::UINT8);
  feed.getValue().setDims({8});
  feed.getValue().setTransfer(1);
  run.initFetches(1).set(0, "y");
  run.initTargets(1).set(0, "z");
  promises.push_back(run.send().ignoreResult());
  auto call = master.runCallableRequest();
  call.setSession("session");
  call.initFeeds(1)[0].setDtype(wire::DType::STRING);
  promises.push_back(call.send().ignoreResult());
  promises.push_back(master.resetRequest().send().ignoreResult());
  return promises;
}

Promises ask_for_status(wire::Task::Client task) {
  Promises promises;
  promises.push_back(task.statusRequest().send().ignoreResult());
  return promises;
}

Bytes delivery() {
  auto bytes = encode<wire::Delivery>([](TensorWriter&, wire::Delivery::Builder root) {
    auto envelopes = root.initEnvelopes(3);
    envelopes[0].setReplicaDone();
    envelopes[1].initAbortStep().setStep(1);
    auto tensor = envelopes[2].initTensorDelivery().initTensor();
    tensor.setDtype(wire::DType::FLOAT32);
    tensor.setDims({2});
    tensor.initData(8);
  });
  bytes[3] |= std::byte{0x80};  // the highest bit of the first word
  return bytes;
}

// A message of the bulk plane with one tensor of floats, and its bytes.
Bytes bulk_message(bool in_place) {
  const auto frame = encode<wire::BulkFrame>([&](TensorWriter&, wire::BulkFrame::Builder root) {
    auto tensor = root.initEnvelope().initTensorDelivery().initTensor();
    tensor.setDtype(wire::DType::FLOAT32);
    tensor.setDims({2, 4});
    tensor.setTransfer(5);
    auto payload = root.initPayloads(1)[0];
    payload.setNumber(5);
    payload.setSizeBytes(32);
    if (in_place) payload.setPlace(64);
  });
  return frame + Bytes(32, std::byte{1});
}

}  // namespace

void add_wire_seeds(const AddSeed& add) {
  // A caller that does not wait for the answer to connect: messages may come before that has been
  // handled.
  const auto session = record(connect_and_finish) + delivery() + delivery();
  for (const auto& bytes : {session, record(use_master), record(ask_for_status)}) add("port", bytes);
  add("port", to_bytes("AFLOWBLK") + Bytes(16, std::byte{2}));
  for (const auto trusted : {std::byte{0}, std::byte{1}}) {
    add("frame", Bytes{trusted} + session);
    add("frame", Bytes{trusted} + encode_message(RegisterGraph{1, training_graph()}));
  }
  const auto frame = bulk_message(false);
  add("bulk", frame + frame);
  add("bulk", bulk_message(true));
}

}  // namespace actorflow::fuzz
