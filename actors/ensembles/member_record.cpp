#include "actors/ensembles/member_record.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "actors/ensembles/collect_bytes.h"
#include "dataflow/values/error.h"
#include "schema/records/record_codec.h"

namespace actorflow {
namespace {

template <class T>
std::string bytes_of(const T& record) {
  std::string bytes(encoded_size(record), '\0');
  encode(record, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

template <class T>
T of_bytes(std::string_view bytes) {
  RecordReader reader(std::as_bytes(std::span(bytes)));
  return decode<T>(reader);
}

}  // namespace

StoredTensor stored_tensor(std::string name, const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  return {std::move(name),
          std::string(to_string(tensor.dtype())),
          {dims.begin(), dims.end()},
          std::string(static_cast<const char*>(tensor.data()), tensor.size_bytes())};
}

Tensor tensor_of(const StoredTensor& stored) {
  Tensor tensor = Tensor::allocate(parse_dtype(stored.dtype), Shape(std::span(stored.shape)));
  if (tensor.size_bytes() != stored.bytes.size())
    throw Error(Code::data_loss, "the tensor " + stored.name + " has not come whole");
  if (!stored.bytes.empty())
    std::memcpy(tensor.mutable_data(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

std::vector<StoredLog> stored_logs(const Logs& logs) {
  std::vector<StoredLog> stored;
  for (const auto& [name, value] : logs.values()) stored.push_back({name, value});
  return stored;
}

History history_of(const MemberRecord& record) {
  History history;
  for (const auto& stored : record.epochs) {
    Logs logs;
    for (const StoredLog& log : stored) logs.set(log.name, log.value);
    history.epochs.push_back(static_cast<int>(history.epochs.size()) + 1);
    history.logs.push_back(std::move(logs));
  }
  return history;
}

std::map<std::string, Tensor> weights_of(const MemberRecord& record) {
  std::map<std::string, Tensor> weights;
  for (const StoredTensor& stored : record.weights) weights[stored.name] = tensor_of(stored);
  return weights;
}

std::vector<MemberRecord> train_members(Job& job, const std::vector<MemberWork>& work,
                                        const Trainer& train) {
  const auto made = collect_bytes(
      job, work.size(), [work, train](std::size_t part) { return bytes_of(train(work[part])); });
  std::vector<MemberRecord> records;
  for (const std::string& bytes : made)
    std::ranges::move(of_bytes<std::vector<MemberRecord>>(bytes), std::back_inserter(records));
  return records;
}

std::vector<Tensor> predict_by_members(Job& job, const std::vector<int>& members,
                                       const std::function<Tensor(int)>& predict) {
  const auto made = collect_bytes(job, members.size(), [members, predict](std::size_t part) {
    return bytes_of(stored_tensor("", predict(members[part])));
  });
  std::vector<Tensor> predictions;
  for (const std::string& bytes : made) predictions.push_back(tensor_of(of_bytes<StoredTensor>(bytes)));
  return predictions;
}

}  // namespace actorflow
