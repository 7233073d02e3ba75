// Words for a POSIX shell: what ssh runs on another machine, and batch files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

// One word for a POSIX shell: the text itself if it is harmless, else in single quotes.
std::string shell_word(std::string_view text);
// The words of a command, with blanks between them.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace actorflow
