#include "schema/environment/reserved_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "dataflow/values/error.h"
#include "schema/address.h"

namespace actorflow {

// Linux lets a socket that says SO_REUSEADDR listen beside one that says so, too, and only is bound. A
// port for anybody, and one for a connection that leaves, is never a bound one.
ReservedPort::ReservedPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  sockaddr_in any{};
  any.sin_family = AF_INET;
  setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (!socket_ || bind(socket_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) < 0 ||
      getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &size) < 0)
    throw Error(Code::resource_exhausted,
                std::string("there is no free port for this task: ") + std::strerror(errno));
  number_ = Address::of(bound).port;
}

}  // namespace actorflow
