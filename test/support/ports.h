// Addresses on loopback.
#pragma once

#include <string>
#include <vector>

namespace actorflow::test {

// Addresses "127.0.0.1:port" whose ports nobody listens on. They are this process's until it ends: no
// other test gets one of them, and the system gives none of them to who asks for port 0 or connects.
std::vector<std::string> free_addresses(int count);
std::string free_address();
// Whether a process listens there.
bool is_listening(const std::string& address);
// A connection, as a file descriptor, or -1.
int connect_to(const std::string& address);

}  // namespace actorflow::test
