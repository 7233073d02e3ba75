#include "actors/ensembles/member_record.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "actors/jobs/job.h"
#include "dataflow/values/error.h"

namespace actorflow {

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
                                        std::size_t record_bytes, const Trainer& train) {
  constexpr std::size_t bytes_of_a_stage = std::size_t{60} << 20;
  const std::size_t at_once =
      std::max<std::size_t>(1, bytes_of_a_stage / std::max<std::size_t>(1, record_bytes));
  std::vector<MemberRecord> records;
  for (std::size_t begin = 0; begin < work.size(); begin += at_once) {
    const std::size_t end = std::min(begin + at_once, work.size());
    const std::vector<MemberWork> pieces(work.begin() + static_cast<std::ptrdiff_t>(begin),
                                         work.begin() + static_cast<std::ptrdiff_t>(end));
    auto made = job.from(pieces, pieces.size())
                    .flat_map([train](MemberWork piece) { return train(piece); })
                    .collect();
    std::ranges::move(made, std::back_inserter(records));
  }
  return records;
}

std::vector<Tensor> predict_by_members(Job& job, const std::vector<int>& members,
                                       const std::function<Tensor(int)>& predict) {
  const auto stored = job.from(members, members.size())
                          .map([predict](int member) { return stored_tensor("", predict(member)); })
                          .collect();
  std::vector<Tensor> predictions;
  for (const StoredTensor& tensor : stored) predictions.push_back(tensor_of(tensor));
  return predictions;
}

}  // namespace actorflow
