#include "schema/formats/element_reader.h"
#include "schema/formats/tfrecord_file.h"

namespace actorflow {
namespace {

class TfRecordElements final : public ElementReader {
 public:
  explicit TfRecordElements(SourceRef source) : file_(std::move(source)) {}

  bool next(Tuple& element) override {
    const auto record = file_.next();
    if (!record) return false;
    element = {
        Tensor::scalar(std::string(reinterpret_cast<const char*>(record->data()), record->size()))};
    return true;
  }

 private:
  TfRecordFile file_;
};

}  // namespace

std::unique_ptr<ElementReader> read_tfrecords(SourceRef source) {
  return std::make_unique<TfRecordElements>(std::move(source));
}

}  // namespace actorflow
