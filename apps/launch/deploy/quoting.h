// Texts within what others read.
#pragma once

#include <string>
#include <string_view>

namespace actorflow {

// For a container's command, arguments and variables, in which Kubernetes replaces $(NAME): every $
// twice.
std::string kubernetes_text(std::string_view text);

std::string base64(std::string_view bytes);

}  // namespace actorflow
