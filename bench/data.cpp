#include "bench/data.h"

#include "apps/cli/data_folder.h"

namespace actorflow::bench {

const Mnist& mnist() {
  static const Mnist data = load_mnist(default_data_folder());
  return data;
}

}  // namespace actorflow::bench
