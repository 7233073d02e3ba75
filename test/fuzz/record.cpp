// Encoded records of the jobs (schema/records): what is accepted is encoded as the same bytes again. The
// same bytes as a line of CSV.
#include <algorithm>

#include "schema/records/csv_record.h"
#include "schema/records/key.h"
#include "test/fuzz/support/target.h"

using namespace actorflow;

namespace {

struct Flat {
  std::array<double, 2> at;
  std::uint32_t count;
  float weight;
};
struct Nested {
  std::string_view name;
  std::vector<std::pair<std::string, std::optional<Flat>>> items;
  std::array<std::vector<std::uint16_t>, 2> numbers;
  std::vector<std::vector<bool>> flags;
};

using Row = std::tuple<std::int64_t, std::string, std::optional<double>, std::vector<float>, bool, char>;

template <Record T>
void read(fuzz::Input input) {
  fuzz::accepts([&] {
    RecordReader reader(input);
    while (!reader.empty()) {
      const std::byte* begin = reader.at;
      const T record = decode<T>(reader);
      std::vector<std::byte> again(encoded_size(record));
      encode(record, again.data());
      fuzz::require(std::equal(again.begin(), again.end(), begin, reader.at),
                    "a record has one encoding");
      std::vector<std::byte> key, key_again;
      const auto bytes = key_bytes(record, key);
      fuzz::require(std::ranges::equal(key_bytes(key_from_bytes<T>(bytes), key_again), bytes),
                    "a key has one encoding");
      fuzz::require(order_prefix(key_from_bytes<T>(bytes)) == order_prefix(record),
                    "equal keys have equal prefixes");
    }
  });
}

void read_csv(std::string_view line) {
  fuzz::accepts([&] {
    CsvSplitter splitter, again;
    const auto row = parse_csv<Row>(splitter.split(line));
    std::string written;
    append_csv(row, written);
    std::string twice;
    append_csv(parse_csv<Row>(again.split(written)), twice);
    fuzz::require(written == twice, "a row is written in one way");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz::input(data, size);
  read<Nested>(input);
  read<Row>(input);
  read_csv(fuzz::text(input));
  return 0;
}
