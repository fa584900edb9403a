# Before packages are made of the staged files: archives without debug information, which CPack leaves alone.
file(GLOB_RECURSE archives ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.a)
if(archives)
  execute_process(COMMAND strip --strip-debug --remove-section=.comment --enable-deterministic-archives ${archives}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
