#include <fstream>
#include <optional>
#include <sstream>
#include <tuple>

#include "schema/event.h"
#include "schema/onnx/onnx.h"
#include "schema/parquet/parquet_rows.h"
#include "schema/parquet/parquet_writer.h"
#include "schema/records/record_codec.h"
#include "schema/tfrecord.h"
#include "test/fuzz/support/seeds.h"
#include "test/schema/support/memory_source.h"

namespace actorflow::fuzz {
namespace {

std::string data_file(const std::string& name) {
  std::ifstream file(ACTORFLOW_SOURCE_DIR "/apps/data/" + name, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// The first elements of one of MNIST's files, as a file of their own.
std::string first_of_mnist(const std::string& name, int count, const std::string& dims) {
  const auto reader = read_idx(test::memory(data_file("mnist/" + name)));
  std::string file{0, 0, 8, static_cast<char>(1 + dims.size() / 4), 0, 0, 0, static_cast<char>(count)};
  file += dims;
  Tuple element;
  for (int i = 0; i < count && reader->next(element); ++i)
    file.append(static_cast<const char*>(element[0].data()), element[0].size_bytes());
  return file;
}

std::string packed(const std::string& file, Compression compression) {
  std::string all;
  const auto sink = compressed(std::make_unique<test::MemorySink>(all), compression);
  sink->write(std::as_bytes(std::span(file)));
  sink->finish();
  return all;
}

void add_plain_and_packed(const AddSeed& add, const std::string& target, const std::string& prefix,
                          const std::string& file) {
  add(target, to_bytes(prefix + file));
  add(target, to_bytes(prefix + test::gzipped(file)));
  for (const auto compression : {Compression::zstd, Compression::lz4})
    add(target, to_bytes(prefix + packed(file, compression)));
}

std::string lines(const std::string& text, int count) {
  std::size_t end = 0;
  for (int i = 0; i < count; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

Bytes event_file() {
  const std::vector<std::uint8_t> pixels(3 * 2 * 3, 7);
  const std::vector<Summary> summaries{
      {"loss", ScalarSummary{0.5}},
      {"weights", HistogramSummary{-1, 1, 3, 0.5, 2, {-1, 0, 1, 2}, {1, 0, 0, 2}}},
      {"digit", encode_image(3, 2, 3, pixels)}};
  const std::vector<Event> events{{1, 0, Event::Version{}},
                                  {2, 1, Event::GraphEvent{encode_tensorflow_graph(training_graph())}},
                                  {3, 2, summaries}};
  Bytes file;
  for (const auto& event : events) append_record(file, encode_event(event));
  return file;
}

// Two records of the target's nested type.
Bytes record_seed() {
  using Flat = std::pair<std::array<double, 2>, std::pair<std::uint32_t, float>>;
  using Items = std::vector<std::pair<std::string, std::optional<Flat>>>;
  using Numbers = std::array<std::vector<std::uint16_t>, 2>;
  const std::tuple<std::string, Items, Numbers, std::vector<std::vector<bool>>> record{
      "name", {{"one", Flat{{1, -2}, {3, 4}}}, {"two", std::nullopt}}, {{{1, 2}, {}}}, {{true}, {}}};
  Bytes bytes(encoded_size(record));
  encode(record, bytes.data());
  return bytes + bytes;
}

// Weights in the model if there is no file of them.
Bytes onnx_seed(const std::string& weights_file) {
  OnnxModel model{.name = "seed",
                  .inputs = {{"x", DType::float32, {{"batch", 2}}}},
                  .outputs = {{"y", DType::float32, {}}},
                  .nodes = {},
                  .initializers = {}};
  model.nodes.push_back(
      {"product", "Gemm", {"x", "w"}, {"p"}, {{"transB", std::int64_t{1}}, {"alpha", 0.5}}});
  model.nodes.push_back(
      {"swap", "Transpose", {"p"}, {"y"}, {{"perm", std::vector<std::int64_t>{1, 0}}}});
  model.initializers = {{"w", Tensor::zeros(DType::float32, {600, 2})},
                        {"names", Tensor::of<std::string>({2}, {"a", "b"})}};
  return encode_onnx(model, weights_file).model;
}

// Where there is no Arrow, the first bytes of such a file.
void add_parquet_seeds(const AddSeed& add) {
  add("parquet", to_bytes("\1PAR1"));
  if (!reads_parquet()) return;
  using Row = std::tuple<std::int64_t, std::optional<double>, std::string, bool, std::uint8_t>;
  for (const ParquetCodec codec : {ParquetCodec::none, ParquetCodec::zstd}) {
    std::string file(1, '\3');
    const auto writer =
        create_parquet({"seed",
                        {"a", "b", "c", "d", "e"},
                        parquet_fields<Row>(),
                        codec,
                        [&file](std::span<const std::byte> bytes) {
                          file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                        }});
    ParquetRowBuffer<Row> rows;
    for (int i = 0; i < 50; ++i)
      rows.append({i * i, i % 3 == 0 ? std::nullopt : std::optional(0.5 * i),
                   "text " + std::to_string(i % 7), i % 2 == 0, static_cast<std::uint8_t>(i)});
    for (int group = 0; group < 2; ++group) writer->write(rows.values(), rows.rows());
    writer->finish();
    add("parquet", to_bytes(file));
  }
}

}  // namespace

void add_data_seeds(const AddSeed& add) {
  const std::string side{0, 0, 0, 28};
  add_plain_and_packed(add, "idx", "", first_of_mnist("t10k-labels-idx1-ubyte.gz", 20, ""));
  add_plain_and_packed(add, "idx", "", first_of_mnist("t10k-images-idx3-ubyte.gz", 2, side + side));
  add("idx", to_bytes(std::string("\0\0\x08\x02\0\0\0\3\0\0\0\0", 12)));

  const std::string npy = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  add_plain_and_packed(add, "npy", std::string("\x20\x05", 2),
                       std::string("\x93NUMPY\1\0", 8) + static_cast<char>(npy.size()) + '\0' + npy +
                           std::string(24, 'x'));

  add_parquet_seeds(add);

  // Header, ','; then two floats from column 0, an int32 in column 4.
  const std::string flowers = lines(data_file("iris.csv"), 6);
  add_plain_and_packed(add, "csv", std::string("\x09\x85\x25", 3), flowers);
  add("csv", to_bytes(std::string("\x10\x06\x0b\x11", 4) + "\"a, \"\"b\"\"\nc\",true,9\r\n\nx,0,-1"));
  add("csv", to_bytes(std::string("\x02\x01", 2) + "1e9;nan\n+2;inf\n-0.0;\n"));

  std::string record(1, '\3');
  for (int i = 0; i < 3 * 32 * 32; ++i) record += static_cast<char>(i % 251);
  add_plain_and_packed(add, "cifar10", std::string(1, '\0'), record);
  add_plain_and_packed(add, "cifar10", "\1",
                       lines(data_file("shakespeare/shakespeare.txt"), 8) + "\r\n");

  const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(8 * 6 * 4), 77);
  for (int channels = 1; channels <= 4; ++channels)
    add("png", to_bytes(encode_image(8, 6, channels,
                                     std::span(pixels).first(static_cast<std::size_t>(48 * channels)))
                            .png));

  for (const char* weights : {"", "seed.weights"}) add("onnx", onnx_seed(weights));

  add("tfrecord", event_file());
  Bytes texts;
  for (const auto* text : {"", "a", "an example"}) append_record(texts, to_bytes(text));
  add("tfrecord", texts);
  add("record", record_seed());
  add("record", to_bytes("-7,\"a \"\"b\"\", c\",0.5,1 nan -2e9,true,R"));
  add("record", to_bytes("0,,,,0,\"\"\"\""));
  const std::string packed = test::gzipped({reinterpret_cast<const char*>(texts.data()), texts.size()});
  add("tfrecord", to_bytes(packed));
}

void add_cluster_seeds(const AddSeed& add) {
  for (const char* flags : {"localhost:2222,localhost:2223\n127.0.0.1:2224,[::1]:2225\nworker\n1",
                            "ps0:0\nh1:1,h2:65535,h_3:2,a.b-c:3\nps\n0", "\n\nevaluator\n0",
                            "/job:worker/replica:0/task:1/device:GPU:0", "/job:ps/cpu:0", "/gpu:*"})
    add("cluster_flags", to_bytes(flags));
  for (
      const char* json :
      {R"({"ps": ["localhost:2222"], "worker": {"0": "a:1", "3": "[::1]:2"}})",
       R"({"cluster": {"chief": ["h:1"], "ps": ["h:2", "h:3"], "worker": ["h:4"]},
            "task": {"type": "worker", "index": 0}, "environment": "cloud"})",
       R"({"cluster": {"master": ["h:1"], "evaluator": ["h:5"]}, "task": {"type": "evaluator", "index": "0"}})",
       R"({"cluster": {"worker": [17, null, "h:1", "h:1"]}, "task": {"type": 1, "index": 1e9}})"})
    add("cluster_json", to_bytes(json));
}

}  // namespace actorflow::fuzz
