// Addresses on loopback.
#pragma once

#include <string>
#include <vector>

namespace actorflow::test {

// Addresses "127.0.0.1:port" whose ports nobody listens on.
std::vector<std::string> free_addresses(int count);
// Whether a process listens there.
bool is_listening(const std::string& address);
// A connection, as a file descriptor, or -1.
int connect_to(const std::string& address);

}  // namespace actorflow::test
