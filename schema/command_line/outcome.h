// What the parser finds out beside the values of options. For this folder only.
#pragma once

#include "schema/command_line/command_line.h"

namespace actorflow {

struct Command::Outcome {
  std::function<int()> chosen;
  // Where the words go that a command's options do not take.
  std::vector<std::pair<const CLI::App*, std::vector<std::string>*>> left_over;
};

}  // namespace actorflow
