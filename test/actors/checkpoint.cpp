#include "actors/checkpoint/checkpoint.h"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/checkpoint/files/reader.h"
#include "actors/checkpoint/files/safetensors.h"
#include "actors/checkpoint/folder.h"
#include "dataflow/values/error.h"
#include "test/actors/support/memory_storage.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(checkpoint)

using namespace actorflow;

namespace {

const std::string folder = "checkpoints/mnist";

Checkpoint at_step(std::int64_t step) {
  return {step, {{"w", Tensor::of<float>({2}, {static_cast<float>(step), 0.5f})}}};
}

Checkpoint of_all_types() {
  return {7,
          {{"float32", Tensor::of<float>({2, 1}, {1.5f, -2.0f})},
           {"float64", Tensor::of<double>({1}, {1e300})},
           {"int32", Tensor::of<std::int32_t>({3}, {1, -2, 3})},
           {"int64", Tensor::scalar<std::int64_t>(-1LL << 40)},
           {"bool", Tensor::of<bool>({2}, {true, false})},
           {"uint8", Tensor::of<std::uint8_t>({3}, {0, 128, 255})},
           {"string", Tensor::of<std::string>({3}, {"", "a \"quoted\" one", std::string(100, 'x')})},
           {"float16", Tensor{Float16(1.5), Float16(-65504)}},
           {"bfloat16", Tensor{{BFloat16(1.5)}, {BFloat16(1e30)}}},
           {"int8", Tensor::of<std::int8_t>({2}, {-128, 127})},
           {"int16", Tensor::of<std::int16_t>({2}, {-32768, 32767})},
           {"empty", Tensor::of<float>({0, 5}, {})}}};
}

bool same(const Checkpoint& a, const Checkpoint& b) {
  if (a.global_step != b.global_step || a.tensors.size() != b.tensors.size()) return false;
  for (const auto& [name, tensor] : a.tensors)
    if (!b.tensors.contains(name) || !identical(tensor, b.tensors.at(name))) return false;
  return true;
}

bool is_data_loss(const Error& error) { return error.code() == Code::data_loss; }

}  // namespace

BOOST_AUTO_TEST_CASE(every_type_comes_back) {
  MemoryStorage storage;
  save_checkpoint(storage, folder, of_all_types());
  const auto loaded = load_latest_checkpoint(storage, folder);
  BOOST_REQUIRE(loaded.has_value());
  BOOST_TEST(same(*loaded, of_all_types()));
}

BOOST_AUTO_TEST_CASE(an_empty_folder_has_no_checkpoint) {
  MemoryStorage storage;
  BOOST_TEST(!load_latest_checkpoint(storage, folder).has_value());
}

BOOST_AUTO_TEST_CASE(the_data_file_is_safetensors) {
  MemoryStorage storage;
  save_checkpoint(storage, folder, {3, {{"w\n", Tensor::of<float>({1, 2}, {1, 2})}}});
  const auto& bytes = storage.files.at(folder + "/step-3.1-of-1.safetensors");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string header = R"({"__metadata__":{"format":"actorflow","global_step":"3"},)"
                             R"("w\u000a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  BOOST_TEST(text.substr(8, header.size()) == header);
  BOOST_TEST(text[0] % 8 == 0);
  BOOST_TEST(text.size() == 8u + static_cast<unsigned char>(text[0]) + 8u);
}

BOOST_AUTO_TEST_CASE(the_header_names_types_as_safetensors_does) {
  MemoryStorage storage;
  save_checkpoint(storage, folder, of_all_types());
  const auto& bytes = storage.files.at(folder + "/step-7.1-of-1.safetensors");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const auto* entry : {R"("float16":{"dtype":"F16","shape":[2])", R"("int8":{"dtype":"I8",)",
                            R"("bfloat16":{"dtype":"BF16","shape":[2,1])", R"("int16":{"dtype":"I16",)"})
    BOOST_TEST(text.find(entry) != text.npos, entry);
}

