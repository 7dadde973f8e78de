/*
 * arch_trace.h (riscv) - registers of a traced thread, and calls made by it
 *
 * Not written yet; see that of x86_64.
 */
#include "../arch_trace_none.h"
