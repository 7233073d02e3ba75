#include "schema/environment/command_line.h"

#include <utility>

namespace actorflow {

std::vector<std::string> backward_arguments(std::vector<std::string> arguments) {
  std::vector<std::string> backward;
  for (auto argument = arguments.rbegin(); argument != arguments.rend(); ++argument) {
    if (argument->starts_with("--") && argument->find('=') == argument->size() - 1) {
      backward.emplace_back();
      argument->pop_back();
    }
    backward.push_back(std::move(*argument));
  }
  return backward;
}

}  // namespace actorflow
