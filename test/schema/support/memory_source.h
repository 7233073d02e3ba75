// A file in memory, for tests of readers.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schema/formats/byte_sink.h"
#include "schema/formats/element_reader.h"
#include "test/support/contains.h"

namespace actorflow::test {

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}

  std::size_t read(std::span<std::byte> to) override {
    const std::size_t got = std::min(to.size(), bytes_.size() - at_);
    std::memcpy(to.data(), bytes_.data() + at_, got);
    at_ += got;
    return got;
  }
  std::uint64_t most_bytes_left() override { return bytes_.size() - at_; }
  const std::string& name() const override { return name_; }

 private:
  std::string name_ = "file";
  std::string bytes_;
  std::size_t at_ = 0;
};

// The bytes as they are; memory() decompresses them.
inline SourceRef plain(std::string bytes) { return std::make_unique<MemorySource>(std::move(bytes)); }
inline SourceRef memory(std::string bytes) {
  return decompressed(std::make_unique<MemorySource>(std::move(bytes)));
}

class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::string& file) : file_(file) {}
  void write(std::span<const std::byte> bytes) override {
    file_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void finish() override { finished_ = true; }
  ~MemorySink() override {
    if (!finished_) file_ += "(not finished)";
  }

 private:
  std::string& file_;
  bool finished_ = false;
};

inline std::string contents(ByteSource& source) {
  std::string text(1 << 16, '\0'), all;
  while (const std::size_t got = source.read(std::as_writable_bytes(std::span(text))))
    all.append(text, 0, got);
  return all;
}

inline std::vector<Tuple> all_of(ElementReader& reader) {
  std::vector<Tuple> all;
  for (Tuple element; reader.next(element);) all.push_back(element);
  return all;
}

// The status of reading a whole file.
inline Status status_of_reading(const std::function<std::unique_ptr<ElementReader>()>& open) {
  try {
    all_of(*open());
  } catch (const Error& error) {
    return error.status();
  }
  return {};
}

inline std::string gzipped(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace actorflow::test
