// What a program prints: whether it has arrived, and in colours or not.
#pragma once

#include <string>

namespace actorflow {

// The exit status of a program that ends with `status`: failed_run in place of success if some of what
// it has printed on standard output is lost, as on a full disk; that is then said on standard error as
// an error of `program`. A closed standard output, and a reader that has gone, want no more: no error.
int status_with_output(const std::string& program, int status);

// False if the environment's NO_COLOR is set and not empty (no-color.org). Otherwise terminals may show
// colours.
bool may_have_colors();

}  // namespace actorflow
