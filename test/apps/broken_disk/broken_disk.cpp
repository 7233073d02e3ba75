// A library that a test loads before a program (LD_PRELOAD), so that calls for some files fail as on a
// broken disk. The environment's BROKEN_DISK names a file with the rules, which a test may change at any
// time:
//
//   CALL PART ERRNO [FIRST [COUNT]]
//
// Of CALL (open, pread, pwrite, fsync, fclose, rename, unlink or mkdir), for paths that contain PART, or
// end with it if a $ follows, those from number FIRST (1) on fail, COUNT (all) of them. ERRNO 0 is a
// slow disk: they take 50 ms. Counting begins anew when the file changes.
#include <dlfcn.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "test/apps/support/preloaded_open.h"

namespace {

std::mutex mutex;
std::string rules;
std::map<std::string, long> calls;  // by rule

// Without the calls that fail.
std::string read_rules() {
  std::string text;
  const char* const path = getenv("BROKEN_DISK");
  const int file = path ? really_open(path, O_RDONLY, 0) : -1;
  if (file < 0) return text;
  char buffer[4096];
  for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(file);
  return text;
}

bool fits(const std::string& path, const std::string& part) {
  return part.ends_with('$') ? path.ends_with(part.substr(0, part.size() - 1))
                             : path.find(part) != path.npos;
}

// The ERRNO of the rule that holds for the call; none: no rule does.
std::optional<int> rule_for(const char* call, const std::string& path) {
  const std::lock_guard lock(mutex);
  if (auto present = read_rules(); present != rules) {
    rules = std::move(present);
    calls.clear();
  }
  std::istringstream lines(rules);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, part;
    int error = 0;
    long first = 1, count = 1'000'000'000;
    if (!(words >> name >> part >> error) || name != call || !fits(path, part)) continue;
    words >> first >> count;
    const long number = ++calls[line];
    if (number < first || number - first >= count) continue;
    return error;
  }
  return std::nullopt;
}

// Whether the call must fail; then errno says with what.
bool fails(const char* call, const std::string& path) {
  const auto error = rule_for(call, path);
  if (error == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (error.value_or(0) == 0) return false;
  errno = *error;
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string path_of(int file) {
  char path[4096];
  const auto size = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

int open_file(const char* path, int flags, mode_t mode) {
  return fails("open", path) ? -1 : really_open(path, flags, mode);
}

extern "C" {

ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  using Call = ssize_t(int, void*, size_t, off_t);
  return fails("pread", path_of(file)) ? -1 : next<Call>("pread")(file, bytes, size, at);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  using Call = ssize_t(int, const void*, size_t, off_t);
  return fails("pwrite", path_of(file)) ? -1 : next<Call>("pwrite")(file, bytes, size, at);
}
int fsync(int file) { return fails("fsync", path_of(file)) ? -1 : next<int(int)>("fsync")(file); }
int fclose(FILE* file) {
  const bool refused = fails("fclose", path_of(fileno(file)));
  const int why = errno;
  const int closed = next<int(FILE*)>("fclose")(file);
  if (!refused) return closed;
  errno = why;
  return EOF;
}
int rename(const char* from, const char* to) noexcept {
  return fails("rename", to) ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}
int unlink(const char* path) noexcept {
  return fails("unlink", path) ? -1 : next<int(const char*)>("unlink")(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return fails("mkdir", path) ? -1 : next<int(const char*, mode_t)>("mkdir")(path, mode);
}
}
