// CSV files. The first bytes choose delimiter, header, what counts as missing, and the columns.
#include "test/fuzz/support/data_file.h"

using namespace actorflow;

namespace {

CsvOptions options_of(fuzz::Input& file) {
  CsvOptions options;
  const auto choice = fuzz::take<std::uint8_t>(file);
  options.header = choice % 2 != 0;
  options.delimiter = ",;\t|"[choice / 2 % 4];
  if (choice & 128) options.na_values = {"NA"};
  const auto components = choice / 8 % 4;
  for (int i = 0; i <= components; ++i) {
    const auto what = fuzz::take<std::uint8_t>(file);
    const int dtype = 1 + what % static_cast<int>(DType::int16);
    CsvComponent& component = options.components.emplace_back();
    component = {static_cast<DType>(dtype), what / 8 % 8, what / 64};
    if (choice & 32) component.default_value = "1";
    if (choice & 64) component.column = std::string(1, static_cast<char>('a' + what / 8 % 8));
  }
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = fuzz::input(data, size);
  const CsvOptions options = options_of(file);
  fuzz::read_all(file, [&](SourceRef source) { return read_csv(std::move(source), options); });
  return 0;
}
