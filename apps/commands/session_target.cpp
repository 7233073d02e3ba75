#include "apps/commands/session_target.h"

namespace actorflow {

std::string target_of(const std::string& given) {
  return given.find("://") == given.npos ? "actorflow://" + given : given;
}

}  // namespace actorflow
