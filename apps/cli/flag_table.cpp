#include "apps/cli/flag_table.h"

#include <sstream>

namespace actorflow {

std::string all_spellings(const std::string& names) {
  std::istringstream list(names);
  std::string all;
  for (std::string name; std::getline(list, name, ',');)
    all += (all.empty() ? "" : ",") + both_spellings(name);
  return all;
}

std::string first_spelling(const std::string& names) { return "--" + names.substr(0, names.find(',')); }

}  // namespace actorflow
