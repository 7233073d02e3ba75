#include <csv.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "dataflow/values/check.h"
#include "schema/formats/element_reader.h"
#include "schema/formats/lines.h"
#include "schema/records/csv_field.h"

namespace actorflow {
namespace {

// A state of libcsv's parser: between two records. Inside a quoted field a record goes on over lines.
constexpr int row_not_begun = 0;
constexpr std::array read_dtypes{DType::float32, DType::float64, DType::int32, DType::int64,
                                 DType::uint8,   DType::boolean, DType::string};
constexpr std::size_t max_record_bytes = std::size_t{64} << 20;

// libcsv cuts records into fields; it is fed line by line, so that it is known where a field stands.
class CsvReader final : public ElementReader {
 public:
  CsvReader(SourceRef source, CsvOptions options)
      : lines_(std::move(source)), options_(std::move(options)), skip_header_(options_.header) {
    check_options();
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0)
      throw Error(Code::resource_exhausted, lines_.file() + ": no memory to read it");
    csv_set_delim(&parser_, static_cast<unsigned char>(options_.delimiter));
  }
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;
  ~CsvReader() override { csv_free(&parser_); }

  bool next(Tuple& element) override {
    if (!next_record()) return false;
    element.clear();
    for (const auto& component : options_.components) element.push_back(tensor_of(component));
    records_.pop_front();
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    std::int64_t skipped = 0;
    for (; skipped < count && next_record(); ++skipped) records_.pop_front();
    return skipped;
  }

 private:
  struct Record {
    std::uint64_t line = 0;
    std::vector<std::string> fields;
  };

  void check_options() const {
    if (options_.components.empty())
      throw invalid_argument(lines_.file() + ": name the columns to read in CsvOptions::components");
    for (const auto& component : options_.components) {
      if (component.first_column < 0 || component.count < 0 || component.dtype == DType::invalid)
        throw invalid_argument(lines_.file() +
                               ": a component needs a dtype, a first column and a count of 0 "
                               "or more");
      if (std::ranges::find(read_dtypes, component.dtype) == read_dtypes.end())
        throw invalid_argument(lines_.file() +
                               ": a column of CSV becomes float32, float64, int32, int64, uint8, bool "
                               "or string, got " +
                               std::string(to_string(component.dtype)) + "; cast it afterwards");
    }
  }

  // Makes sure that a record is there and has the right number of fields; false at the end.
  bool next_record() {
    while (records_.empty() && !ended_) read_line();
    if (records_.empty()) return false;
    if (std::exchange(skip_header_, false)) {
      records_.pop_front();
      return next_record();
    }
    const Record& record = records_.front();
    if (num_fields_ == 0) set_num_fields(record);
    if (record.fields.size() != num_fields_)
      throw damaged(record.line, "expected " + std::to_string(num_fields_) +
                                     " fields, as in the first "
                                     "element, got " +
                                     std::to_string(record.fields.size()));
    return true;
  }

  void set_num_fields(const Record& record) {
    num_fields_ = record.fields.size();
    int needed = 0;
    for (const auto& component : options_.components)
      needed = std::max(needed, component.first_column + std::max(component.count, 1));
    if (static_cast<std::size_t>(needed) > num_fields_)
      throw invalid_argument(place(record.line) + "expected " + std::to_string(needed) +
                             " fields or more, for the columns that are wanted, got " +
                             std::to_string(num_fields_));
  }

  void read_line() {
    std::string_view line;
    if (!lines_.next(line)) {
      ended_ = true;
      if (csv_fini(&parser_, on_field, on_record, this) != 0)
        throw damaged(record_line_, "a quoted field is not closed before the file ends");
      return;
    }
    if (lines_.number() == 1) line = without_byte_order_mark(line);
    if (record_line_ == 0) record_line_ = lines_.number();
    record_bytes_ += line.size();
    if (record_bytes_ > max_record_bytes)
      throw Error(Code::resource_exhausted, place(record_line_) + "the record is longer than " +
                                                std::to_string(max_record_bytes) +
                                                " bytes; is a quote missing?");
    const std::size_t parsed = csv_parse(&parser_, line.data(), line.size(), on_field, on_record, this);
    if (parsed != line.size())
      throw damaged(lines_.number(), "column " + std::to_string(parsed + 1) + ", field " +
                                         std::to_string(fields_.size()) +
                                         ": a quote where none may be, or text after a quoted field");
    if (parser_.pstate == row_not_begun) begin_record();
  }

  void begin_record() {
    record_line_ = 0;
    record_bytes_ = 0;
  }

  static void on_field(void* data, std::size_t size, void* self) {
    static_cast<CsvReader*>(self)->fields_.emplace_back(static_cast<const char*>(data), size);
  }

  static void on_record(int, void* self) {
    auto& reader = *static_cast<CsvReader*>(self);
    reader.records_.push_back({reader.record_line_, std::exchange(reader.fields_, {})});
  }

  Tensor tensor_of(const CsvComponent& component) const {
    switch (component.dtype) {
      case DType::float32:
        return values<float>(component);
      case DType::float64:
        return values<double>(component);
      case DType::int32:
        return values<std::int32_t>(component);
      case DType::int64:
        return values<std::int64_t>(component);
      case DType::uint8:
        return values<std::uint8_t>(component);
      case DType::boolean:
        return values<bool>(component);
      case DType::string:
        return values<std::string>(component);
      default:
        ACTORFLOW_CHECK(false, "a dtype that check_options() accepts");
        return {};
    }
  }

  template <class T>
  Tensor values(const CsvComponent& component) const {
    const bool scalar = component.count == CsvComponent::scalar;
    Tensor tensor = Tensor::allocate(dtype_of<T>, scalar ? Shape{} : Shape{component.count});
    auto column = static_cast<std::size_t>(component.first_column);
    for (auto& value : tensor.mutable_values<T>()) {
      const std::string& text = records_.front().fields[column];
      if (!detail::parse_csv_value(text, value))
        throw damaged(records_.front().line,
                      "field " + std::to_string(column) + ": expected a value of " +
                          std::string(to_string(dtype_of<T>)) + ", got '" + text.substr(0, 100) + "'");
      ++column;
    }
    return tensor;
  }

  std::string place(std::uint64_t line) const {
    return lines_.file() + ":" + std::to_string(line) + ": ";
  }
  Error damaged(std::uint64_t line, const std::string& what) const {
    return Error(Code::data_loss, place(line) + what);
  }

  LineReader lines_;
  CsvOptions options_;
  csv_parser parser_{};
  std::deque<Record> records_;       // complete
  std::vector<std::string> fields_;  // of the record that is being read
  std::uint64_t record_line_ = 0;    // where it begins
  std::size_t record_bytes_ = 0;
  std::size_t num_fields_ = 0;  // of every record; 0 until the first element
  bool skip_header_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ElementReader> read_csv(SourceRef source, CsvOptions options) {
  return std::make_unique<CsvReader>(std::move(source), std::move(options));
}

}  // namespace actorflow
