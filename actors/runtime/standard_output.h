// What a program prints on standard output, and logs beside it.
#pragma once

#include <string>

namespace actorflow {

// The exit status of a program that ends with `status`: failed_run in place of success if some of what
// it has printed on standard output is lost, as on a full disk; that is then said on standard error as
// an error of `program`. A closed standard output, and a reader that has gone, want no more: no error.
int status_with_output(const std::string& program, int status);

// Standard output is the program's: lets the default logger write to standard error. In colours where
// that is a terminal, unless the environment's NO_COLOR is set and not empty (no-color.org).
void log_to_stderr(const std::string& logger);

}  // namespace actorflow
