#include "schema/formats/lines.h"

#include "schema/formats/element_reader.h"

namespace actorflow {
namespace {

class TextReader final : public ElementReader {
 public:
  explicit TextReader(SourceRef source) : lines_(std::move(source)) {}

  bool next(Tuple& element) override {
    std::string_view line;
    if (!lines_.next(line)) return false;
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    element = {Tensor::scalar(std::string(line))};
    return true;
  }

 private:
  LineReader lines_;
};

}  // namespace

bool LineReader::next(std::string_view& line) {
  if (run_.empty() && (run_ = blocks_.next()).empty()) return false;
  line = run_.substr(0, run_.find('\n'));
  if (line.size() < run_.size()) line = run_.substr(0, line.size() + 1);
  run_.remove_prefix(line.size());
  ++number_;
  return true;
}

std::unique_ptr<ElementReader> read_lines(SourceRef source) {
  return std::make_unique<TextReader>(std::move(source));
}

}  // namespace actorflow
