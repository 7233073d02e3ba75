#include <vector>

#include "schema/formats/element_reader.h"
#include "schema/tfrecord.h"

namespace actorflow {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;

class TfRecordElements final : public ElementReader {
 public:
  explicit TfRecordElements(SourceRef source) : source_(std::move(source)), records_(source_->name()) {}

  bool next(Tuple& element) override {
    while (true) {
      if (const auto record = records_.next()) {
        element = {
            Tensor::scalar(std::string(reinterpret_cast<const char*>(record->data()), record->size()))};
        return true;
      }
      if (!feed()) return false;
    }
  }

 private:
  bool feed() {
    std::vector<std::byte> block(block_bytes);
    block.resize(source_->read(block));
    if (block.empty()) {
      records_.finish();
      return false;
    }
    records_.feed(block);
    return true;
  }

  SourceRef source_;
  TfRecordReader records_;
};

}  // namespace

std::unique_ptr<ElementReader> read_tfrecords(SourceRef source) {
  return std::make_unique<TfRecordElements>(std::move(source));
}

}  // namespace actorflow
