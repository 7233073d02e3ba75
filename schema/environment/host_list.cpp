#include "schema/environment/host_list.h"

#include "dataflow/values/error.h"

namespace actorflow {

// A bracket stands for its first number, with the digits as they are written there.
std::string first_host(std::string_view list) {
  std::string host;
  bool in_bracket = false, taken = false;
  for (const char c : list) {
    if (c == ',' && !in_bracket) break;
    if (c == '[' || c == ']') {
      if ((c == '[') == in_bracket)
        throw invalid_argument("'" + std::string(list) + "' is no list of hosts");
      in_bracket = c == '[';
      taken = false;
    } else if (in_bracket && (c == '-' || c == ',')) {
      taken = true;
    } else if (!taken) {
      host += c;
    }
  }
  if (host.empty() || in_bracket)
    throw invalid_argument("'" + std::string(list) + "' is no list of hosts");
  return host;
}

}  // namespace actorflow
