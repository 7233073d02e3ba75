# patches/PATH.patch plants bugs into a copy of the source PATH, of which test_planted is built. These sources are
# ACTORFLOW_REPLACED_SOURCES.
set(ACTORFLOW_PLANTED_FOLDER ${CMAKE_CURRENT_LIST_DIR})
file(GLOB_RECURSE ACTORFLOW_REPLACED_SOURCES RELATIVE ${ACTORFLOW_PLANTED_FOLDER}/patches
  CONFIGURE_DEPENDS ${ACTORFLOW_PLANTED_FOLDER}/patches/*.patch)
list(TRANSFORM ACTORFLOW_REPLACED_SOURCES REPLACE "\\.patch$" "")
foreach(source ${ACTORFLOW_REPLACED_SOURCES})
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${source})
    message(FATAL_ERROR "${ACTORFLOW_PLANTED_FOLDER}/patches/${source}.patch is for ${source}, which is not there: "
      "move the patch to the path of the source that has its bugs now, or remove it")
  endif()
endforeach()

# Writes the copies below `folder` and adds them to the sources of `target`.
function(actorflow_plant_bugs target folder)
  find_program(ACTORFLOW_PATCH patch REQUIRED)
  foreach(source ${ACTORFLOW_REPLACED_SOURCES})
    set(patch ${ACTORFLOW_PLANTED_FOLDER}/patches/${source}.patch)
    add_custom_command(OUTPUT ${folder}/${source}
      COMMAND ${ACTORFLOW_PLANTED_FOLDER}/apply ${source} ${folder}/${source}
      DEPENDS ${CMAKE_SOURCE_DIR}/${source} ${patch} ${ACTORFLOW_PLANTED_FOLDER}/apply
      COMMENT "Planting bugs into ${source}" VERBATIM)
    target_sources(${target} PRIVATE ${folder}/${source})
  endforeach()
endfunction()
