// The main() of a task's program.
#pragma once

#include <string>

#include "apps/cli/program.h"

namespace actorflow::test {

// Runs a program that does something with its flags, which add themselves to the command line.
template <class Flags>
int run_with_flags(const std::string& what, const std::string& name, int argc, char** argv,
                   int (*run)(const Flags&)) {
  CommandLine program(what, name);
  Flags flags;
  flags.add_to(program);
  return run_program(program, argc, argv, [&] { return run(flags); });
}

}  // namespace actorflow::test
