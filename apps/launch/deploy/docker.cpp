#include <fmt/format.h>

#include "apps/launch/deploy/formats.h"
#include "apps/usage/usage.h"
#include "schema/json_tree.h"

namespace actorflow {

// The first stage is the bare machine of apps/quickstart: the same packages by the same functions. The
// second has the programs and the libraries that they were linked with, of the same release of Debian.
// There is no SHELL: images of the OCI's format, as podman and buildah make them, have none.
std::string dockerfile(const DeployOptions& options, const JobSpec& job) {
  if (!options.credentials.empty())
    throw UsageError("--tls: an image is no place for keys; they come with --to kubernetes or tfjob");
  JsonTree::List command;
  for (const auto& word : job.command) command.emplace_back(word);
  return fmt::format(R"(# Written by actorflow launch --to docker. In the folder of Actorflow's sources:
#   docker build --file DOCKERFILE --tag IMAGE .
# or podman build, or buildah build, with the same words.
FROM debian:12 AS build
WORKDIR /source
COPY apps/setup apps/packages apps/
RUN bash -euo pipefail -c 'top=$PWD; source apps/setup; install_packages'
COPY CMakeLists.txt CMakePresets.json ./
COPY test/simulation/planted/Patches.cmake test/simulation/planted/
COPY dataflow dataflow
COPY kernels kernels
COPY schema schema
COPY actors actors
COPY apps apps
RUN cmake --preset release -DACTORFLOW_CUDA=OFF -DACTORFLOW_TESTS=OFF -DACTORFLOW_BENCH=OFF
RUN cmake --build --preset release --target programs
RUN bash -euo pipefail -c 'mkdir -p /image/bin /image/lib /image/share/actorflow; \
  cp build/bin/* /image/bin/; cp -r apps/data /image/share/actorflow/data; \
  ldd build/bin/* | sed -n "s,.*=> \(/[^ ]*\).*,\1,p" | grep -v -E "/(ld-linux|lib(c|m|dl|rt|pthread)\.).*" | \
  sort -u | xargs cp --dereference --target-directory /image/lib'

FROM debian:12-slim
COPY --from=build /image /opt/actorflow
ENV PATH=/opt/actorflow/bin:$PATH LD_LIBRARY_PATH=/opt/actorflow/lib
WORKDIR /opt/actorflow
CMD {}
)",
                     JsonTree(std::move(command)).to_string());
}

}  // namespace actorflow
