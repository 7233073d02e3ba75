// What is wrong with arguments, in words of this project. For this folder only.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace actorflow {

// The commands that were named, as in "actorflow train mnist".
std::string named_command(const CLI::App& app);
// "expected a number above 0, got '-1'".
std::string expected(const std::string& what, const std::string& text);
// Says what was expected, and what came.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace actorflow
