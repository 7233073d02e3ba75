#include "dataflow/values/check.h"

#include <cstdio>
#include <cstdlib>

namespace actorflow::detail {
namespace {

// The path within the sources: what precedes it is the same as of this file.
std::string_view within_sources(std::string_view file) {
  constexpr std::string_view here = __FILE__;
  constexpr std::string_view root =
      here.substr(0, here.size() - std::string_view("dataflow/values/check.cpp").size());
  return file.starts_with(root) ? file.substr(root.size()) : file;
}

}  // namespace

void fail_check(const char* condition, const char* file, int line,
                std::initializer_list<CheckedValue> values) noexcept {
  std::string text(within_sources(file));
  text += ":" + std::to_string(line) + ": broken invariant: " + condition;
  if (values.size() > 0) text += ":";
  for (const auto& value : values) text += " " + value.text;
  text += "\n";
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace actorflow::detail
