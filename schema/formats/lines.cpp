#include "schema/formats/lines.h"

#include "dataflow/values/error.h"
#include "schema/formats/element_reader.h"

namespace actorflow {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;

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
  std::size_t searched = begin_;
  std::size_t end = 0;
  while ((end = buffer_.find('\n', searched)) == std::string::npos) {
    const std::size_t waiting = buffer_.size() - begin_;
    if (waiting > max_line_bytes)
      throw Error(Code::resource_exhausted, file() + ": line " + std::to_string(number_ + 1) +
                                                " is longer than " + std::to_string(max_line_bytes) +
                                                " bytes; is it a text file?");
    if (!refill()) {
      if (waiting == 0) return false;
      end = buffer_.size() - 1;
      break;
    }
    searched = begin_ + waiting;
  }
  line = std::string_view(buffer_).substr(begin_, end + 1 - begin_);
  begin_ = end + 1;
  ++number_;
  return true;
}

// Moves what is left to the front. False at the end of the file.
bool LineReader::refill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + block_bytes);
  const std::size_t got = source_->read(std::as_writable_bytes(std::span(buffer_).subspan(before)));
  buffer_.resize(before + got);
  return got > 0;
}

std::unique_ptr<ElementReader> read_lines(SourceRef source) {
  return std::make_unique<TextReader>(std::move(source));
}

}  // namespace actorflow
