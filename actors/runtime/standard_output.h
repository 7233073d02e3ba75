// What a program prints on standard output, and logs beside it.
#pragma once

#include <exception>
#include <string>

namespace actorflow {

// The exit status of a program that ends with `status`: failed_run in place of success if some of what
// it has printed on standard output is lost, as on a full disk; that is then said on standard error as
// an error of `program`. A closed standard output, and a reader that has gone, want no more: no error.
int status_with_output(const std::string& program, int status);

// Whether this was thrown by fmt::print(), which could not write to standard output.
bool is_of_output(const std::exception& error);
// The exit status of a program that has ended with such an error. A full disk is said on standard error;
// a reader that has gone, as `head` does, ends a program quietly with the status that SIGPIPE gives.
int status_without_output(const std::string& program, const std::exception& error);

// Standard output is the program's: lets the default logger write to standard error. In colours where
// that is a terminal, unless the environment's NO_COLOR is set and not empty (no-color.org).
void log_to_stderr(const std::string& logger);

}  // namespace actorflow
