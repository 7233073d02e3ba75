#include "schema/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace actorflow {

std::string write_private_file(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  unlink(part.c_str());
  const int fd =
      open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return part;
  const bool written =
      write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  errno = error;
  return written && std::rename(part.c_str(), path.c_str()) == 0 ? "" : path;
}

}  // namespace actorflow
