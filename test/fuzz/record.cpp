// Encoded records of the jobs (schema/records), with tensors and messages: what is accepted is encoded
// as the same bytes again. The same bytes as a line of CSV.
#include <kj/exception.h>

#include <algorithm>

#include "dataflow/values/tensor.h"
#include "schema/records/capnp_record.h"
#include "schema/records/csv_record.h"
#include "schema/records/key.h"
#include "schema/tensor.capnp.h"
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

using Message = CapnpRecord<wire::Tensor>;
struct Own {
  std::vector<Tensor> tensors;
  std::optional<Message> message;
};

using Row = std::tuple<std::int64_t, std::string, std::optional<double>, std::vector<float>, bool, char>;

template <Record T>
void read_key(const T& record) {
  std::vector<std::byte> key, again;
  const auto bytes = key_bytes(record, key);
  fuzz::require(std::ranges::equal(key_bytes(key_from_bytes<T>(bytes), again), bytes),
                "a key has one encoding");
  fuzz::require(order_prefix(key_from_bytes<T>(bytes)) == order_prefix(record),
                "equal keys have equal prefixes");
}

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
      if constexpr (is_key<T>()) read_key(record);
    }
  });
}

// A message of another type than the schema's throws where it is read, and reads nothing else.
void read_message(fuzz::Input input) {
  fuzz::accepts([&] {
    const auto message = Message::of_bytes(input);
    fuzz::require(Message::of_bytes(message.bytes()) == message, "a message has one encoding");
    try {
      const auto tensor = message.reader();
      std::size_t read = tensor.getDims().size();
      if (tensor.isData()) read += tensor.getData().size();
      if (tensor.isStrings())
        for (const auto text : tensor.getStrings()) read += text.size();
      fuzz::require(read <= message.bytes().size() * 64, "a message is as long as its bytes");
    } catch (const kj::Exception&) {
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
  read<Own>(input);
  read_message(input);
  read_csv(fuzz::text(input));
  return 0;
}
