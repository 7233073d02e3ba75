// Cap'n Proto's framing, as a peer's bytes reach it. The first byte says whether the peer is trusted.
#include <kj/async.h>

#include "schema/io/guarded_stream.h"
#include "schema/io/read_ahead.h"
#include "schema/worker.capnp.h"
#include "test/fuzz/support/wire_input.h"

using namespace actorflow;

namespace {

// How many bytes of messages came before the end or a mistake.
std::size_t read_messages(GuardedStream& stream, kj::WaitScope& scope) {
  std::size_t bytes = 0;
  while (true) {
    auto message = stream.MessageStream::tryReadMessage().wait(scope);
    KJ_IF_MAYBE (it, message) {
      (*it)->getRoot<wire::BulkFrame>().totalSize();
      bytes += (*it)->sizeInWords() * sizeof(capnp::word);
    } else {
      return bytes;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = fuzz::input(data, size);
  const bool trusted = fuzz::take<std::uint8_t>(input) % 2 != 0;
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  GuardedStream stream(kj::heap<ReadAhead>(kj::heap<fuzz::Peer>(input)), trusted);
  try {
    const std::size_t bytes = read_messages(stream, scope);
    fuzz::require(trusted || bytes <= GuardedStream::max_untrusted_bytes, "a stranger sends little");
  } catch (const kj::Exception&) {
  }
  return 0;
}
