// Lists of machines, as Slurm writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

// The first machine of "node[01-03,7],gpu2". Throws invalid_argument for what is no such list.
std::string first_host(std::string_view list);
// All of them, in their order. Throws like first_host, for more than 100,000, and for more than 16
// brackets in one name.
std::vector<std::string> all_hosts(std::string_view list);

}  // namespace actorflow
