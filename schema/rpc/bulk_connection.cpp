#include "schema/rpc/bulk_connection.h"

#include <kj/debug.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::string_view name_prefix = "actorflow-";
constexpr std::size_t name_digits = 32;
constexpr int local_backlog = 64;

struct Hello {
  GuardedStream::Head magic = bulk_magic;
  BulkToken token;
};

struct AbstractAddress {
  explicit AbstractAddress(const std::string& name) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(),
                name.size());  // behind a zero: not in the file system
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t size = 0;
};

FileDescriptor new_local_socket() {
  return FileDescriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

std::string random_name() {
  static constexpr char digits[] = "0123456789abcdef";
  std::string name(name_prefix);
  for (const std::byte byte : random_token()) {
    name += digits[std::to_integer<unsigned>(byte) >> 4U];
    name += digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return name;
}

// Whether a name that a peer has told us is of our kind: it must not lead to another service.
bool is_ours(const std::string& name) {
  return name.size() == name_prefix.size() + name_digits && name.starts_with(name_prefix) &&
         name.find_first_not_of("0123456789abcdef", name_prefix.size()) == std::string::npos;
}

// Empty if no process of our user listens there: then the peer is on another machine, or in another
// container.
FileDescriptor connect_locally(const std::string& name) {
  if (!is_ours(name)) return FileDescriptor();
  FileDescriptor socket = new_local_socket();
  const AbstractAddress to(name);
  if (!socket || connect(socket.get(), to.get(), to.size) != 0 || !same_user(socket.get()))
    return FileDescriptor();
  return socket;
}

// Waits for the peer's answer, which accepts the connection; a peer that refuses it closes it.
kj::Promise<BulkConnection> accepted(BulkConnection connection) {
  auto answer = kj::heap<std::uint64_t>(1);
  auto read = connection.stream->read(answer.get(), sizeof(std::uint64_t));
  return read.then([answer = kj::mv(answer), connection = kj::mv(connection)]() mutable {
    KJ_REQUIRE(*answer == 0, "the peer does not take large messages");
    return kj::mv(connection);
  });
}

kj::Promise<BulkConnection> open_local(IoLoop& loop, FileDescriptor socket, Hello hello,
                                       std::shared_ptr<const SharedArena> arena) {
  auto stream = loop.sockets().wrapUnixSocketFd(socket.release(),
                                                kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
                                                    kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC |
                                                    kj::LowLevelAsyncIoProvider::ALREADY_NONBLOCK);
  auto bytes = kj::heap(hello);
  const auto file = kj::heapArray<int>({arena->file()});
  auto written = stream->writeWithFds({reinterpret_cast<const kj::byte*>(bytes.get()), sizeof(Hello)},
                                      nullptr, file.asPtr());
  return written.attach(kj::mv(bytes), std::move(arena)).then([stream = kj::mv(stream)]() mutable {
    return accepted({kj::mv(stream), true});
  });
}

kj::Promise<BulkConnection> open_tcp(IoLoop& loop, kj::Own<kj::NetworkAddress> address,
                                     const CallSecurity& security, Hello hello) {
  auto connected = address->connect().attach(kj::mv(address)).then(
      [&loop, security](kj::Own<kj::AsyncIoStream> socket) {
        return secure_call(loop, kj::mv(socket), security);
      });
  return connected.then([hello](kj::Own<kj::AsyncIoStream> stream) {
    auto bytes = kj::heap(hello);
    auto written = stream->write(bytes.get(), sizeof(Hello));
    return written.attach(kj::mv(bytes)).then([stream = kj::mv(stream)]() mutable {
      return accepted({kj::mv(stream), false});
    });
  });
}

}  // namespace

BulkToken random_token() {
  BulkToken token;
  if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size()))
    throw Error(Code::internal, "the system has no random bytes");
  return token;
}

std::optional<LocalSocket> listen_locally() {
  LocalSocket local{new_local_socket(), random_name()};
  const AbstractAddress at(local.name);
  if (!local.socket || bind(local.socket.get(), at.get(), at.size) != 0 ||
      listen(local.socket.get(), local_backlog) != 0)
    return {};
  return local;
}

bool same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

kj::Promise<BulkConnection> open_bulk(IoLoop& loop, BulkAddress address) {
  const Hello hello{.token = address.token};
  FileDescriptor socket;
  if (address.arena) socket = connect_locally(address.local_socket);
  if (!socket) return open_tcp(loop, kj::mv(address.tcp), address.security, hello);
  return open_local(loop, std::move(socket), hello, std::move(address.arena))
      .catch_([&loop, tcp = kj::mv(address.tcp), security = address.security,
               hello](kj::Exception&&) mutable {
        return open_tcp(loop, kj::mv(tcp), security, hello);
      });
}

}  // namespace actorflow
