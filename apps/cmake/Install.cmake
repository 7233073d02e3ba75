# cmake --install: the programs with their data, the library with its public headers, the schemas that other
# languages read, the licence, and packages for pkg-config and CMake: "actorflow", whose target
# actorflow::actorflow programs link to, and tests actorflow::simulation_test.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/actorflow)
set(header_folder ${CMAKE_INSTALL_INCLUDEDIR}/actorflow)

# The layers as one shared library, so that a program of others links in a moment, is small, and needs nothing of
# what we need. Our own programs are static: a copied one runs.
set(layers actorflow_dataflow actorflow_kernels actorflow_schema actorflow)
list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(actorflow_shared SHARED ${objects})
# The archives add nothing to their objects, but say what these need.
target_link_libraries(actorflow_shared PRIVATE ${layers})
target_link_options(actorflow_shared PRIVATE -Wl,-Bsymbolic-functions)  # calls within the library stay there
target_compile_features(actorflow_shared INTERFACE cxx_std_20)
target_include_directories(actorflow_shared INTERFACE $<INSTALL_INTERFACE:${header_folder}>)
# What tests link to besides: a library of its own, so that programs do not carry it.
# The functions that watch for escapes stand before those of the C library, since tests name this library first.
add_library(actorflow_simulation_shared SHARED
  $<TARGET_OBJECTS:actorflow_simulation> $<TARGET_OBJECTS:actorflow_escape_watch>)
target_link_libraries(actorflow_simulation_shared
  PUBLIC actorflow_shared PRIVATE CAF::core spdlog::spdlog fmt::fmt ${CMAKE_DL_LIBS})
set_target_properties(actorflow_shared PROPERTIES OUTPUT_NAME actorflow EXPORT_NAME actorflow)
set_target_properties(actorflow_simulation_shared PROPERTIES OUTPUT_NAME actorflow_simulation EXPORT_NAME simulation
  INSTALL_RPATH "$ORIGIN")
# Libraries outside of the system's folders stay where they were found.
set_target_properties(actorflow_shared actorflow_simulation_shared PROPERTIES LINKER_LANGUAGE CXX
  INSTALL_RPATH_USE_LINK_PATH ON
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS actorflow_shared actorflow_simulation_shared EXPORT actorflow)
install(EXPORT actorflow NAMESPACE actorflow:: DESTINATION ${package_folder} FILE actorflowTargets.cmake)

foreach(kind public implementation)
  set(header_list ${CMAKE_CURRENT_LIST_DIR}/${kind}_headers.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header_list})
  file(STRINGS ${header_list} headers REGEX "^[a-z]")
  list(REMOVE_ITEM headers dataflow/values/same_build.h)
  list(TRANSFORM headers PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  list(APPEND installed_headers ${paths})
  foreach(header ${headers})
    get_filename_component(room ${header} DIRECTORY)
    install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${header_folder}/${room})
  endforeach()
endforeach()

# Headers and library of different builds do not link: their types may differ.
set(same_build ${CMAKE_BINARY_DIR}/same_build)
add_custom_command(OUTPUT ${same_build}/same_build.h ${same_build}/same_build.cpp
  COMMAND ${CMAKE_COMMAND} -D FOLDER=${CMAKE_SOURCE_DIR} -D OUTPUT=${same_build}
    -D "OPTIONS=version ${PROJECT_VERSION}, CUDA ${ACTORFLOW_CUDA}, sanitizers '${ACTORFLOW_SANITIZE}'"
    -P ${CMAKE_CURRENT_LIST_DIR}/SameBuild.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/SameBuild.cmake ${CMAKE_CURRENT_LIST_DIR}/same_build.h.in ${installed_headers}
  VERBATIM)
target_sources(actorflow_shared PRIVATE ${same_build}/same_build.cpp)
install(FILES ${same_build}/same_build.h DESTINATION ${header_folder}/dataflow/values)

file(GLOB schemas CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schema/*.capnp)
install(FILES ${schemas} DESTINATION ${header_folder}/schema)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
string(REGEX REPLACE "[^/]+" ".." prefix_from_pc ${pc_folder})
foreach(package actorflow actorflow-simulation)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in ${CMAKE_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${package}.pc DESTINATION ${pc_folder})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/actorflowConfig.cmake.in
  ${CMAKE_BINARY_DIR}/actorflowConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/actorflowConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/actorflowConfig.cmake ${CMAKE_BINARY_DIR}/actorflowConfigVersion.cmake
  DESTINATION ${package_folder})

if(ACTORFLOW_APPS)
  add_dependencies(programs actorflow_shared actorflow_simulation_shared)  # all that is installed
  if(TARGET actorflow_parquet)
    add_dependencies(programs actorflow_parquet)
  endif()
  set_target_properties(${ACTORFLOW_PROGRAMS} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${ACTORFLOW_PROGRAMS})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/apps/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/actorflow/data)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/apps/scenarios/ DESTINATION ${CMAKE_INSTALL_DATADIR}/actorflow/scenarios)
endif()
