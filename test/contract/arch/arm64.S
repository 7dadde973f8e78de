/*
 * probe_start - the probe's entry point, before any C library's
 *
 * Saves the registers as the kernel (or ld.so) handed them over, then goes on
 * to the real _start with all of them restored. With PROBE_BARE there is no
 * _start: it counts what is left below the stack pointer, which natively is
 * untouched memory, and calls the probe.
 */
#include "arm64.h"

	.section .bss
	.balign 16
	.globl probe_entry
	.hidden probe_entry
	.type probe_entry, %object
probe_entry:
	.skip PROBE_FX + 512
	.size probe_entry, . - probe_entry

	.text
	.globl probe_start
	.hidden probe_start
	.type probe_start, %function
probe_start:
	hint #34			// bti c
	fmov d31, x16
	adrp x16, probe_entry
	add x16, x16, :lo12:probe_entry
	stp x0, x1, [x16, #16]
	stp x2, x3, [x16, #32]
	stp x4, x5, [x16, #48]
	stp x6, x7, [x16, #64]
	stp x8, x9, [x16, #80]
	stp x10, x11, [x16, #96]
	stp x12, x13, [x16, #112]
	stp x14, x15, [x16, #128]
	fmov x15, d31
	stp x15, x17, [x16, #144]
	stp x18, x19, [x16, #160]
	stp x20, x21, [x16, #176]
	stp x22, x23, [x16, #192]
	stp x24, x25, [x16, #208]
	stp x26, x27, [x16, #224]
	stp x28, x29, [x16, #240]
	mrs x15, nzcv
	stp x30, x15, [x16, #256]
	mrs x15, tpidr_el0
	str x15, [x16, #272]
	mov x15, sp
	str x15, [x16]
	add x15, x16, #PROBE_FX
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	str q\n, [x15], #16
	.endr
#ifdef PROBE_BARE
	mov x0, sp
	sub x1, x0, #16
	mov x2, #8190
	mov x3, #0
1:	ldr x4, [x1], #-8
	cmp x4, #0
	cinc x3, x3, ne
	subs x2, x2, #1
	b.ne 1b
	str x3, [x16, #8]
	mov x29, #0
	bl probe_main
	mov x8, #94			// exit_group
	svc #0
	brk #0
#else
	ldp x14, x15, [x16, #128]
	fmov x16, d31
	b _start
#endif
	.size probe_start, . - probe_start
	.section .note.GNU-stack, "", %progbits