BOOST_AUTO_TEST_CASE(the_newest_checkpoint_is_loaded_and_the_newest_k_are_kept) {
  MemoryStorage storage;
  for (const int step : {1, 2, 9, 10, 11}) save_checkpoint(storage, folder, at_step(step), {.max_to_keep = 3});
  BOOST_TEST(load_latest_checkpoint(storage, folder)->global_step == 11);
  BOOST_TEST(storage.files.size() == 6u);
  BOOST_TEST(storage.exists(folder + "/step-9.manifest"));
  BOOST_TEST(!storage.exists(folder + "/step-2.1-of-1.safetensors"));
}

// What saving has left goes, by its whole name.
BOOST_AUTO_TEST_CASE(other_files_that_are_named_after_a_step_stay) {
  MemoryStorage storage;
  const std::vector<std::string> of_people{"step-7.png",          "step-3-loss-curve.csv",
                                           "step-1.txt",          "step-2",
                                           "step-4.manifest.old", "step-5.0-of-1.safetensors.md5"};
  const std::vector<std::string> leftovers{"step-1.0-of-2.safetensors",
                                           "step-2.epoch-3.manifest.12-0a1b-0.tmp",
                                           "step-3.again.1-of-2.safetensors.345-c0-67.tmp"};
  for (const auto& files : {of_people, leftovers})
    for (const auto& name : files) storage.write_atomically(folder + "/" + name, {});
  const auto names = storage.list(folder);
  for (const std::int64_t step : {8, 9, 10})
    save_checkpoint(storage, folder, at_step(step), {.max_to_keep = 1});
  remove_leftovers(storage, folder, names, 3);
  remove_checkpoints(storage, folder);
  for (const auto& name : of_people) BOOST_TEST(storage.exists(folder + "/" + name), name);
  for (const auto& name : leftovers) BOOST_TEST(!storage.exists(folder + "/" + name), name);
  BOOST_TEST(storage.list(folder).size() == of_people.size());
}

BOOST_AUTO_TEST_CASE(older_checkpoints_stay_at_intervals) {
  MemoryStorage storage;
  const KeepOptions keep{.max_to_keep = 2, .keep_checkpoint_every_n_hours = 1};
  for (int quarter = 0; quarter < 12; ++quarter) {
    Checkpoint checkpoint = at_step(quarter);
    checkpoint.saved_at_s = 900 * quarter;
    save_checkpoint(storage, folder, checkpoint, keep);
  }
  std::vector<std::string> expected;
  for (const int step : {11, 10, 8, 4, 0})
    expected.push_back(folder + "/step-" + std::to_string(step) + ".manifest");
  BOOST_TEST(list_checkpoints(storage, folder) == expected);
}

BOOST_AUTO_TEST_CASE(a_crash_between_the_files_leaves_the_old_checkpoint) {
  MemoryStorage storage;
  save_checkpoint(storage, folder, at_step(1));
  for (const int writes : {0, 1}) {
    storage.commits_left = writes;
    BOOST_CHECK_THROW(save_checkpoint(storage, folder, at_step(2)), Error);
    BOOST_TEST(same(*load_latest_checkpoint(storage, folder), at_step(1)));
  }
  storage.commits_left = 2;
  save_checkpoint(storage, folder, at_step(2));
  BOOST_TEST(same(*load_latest_checkpoint(storage, folder), at_step(2)));
}

BOOST_AUTO_TEST_CASE(a_crash_while_a_step_is_saved_once_more_leaves_its_first_version) {
  MemoryStorage storage;
  Checkpoint other = at_step(1);
  other.tensors["w"] = Tensor::of<float>({2}, {7, 8});
  save_checkpoint(storage, folder, at_step(1));
  for (int round = 0; round < 3; ++round) {
    const Checkpoint before = *load_latest_checkpoint(storage, folder);
    const Checkpoint after = round % 2 == 0 ? other : at_step(1);
    for (int crash = 0; crash < 2; ++crash) {
      storage.commits_left = 1;
      BOOST_CHECK_THROW(save_checkpoint(storage, folder, after), Error);
      BOOST_TEST(same(*load_latest_checkpoint(storage, folder), before));
    }
    storage.commits_left = 2;
    save_checkpoint(storage, folder, after);
    BOOST_TEST(same(*load_latest_checkpoint(storage, folder), after));
    BOOST_TEST(storage.files.size() == 2u);
  }
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_found) {
  MemoryStorage storage;
  save_checkpoint(storage, folder, of_all_types());
  const std::string manifest = latest_checkpoint(storage, folder).value();
  BOOST_TEST(verify_checkpoint(storage, manifest).empty());
  for (auto& [path, file] : storage.files)
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
      const auto flip = std::byte{1} << (bit % 8);
      file[bit / 8] ^= flip;
      BOOST_CHECK_EXCEPTION(load_latest_checkpoint(storage, folder), Error, is_data_loss);
      BOOST_CHECK(!verify_checkpoint(storage, manifest).empty());
      file[bit / 8] ^= flip;
    }
  BOOST_TEST(load_latest_checkpoint(storage, folder).has_value());
}

BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_is_passed_over_where_one_that_is_whole_will_do) {
  MemoryStorage storage;
  BOOST_TEST(!load_newest_whole_checkpoint(storage, folder).has_value());
  save_checkpoint(storage, folder, at_step(1));
  const auto before = storage.files;
  save_checkpoint(storage, folder, at_step(2));
  BOOST_TEST(same(*load_newest_whole_checkpoint(storage, folder), at_step(2)));
  for (auto& [path, file] : storage.files)
    if (!before.contains(path) && path.ends_with(".safetensors")) file.back() ^= std::byte{1};
  BOOST_TEST(same(*load_newest_whole_checkpoint(storage, folder), at_step(1)));
  for (auto& [path, file] : storage.files)
    if (before.contains(path) && path.ends_with(".safetensors")) file.back() ^= std::byte{1};
  BOOST_CHECK_EXCEPTION(load_newest_whole_checkpoint(storage, folder), Error, is_data_loss);
}

BOOST_AUTO_TEST_CASE(tensors_of_several_blocks_come_back_whole_and_by_rows) {
  MemoryStorage storage;
  std::vector<float> values(700'000);  // 2.7 blocks
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor table = Tensor::of({7000, 100}, values);
  save_checkpoint(storage, folder, {1, {{"table", table}, {"small", Tensor::scalar(1.0f)}}});
  BOOST_TEST(identical(load_latest_checkpoint(storage, folder)->tensors.at("table"), table));

  const Manifest manifest = read_manifest(storage, latest_checkpoint(storage, folder).value());
  for (const auto& [first, rows] : {std::pair{0, 7000}, {0, 1}, {2621, 2}, {2600, 3000}, {6999, 1}}) {
    CheckpointReader reader(storage, folder, manifest, {{"table", first, rows}});
    reader.read_all();
    const Tensor read = reader.take().at(0);
    BOOST_TEST(read.shape().to_string() == Shape({rows, 100}).to_string());
    BOOST_TEST(read.values<float>().front() == values[static_cast<std::size_t>(first) * 100]);
    BOOST_TEST(read.values<float>().back() == values[static_cast<std::size_t>(first + rows) * 100 - 1]);
  }
  BOOST_CHECK_EXCEPTION(CheckpointReader(storage, folder, manifest, {{"table", 6999, 2}}), Error,
                        is_data_loss);
}

BOOST_AUTO_TEST_CASE(only_the_blocks_of_the_rows_are_read) {
  MemoryStorage storage;
  save_checkpoint(storage, folder,
                  {1, {{"table", Tensor::zeros(DType::float32, {7000, 100})}}});
  const Manifest manifest = read_manifest(storage, latest_checkpoint(storage, folder).value());
  storage.files.at(folder + "/step-1.1-of-1.safetensors").back() ^= std::byte{1};  // the last block
  const auto read = [&](std::int64_t first, std::int64_t rows) {
    CheckpointReader reader(storage, folder, manifest, {{"table", first, rows}});
    reader.read_all();
  };
  read(0, 5000);
  BOOST_CHECK_EXCEPTION(read(0, 7000), Error, is_data_loss);
}

BOOST_AUTO_TEST_CASE(slices_that_do_not_make_one_tensor_are_refused) {
  MemoryStorage storage;
  save_checkpoint(storage, folder,
                  {1, {{"a", Tensor::zeros(DType::float32, {2, 3})}, {"b", Tensor::zeros(DType::float32, {2, 4})}}});
  Manifest manifest = read_manifest(storage, latest_checkpoint(storage, folder).value());
  for (std::size_t i = 0; i < 2; ++i) {
    manifest.tensors[i].name = "w";
    manifest.tensors[i].first_row = static_cast<std::int64_t>(2 * i);
    manifest.tensors[i].full_rows = 4;
  }
  BOOST_CHECK_EXCEPTION(CheckpointReader(storage, folder, manifest, {{"w"}}), Error, is_data_loss);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  BOOST_CHECK_EXCEPTION(CheckpointReader(storage, folder, manifest, {{"w", 1, huge}}), Error, is_data_loss);
}

BOOST_AUTO_TEST_CASE(every_truncation_is_found) {
  MemoryStorage storage;
  save_checkpoint(storage, folder, at_step(4));
  for (auto& [path, file] : storage.files) {
    const auto whole = file;
    while (!file.empty()) {
      file.pop_back();
      BOOST_CHECK_EXCEPTION(load_latest_checkpoint(storage, folder), Error, is_data_loss);
    }
    file = whole;
  }
}

BOOST_AUTO_TEST_CASE(a_missing_data_file_is_named) {
  MemoryStorage storage;
  save_checkpoint(storage, folder, at_step(4));
  storage.remove(folder + "/step-4.1-of-1.safetensors");
  BOOST_CHECK_EXCEPTION(load_latest_checkpoint(storage, folder), Error, [](const Error& error) {
    const std::string text = error.what();
    return is_data_loss(error) && text.find("step-4.1-of-1.safetensors") != std::string::npos &&
           text.find("delete " + folder + "/step-4.manifest") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(strings_that_do_not_fit_their_bytes_are_refused) {
  const std::vector<std::byte> bytes(12, std::byte{1});
  BOOST_CHECK_EXCEPTION(unpack_tensor(DType::string, {1}, bytes), Error, is_data_loss);
  BOOST_CHECK_EXCEPTION(unpack_tensor(DType::string, {2}, bytes), Error, is_data_loss);
  BOOST_CHECK_EXCEPTION(unpack_tensor(DType::string, {0}, bytes), Error, is_data_loss);
  BOOST_CHECK_EXCEPTION(unpack_tensor(DType::float32, {2}, bytes), Error, is_data_loss);
}

BOOST_AUTO_TEST_CASE(the_hash_is_of_names_types_and_bytes) {
  const std::map<std::string, Tensor> tensors = of_all_types().tensors;
  const auto hash = hash_of(tensors);
  BOOST_TEST(hash_of(of_all_types().tensors) == hash);
  const auto changed = [&](const std::string& name, Tensor tensor) {
    auto copy = tensors;
    copy[name] = std::move(tensor);
    return hash_of(copy) != hash;
  };
  BOOST_TEST(changed("float32", Tensor::of<float>({2, 1}, {1.5f, -2.0000002f})));
  BOOST_TEST(changed("float32", Tensor::of<float>({1, 2}, {1.5f, -2.0f})));
  BOOST_TEST(changed("int32", Tensor::of<float>({3}, {1, -2, 3})));
  BOOST_TEST(changed("another", Tensor::of<float>({0}, {})));
}

BOOST_AUTO_TEST_CASE(real_files_are_replaced_listed_and_removed) {
  const test::Folder folder;
  const std::string name = folder.path();
  Storage& storage = posix_storage();
  const std::string inner = name + "/new/folder";
  for (const int step : {1, 2}) save_checkpoint(storage, inner, at_step(step), {.max_to_keep = 1});
  BOOST_TEST(same(*load_latest_checkpoint(storage, inner), at_step(2)));
  BOOST_TEST(storage.list(inner).size() == 2u);
  storage.remove(inner + "/none");
  BOOST_TEST(storage.list(name + "/none").empty());
  BOOST_CHECK_EXCEPTION(storage.read(name + "/none"), Error, [&](const Error& error) {
    return error.code() == Code::not_found && std::string(error.what()).find(name) != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made_is_named) {
  BOOST_CHECK_EXCEPTION(save_checkpoint(posix_storage(), "/dev/null/folder", at_step(1)), Error,
                        [](const Error& error) {
                          return std::string(error.what()).find("/dev/null/folder") != std::string::npos;
                        });
}

BOOST_AUTO_TEST_SUITE_END()
