# cmake --install: the programs with their data, the library with its public headers, and the CMake package
# "actorflow", whose target actorflow::actorflow programs link to, and tests actorflow::simulation.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/actorflow)
set(header_folder ${CMAKE_INSTALL_INCLUDEDIR}/actorflow)

foreach(layer dataflow kernels schema simulation)
  set_target_properties(actorflow_${layer} PROPERTIES EXPORT_NAME ${layer})
endforeach()
target_compile_features(actorflow_dataflow INTERFACE cxx_std_20)
target_include_directories(actorflow_dataflow INTERFACE $<INSTALL_INTERFACE:${header_folder}>)
install(TARGETS actorflow actorflow_simulation actorflow_schema actorflow_kernels actorflow_dataflow EXPORT actorflow)
install(EXPORT actorflow NAMESPACE actorflow:: DESTINATION ${package_folder} FILE actorflowTargets.cmake)

# What actors/actorflow.h reaches. Everything else is internal.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/dataflow DESTINATION ${header_folder} FILES_MATCHING PATTERN *.h)
foreach(header
    actors/actorflow.h actors/checkpoint/checkpoint.h actors/checkpoint/saver.h
    actors/client/dataset_iterator.h actors/client/epoch_fence.h actors/client/queue_runner.h
    actors/client/session.h actors/core/held_state.h actors/events/event_reader.h
    actors/events/event_writer.h actors/events/summaries.h actors/export/onnx_export.h
    actors/input/dataset.h actors/input/rows.h actors/input/stage.h actors/monitored/hook.h
    actors/monitored/hooks.h actors/monitored/monitored_session.h actors/monitored/step_timer.h
    actors/runtime/clock.h actors/runtime/random.h actors/runtime/runtime.h actors/runtime/storage.h
    actors/simulation/fault_plan.h actors/simulation/link_model.h actors/simulation/schedule.h
    actors/simulation/seeds.h actors/simulation/sim_cluster.h actors/simulation/simulation_test.h
    actors/task/server.h kernels/core/crash_report.h kernels/ops.h kernels/ops/embedding.h
    schema/codec/checkpoint_codec.h schema/event.h schema/example.h schema/formats/byte_source.h
    schema/formats/element_reader.h schema/link.h schema/master.h schema/message.h schema/tfrecord.h)
  get_filename_component(layer ${header} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${header_folder}/${layer})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/actorflowConfig.cmake.in
  ${CMAKE_BINARY_DIR}/actorflowConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/actorflowConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_BINARY_DIR}/actorflowConfig.cmake ${CMAKE_BINARY_DIR}/actorflowConfigVersion.cmake
  ${CMAKE_SOURCE_DIR}/actors/cmake/FindCAF.cmake ${CMAKE_SOURCE_DIR}/schema/cmake/FindISAL.cmake
  ${CMAKE_SOURCE_DIR}/schema/cmake/FindLibCSV.cmake
  DESTINATION ${package_folder})

if(ACTORFLOW_APPS)
  # Libraries outside of the system's folders, such as CUDA's, stay where they were found.
  set_target_properties(${ACTORFLOW_PROGRAMS} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${ACTORFLOW_PROGRAMS})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/apps/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/actorflow/data)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/apps/scenarios/ DESTINATION ${CMAKE_INSTALL_DATADIR}/actorflow/scenarios)
endif()
