#include "schema/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "schema/replace_file.h"

namespace actorflow {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The first failure stays in errno.
bool fill_and_close(int fd, const std::string& text) {
  const bool written = write_all(fd, text) && fsync(fd) == 0;
  const int error = errno;
  const bool closed = close(fd) == 0;
  if (!written) errno = error;
  return written && closed;
}

}  // namespace

std::string write_private_file(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  unlink(part.c_str());
  const int fd =
      open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return part;
  const int error = fill_and_close(fd, text) ? -replace_file(part, path) : errno;
  if (error == 0) return "";
  // Nobody would remove it, and it may hold some of a key.
  unlink(part.c_str());
  errno = error;
  return path;
}

}  // namespace actorflow
