/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program that needs LLVM. */
#ifndef HEARTH_IR_PROGRAM_H
#define HEARTH_IR_PROGRAM_H

/* Become `hearth-ir`, the program that needs LLVM, with these arguments (argv[0] is replaced, NULL-terminated). Returns
 * the exit code if that is not possible. */
int hearth_tool_run_ir(char **argv);

#endif
