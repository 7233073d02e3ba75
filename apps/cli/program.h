// The command line of every program.
#pragma once

#include <functional>
#include <string>

#include "apps/usage/usage.h"
#include "schema/command_line/command_line.h"

namespace actorflow {

// Parses the arguments, --help and --version among them, and runs `body`, which returns the exit status.
// Where some of what was printed on standard output is lost, as on a full disk, that is an error, too.
// Errors become one line, "<program>: error: ...", on standard error. Logs and crash reports go there,
// too.
int run_program(CommandLine& line, int argc, char** argv, const std::function<int()>& body);

// Both spellings of a flag, the given one first: "--batch-size,--batch_size" for "batch-size".
std::string both_spellings(const std::string& name);

// Adds an option that is a count from 1 to `most`, in both spellings, with its default in the help.
template <class Count>
void add_count(Command& command, const std::string& name, Count& value, const std::string& what,
               int most) {
  command.option(both_spellings(name), value, what).check(in_range(1, most)).show_default();
}

}  // namespace actorflow
