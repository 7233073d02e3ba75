# cmake --install: the programs with their data, the library with its public headers, the schemas that other
# languages read, the licence, and packages for pkg-config and CMake: "actorflow", whose target
# actorflow::actorflow programs link to, and tests actorflow::simulation_test.
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

set(header_list ${CMAKE_CURRENT_LIST_DIR}/public_headers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header_list})
file(STRINGS ${header_list} headers REGEX "^[a-z]")
foreach(header ${headers})
  get_filename_component(room ${header} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${header_folder}/${room})
endforeach()

if(ACTORFLOW_CUDA)
  # Whoever links to the library needs CUDA's runtime and nothing else of CUDA's, so it comes along: NVIDIA's
  # licence permits that (its attachment A names the file).
  set(cudart_folder ${CMAKE_INSTALL_LIBDIR}/actorflow)
  install(FILES ${CUDA_cudart_static_LIBRARY} DESTINATION ${cudart_folder} RENAME libcudart_static.a)
  foreach(library $<INSTALL_PREFIX>/${cudart_folder}/libcudart_static.a rt ${CMAKE_DL_LIBS})
    target_link_libraries(actorflow_kernels INTERFACE $<INSTALL_INTERFACE:${library}>)
  endforeach()
  set(cuda_libraries " -L\${libdir}/actorflow -lcudart_static -lrt")
endif()

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
install(FILES
  ${CMAKE_BINARY_DIR}/actorflowConfig.cmake ${CMAKE_BINARY_DIR}/actorflowConfigVersion.cmake
  ${CMAKE_SOURCE_DIR}/actors/cmake/FindCAF.cmake ${CMAKE_SOURCE_DIR}/schema/cmake/FindISAL.cmake
  ${CMAKE_SOURCE_DIR}/schema/cmake/FindLibCSV.cmake ${CMAKE_SOURCE_DIR}/schema/cmake/FindLZ4.cmake
  ${CMAKE_SOURCE_DIR}/schema/cmake/FindZSTD.cmake
  DESTINATION ${package_folder})

if(ACTORFLOW_APPS)
  # Libraries outside of the system's folders stay where they were found.
  set_target_properties(${ACTORFLOW_PROGRAMS} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${ACTORFLOW_PROGRAMS})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/apps/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/actorflow/data)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/apps/scenarios/ DESTINATION ${CMAKE_INSTALL_DATADIR}/actorflow/scenarios)
endif()
