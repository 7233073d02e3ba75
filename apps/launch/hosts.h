// Lists of hosts: the flag -H and hosts files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/launch/job_spec.h"

namespace actorflow {

// "a:1,user@b:2,[fe80::1]:4"; without a number a host has one slot. Throws invalid_argument that names
// the entry and what was expected, and if two hosts have one name.
std::vector<LaunchHost> parse_hosts(std::string_view text);

// A line for each host: "user@name slots=2" or "name:2"; "#" begins a comment. Throws invalid_argument
// that names file, line and what was expected, and not_found if the file cannot be read.
std::vector<LaunchHost> read_hosts_file(const std::string& path);

// The same of a file's text.
std::vector<LaunchHost> parse_hosts_file(const std::string& path, std::string_view text);

}  // namespace actorflow
