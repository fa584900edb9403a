/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's needs from the processor: a port must supply all of them, in a header (machine_*.h) of its own
 * and a section of kernel.h. Nothing else in the runtime names a processor, but for stacks/, where the rules of call
 * frame information are those of x86-64.
 *
 *   hearth_os_thread_pointer()    differs for each thread; early. The thread's part of its stack lies below it
 *   hearth_os_ticks()             a counter that goes on evenly on all processors; only if hearth_os_has_ticks() (os.h)
 *   hearth_os_pause()             for loops that wait for another thread
 *   hearth_os_call(N, 6 arguments) a system call; its result, below 0 a negated error number
 *   hearth_code_address(address)  a return address as it was stored, without what protects it
 *   hearth_frame_callers_part(frame, caller)
 *                                 where the part of the stack begins that belongs to the caller of the function with this
 *                                 frame, as far as the frame's two words tell
 *   HEARTH_ROOT_OF_CALLED         what that is, or is below, for the functions that the present one calls
 *   HEARTH_ROOT_OF_THIS           ... and for those that its caller calls
 *
 * Text of assembly, for entry points:
 *   HEARTH_CHOOSE_AND_JUMP(CHOOSE, FIRST)  calls CHOOSE, keeps the arguments, and jumps to the function that this returned,
 *                                 with the address of FIRST for the first argument */
#ifndef HEARTH_RUNTIME_MACHINE_H
#define HEARTH_RUNTIME_MACHINE_H

#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#include "machine_x86_64.h"
#elif defined(__aarch64__)
#include "machine_aarch64.h"
#else
#error "this processor is not supported"
#endif

#endif
