// Lists of machines, as Slurm writes them.
#pragma once

#include <string>
#include <string_view>

namespace actorflow {

// The first machine of "node[01-03,7],gpu2". Throws invalid_argument for what is no such list.
std::string first_host(std::string_view list);

}  // namespace actorflow
