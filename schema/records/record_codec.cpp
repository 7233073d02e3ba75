#include "schema/records/record_codec.h"

#include <limits>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow::detail {
namespace {

std::string place(const RecordReader& from) {
  return "at byte " + std::to_string(from.at - from.begin) + " of records: expected ";
}

}  // namespace

void throw_cut_record(const RecordReader& from, std::size_t count, const char* what) {
  throw Error(Code::data_loss, place(from) + std::to_string(count) + " " + what + ", but " +
                                   std::to_string(from.bytes_left()) + " bytes are left");
}

void throw_bad_record(const RecordReader& from, const char* expected) {
  throw Error(Code::data_loss,
              place(from) + expected + "; " + std::to_string(from.bytes_left()) + " bytes are left");
}

std::size_t decode_long_size(RecordReader& from) {
  std::size_t size = 0;
  for (int shift = 0; shift < std::numeric_limits<std::size_t>::digits; shift += 7) {
    const auto byte = static_cast<std::size_t>(*take(from, 1, "byte of a size"));
    const std::size_t part = byte & 0x7f;
    size |= part << shift;
    if (size >> shift != part) break;  // bits above the 64th
    if (byte >= 0x80) continue;
    if (part == 0) throw_bad_record(from, "a size in as few bytes as possible before");
    return size;
  }
  throw_bad_record(from, "a size of at most 64 bits before");
}

}  // namespace actorflow::detail
