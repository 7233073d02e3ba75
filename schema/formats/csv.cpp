#include <csv.h>

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dataflow/values/check.h"
#include "schema/formats/element_reader.h"
#include "schema/formats/lines.h"
#include "schema/records/csv_field.h"

namespace actorflow {
namespace {

// A state of libcsv's parser: between two records. Inside a quoted field a record goes on over lines.
constexpr int row_not_begun = 0;
constexpr std::size_t max_record_bytes = std::size_t{64} << 20;

// Calls the function for the type of a column; false if no column can have it.
template <class Function>
bool with_type(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::float32:
      return function.template operator()<float>(), true;
    case DType::float64:
      return function.template operator()<double>(), true;
    case DType::int32:
      return function.template operator()<std::int32_t>(), true;
    case DType::int64:
      return function.template operator()<std::int64_t>(), true;
    case DType::uint8:
      return function.template operator()<std::uint8_t>(), true;
    case DType::boolean:
      return function.template operator()<bool>(), true;
    case DType::string:
      return function.template operator()<std::string>(), true;
    default:
      return false;
  }
}

// Throws invalid_argument unless the component can be read from such a file.
void check_component(const std::string& file, const CsvComponent& component, bool has_heading) {
  if (component.first_column < 0 || component.count < 0 || component.dtype == DType::invalid)
    throw invalid_argument(file +
                           ": a component needs a dtype, a first column and a count of 0 or more");
  const auto check_default = [&]<class T>() {
    T value{};
    if (component.default_value && !detail::parse_csv_value(*component.default_value, value))
      throw invalid_argument(file + ": the default_value '" + *component.default_value +
                             "' of a column is no " + std::string(to_string(component.dtype)));
  };
  if (!with_type(component.dtype, check_default))
    throw invalid_argument(file +
                           ": a column of CSV becomes float32, float64, int32, int64, uint8, bool or "
                           "string, got " +
                           std::string(to_string(component.dtype)) + "; cast it afterwards");
  if (!component.column.empty() && !has_heading)
    throw invalid_argument(file + ": the column '" + component.column +
                           "' is named by its heading, but CsvOptions::header is false; give its "
                           "first_column");
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "'" : ", '") + text + "'";
  return all;
}

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
    for (const auto& component : options_.components)
      check_component(lines_.file(), component, options_.header);
  }

  // Makes sure that a record is there and has the right number of fields; false at the end.
  bool next_record() {
    while (records_.empty() && !ended_) read_line();
    if (records_.empty()) return false;
    if (std::exchange(skip_header_, false)) {
      take_headings();
      return next_record();
    }
    const Record& record = records_.front();
    if (num_fields_ == 0) set_num_fields(record);
    if (record.fields.size() != num_fields_)
      throw damaged(record.line, "expected " + std::to_string(num_fields_) +
                                     " fields, as in the first element, got " +
                                     std::to_string(record.fields.size()) + difference(record));
    return true;
  }

  void take_headings() {
    for (const std::string& heading : records_.front().fields)
      headings_.emplace_back(detail::trimmed(heading));
    for (CsvComponent& component : options_.components)
      if (!component.column.empty()) component.first_column = column_of(component.column);
    records_.pop_front();
  }

  int column_of(const std::string& heading) const {
    const auto found = std::ranges::find(headings_, heading);
    const std::string where = place(records_.front().line);
    if (found == headings_.end())
      throw invalid_argument(where + "no column is headed '" + heading + "'; the headings are " +
                             joined(headings_));
    if (std::find(found + 1, headings_.end(), heading) != headings_.end())
      throw invalid_argument(where + "two columns are headed '" + heading +
                             "'; give the first_column of the one to read");
    return static_cast<int>(found - headings_.begin());
  }

  void set_num_fields(const Record& record) {
    num_fields_ = record.fields.size();
    int needed = 0;
    bool by_heading = false;
    for (const auto& component : options_.components) {
      needed = std::max(needed, component.first_column + std::max(component.count, 1));
      by_heading |= !component.column.empty();
    }
    if (by_heading && headings_.size() != num_fields_)
      throw invalid_argument(place(record.line) + "expected " + std::to_string(headings_.size()) +
                             " fields, of which the headings are " + joined(headings_) + ", got " +
                             std::to_string(num_fields_));
    if (static_cast<std::size_t>(needed) > num_fields_)
      throw invalid_argument(place(record.line) + "expected " + std::to_string(needed) +
                             " fields or more, for the columns that are wanted, got " +
                             std::to_string(num_fields_));
  }

  // What a record of another number of fields lacks, or has too many.
  std::string difference(const Record& record) const {
    const std::size_t got = record.fields.size();
    if (got < num_fields_) return "; " + name(got) + " is missing";
    return "; '" + record.fields[num_fields_].substr(0, 100) + "' is too much, after " +
           name(num_fields_ - 1) + ": texts with the delimiter in them need quotes";
  }

  void read_line() {
    std::string_view line;
    if (!lines_.next(line)) {
      ended_ = true;
      if (csv_fini(&parser_, on_field, on_record, this) != 0)
        throw damaged(record_line_,
                      name(fields_.size()) + ": its quote is not closed before the file ends");
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
      throw damaged(lines_.number(),
                    name(fields_.size()) + ", character " + std::to_string(parsed + 1) +
                        " of the line: a quote where none may be, or text after a quoted field");
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
    Tensor tensor;
    const bool is_known = with_type(component.dtype, [&]<class T>() { tensor = values<T>(component); });
    ACTORFLOW_CHECK(is_known, "a dtype that check_options() accepts");
    return tensor;
  }

  template <class T>
  Tensor values(const CsvComponent& component) const {
    const bool scalar = component.count == CsvComponent::scalar;
    Tensor tensor = Tensor::allocate(dtype_of<T>, scalar ? Shape{} : Shape{component.count});
    auto column = static_cast<std::size_t>(component.first_column);
    for (auto& value : tensor.mutable_values<T>()) value = value_of<T>(component, column++);
    return tensor;
  }

  template <class T>
  T value_of(const CsvComponent& component, std::size_t column) const {
    const std::string& text = records_.front().fields[column];
    const bool is_missing = missing(text);
    T value{};
    if constexpr (std::is_same_v<T, std::string>)
      if (is_missing && !component.default_value) return is_na(text) ? value : text;
    const std::string& counts = is_missing && component.default_value ? *component.default_value : text;
    if (detail::parse_csv_value(counts, value)) return value;
    const std::string got = "'" + text.substr(0, 100) + "'";
    throw damaged(records_.front().line,
                  name(column) + ": expected a value of " + std::string(to_string(dtype_of<T>)) +
                      ", got " + (text.empty() ? "an empty field" : got) +
                      (is_missing ? "; CsvComponent::default_value says what counts in its place" : ""));
  }

  bool is_na(std::string_view text) const {
    return std::ranges::find(options_.na_values, detail::trimmed(text)) != options_.na_values.end();
  }
  bool missing(std::string_view text) const { return detail::trimmed(text).empty() || is_na(text); }

  // Of a field, for errors.
  std::string name(std::size_t column) const {
    const bool fits = num_fields_ == 0 || headings_.size() == num_fields_;
    const bool has_heading = fits && column < headings_.size();
    return "field " + std::to_string(column) +
           (has_heading ? " ('" + headings_[column] + "')" : ", counted from 0");
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
  std::size_t num_fields_ = 0;         // of every record; 0 until the first element
  std::vector<std::string> headings_;  // none without a heading
  bool skip_header_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ElementReader> read_csv(SourceRef source, CsvOptions options) {
  return std::make_unique<CsvReader>(std::move(source), std::move(options));
}

}  // namespace actorflow
