// TFRecord files, and the events in them: as they come, and with checksums that fit, so that what is behind
// them is reached.
#include "schema/event.h"
#include "schema/tfrecord.h"
#include "test/fuzz/support/data_file.h"

using namespace actorflow;

namespace {

constexpr std::size_t header_bytes = 12, crc_bytes = 4;

std::string with_valid_checksums(std::string file) {
  const auto put_crc = [&file](std::size_t begin, std::size_t size) {
    const std::uint32_t crc = masked_crc32c(std::as_bytes(std::span(file)).subspan(begin, size));
    std::memcpy(file.data() + begin + size, &crc, sizeof crc);
  };
  for (std::size_t begin = 0; file.size() - begin >= header_bytes;) {
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + begin, sizeof size);
    put_crc(begin, sizeof size);
    begin += header_bytes;
    if (size > file.size() - begin || file.size() - begin - size < crc_bytes) break;
    put_crc(begin, size);
    begin += size + crc_bytes;
  }
  return file;
}

void decode(std::span<const std::byte> record) {
  fuzz::accepts([&] {
    const Event event = decode_event(record);
    decode_event(encode_event(event));
    if (const auto* graph = std::get_if<Event::GraphEvent>(&event.what)) count_tensorflow_nodes(graph->def);
  });
}

void read(const std::string& file) {
  const auto bytes = std::as_bytes(std::span(file));
  fuzz::read_all(bytes, [](SourceRef source) { return read_tfrecords(std::move(source)); });
  fuzz::accepts([&] {
    TfRecordReader reader("file");
    const std::size_t middle = bytes.size() / 2;
    for (const auto& part : {bytes.first(middle), bytes.subspan(middle)}) {
      reader.feed(part);
      while (const auto record = reader.next()) decode(*record);
    }
    reader.finish();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = fuzz::text(fuzz::input(data, size));
  read(file);
  read(with_valid_checksums(file));
  decode(std::as_bytes(std::span(file)));
  return 0;
}
