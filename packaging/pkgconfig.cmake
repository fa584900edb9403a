# What pkg-config knows: the headers by which a program talks to the runtime, and each library of HearthConfig.cmake.
#
#   hearth_pkgconfig(NAME DESCRIPTION LIBS REQUIRES [CFLAGS])
function(hearth_pkgconfig name description libs requires)
  set(cflags ${ARGN})
  configure_file(${PROJECT_SOURCE_DIR}/packaging/hearth.pc.in pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT dev)
endfunction()

hearth_pkgconfig(hearth "scopes, allocators and types for the heap profiler; headers only" "" "")
hearth_pkgconfig(hearth-profile "reading, writing and merging heap profiles" "-lhearth_profile -lpthread -lm" "")
hearth_pkgconfig(hearth-index "making heap profiles" "-lhearth_index" "hearth-profile libelf libzstd zlib")
hearth_pkgconfig(hearth-view "showing and comparing heap profiles" "-lhearth_view -lsupc++ -liberty -lm" "hearth-index")
hearth_pkgconfig(hearth-md "heap-profile metadata in LLVM IR" "-lhearth_md" "" "-I${LLVM_INCLUDE_DIRS}")
