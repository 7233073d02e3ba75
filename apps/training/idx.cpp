#include "apps/training/idx.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "dataflow/error.h"
#include "kernels/device.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

constexpr unsigned unsigned_bytes = 0x08;
// Deflate makes at most 1032 bytes of one (zlib's documentation, "Maximum Compression Factor").
constexpr std::uint64_t most_bytes_per_compressed_byte = 1032;

Error damaged(const std::string& path, const std::string& what) {
  return Error(Code::data_loss, path + ": " + what + "; replace the file");
}

std::string existing_file(const std::string& path) {
  for (const auto& candidate : {path, path + ".gz"})
    if (fs::is_regular_file(candidate)) return candidate;
  throw Error(Code::not_found, "there is no data file " + path + " or " + path +
                                   ".gz; give the folder that has it with --data or --data_dir");
}

// A file that zlib reads, decompressing it if it is compressed.
class Source {
 public:
  explicit Source(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb"), gzclose) {
    if (!file_) throw Error(Code::unavailable, path + ": cannot be opened: " + std::strerror(errno));
    gzbuffer(file_.get(), 1 << 17);
  }

  // Reads up to `size` bytes: fewer only where the file ends.
  std::uint64_t read(std::uint8_t* to, std::uint64_t size) {
    std::uint64_t done = 0;
    while (done < size) {
      const auto part = static_cast<unsigned>(std::min<std::uint64_t>(size - done, 1 << 30));
      const int got = gzread(file_.get(), to + done, part);
      check();
      if (got <= 0) break;
      done += static_cast<std::uint64_t>(got);
    }
    return done;
  }

  // Whether a compressed stream just stopped, without its end and its checksum.
  bool ended_early() {
    int code = Z_OK;
    gzerror(file_.get(), &code);
    return code == Z_BUF_ERROR;
  }

  // No more than this many bytes can come out of the file.
  std::uint64_t most_bytes() {
    const std::uint64_t size = fs::file_size(path_);
    return gzdirect(file_.get()) ? size : size * most_bytes_per_compressed_byte;
  }

 private:
  // A compressed stream that just ends is no error here: the caller sees that bytes are missing.
  void check() {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code < 0 && code != Z_BUF_ERROR) throw damaged(path_, std::string("is damaged: ") + text);
  }

  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

Shape read_header(Source& source, const std::string& path, int rank) {
  std::array<std::uint8_t, 4 + 4 * Shape::max_rank> header{};
  const auto size = 4 + 4 * static_cast<std::uint64_t>(rank);
  if (const auto got = source.read(header.data(), size); got < size)
    throw damaged(path,
                  fmt::format("expected an IDX header of {} bytes, but the file has {}", size, got));
  if (header[0] != 0 || header[1] != 0 || header[2] != unsigned_bytes || header[3] != rank)
    throw damaged(
        path, fmt::format("expected an IDX file of unsigned bytes in {} dimensions, which begins with "
                          "00 00 08 {:02x}, but it begins with {:02x}",
                          rank, rank, fmt::join(header.begin(), header.begin() + 4, " ")));
  Shape shape;
  for (std::size_t at = 4; at < size; at += 4)
    shape.push_back(std::int64_t{header[at]} << 24 | header[at + 1] << 16 | header[at + 2] << 8 |
                    header[at + 3]);
  return shape;
}

// The number of values that the header announces; throws if the file cannot hold so many.
std::uint64_t checked_elements(Source& source, const std::string& path, const Shape& shape) {
  std::uint64_t elements = 0;
  try {
    elements = static_cast<std::uint64_t>(shape.elements());
  } catch (const Error&) {
    throw damaged(path, "the header announces the impossible shape " + shape.to_string());
  }
  if (const auto most = source.most_bytes(); elements > most)
    throw damaged(
        path, fmt::format("expected {} bytes for the shape {}, but the file can hold {} at most; it is "
                          "truncated or its header is wrong",
                          elements, shape.to_string(), most));
  return elements;
}

}  // namespace

Tensor read_idx(const std::string& path, int rank) {
  const std::string file = existing_file(path);
  Source source(file);
  const Shape shape = read_header(source, file, rank);
  const std::uint64_t elements = checked_elements(source, file, shape);
  Tensor values = Tensor::allocate(DType::uint8, shape, cpu_device().allocator());
  const auto got = source.read(values.mutable_values<std::uint8_t>().data(), elements);
  if (got < elements)
    throw damaged(
        file,
        fmt::format("expected {} bytes for the shape {}, but the file ends after {}; it is truncated",
                    elements, shape.to_string(), got));
  std::uint8_t more = 0;
  if (source.read(&more, 1) != 0)
    throw damaged(file,
                  fmt::format("expected {} bytes for the shape {}, but the file goes on after them",
                              elements, shape.to_string()));
  if (source.ended_early())
    throw damaged(file,
                  "expected the end of the compressed data, but the file ends before; it is truncated");
  return values;
}

}  // namespace actorflow
