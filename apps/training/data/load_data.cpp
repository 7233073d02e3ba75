#include "apps/training/data/load_data.h"

#include <fmt/format.h>

#include <filesystem>

#include "apps/training/data/images.h"
#include "apps/training/data/table.h"
#include "apps/training/data/text.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// A name of the project's own files is known without a path.
std::string own_data(const std::string& path) {
  if (path == "iris.csv") return "the project's own table is named iris; ";
  if (path == "shakespeare.txt" || path == "shakespeare.txt.gz")
    return "the project's own text is named shakespeare; ";
  return "";
}

}  // namespace

LabelledData load_data(const std::string& path, std::int64_t block) {
  const auto is_a = [&path](const std::string& ending) {
    return path.ends_with(ending) || path.ends_with(ending + ".gz");
  };
  const bool is_there = std::filesystem::exists(path) || std::filesystem::exists(path + ".gz"),
             is_table = is_a(".csv"), is_text = is_a(".txt");
  if (std::filesystem::is_directory(path)) return labelled(load_images(path));
  if (is_there && is_table) return load_table(path);
  if (is_there && is_text) return load_text_blocks(path, block);
  const bool may_be_cifar10 =
      path.find("cifar") != std::string::npos || !(is_there || is_table || is_text);
  throw Error(
      Code::not_found,
      fmt::format("{}: expected a folder of images, a table *.csv or a text *.txt, {}; {}{}name one",
                  path, is_there ? "got another file" : "but nothing is there", own_data(path),
                  may_be_cifar10 ? "for CIFAR-10, " + how_to_get_cifar10() + "; " : ""));
}

LabelledData load_data_of_flags(const std::string& path, const std::string& flags, std::int64_t block) {
  try {
    return load_data(path, block);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    throw Error(error.code(), fmt::format("{} with {}", error.what(), flags));
  }
}

}  // namespace actorflow
