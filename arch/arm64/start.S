/*
 * Entry of hwcap-exec and its way out, arm64.
 *
 * No libc start-up: nothing is registered with the kernel (thread pointer,
 * robust list, rseq, tid address), so there is nothing to take back.
 */
	.globl _start
	.hidden hwcap_exec_main
	.type _start, %function
	.text
_start:
	mov x29, #0
	mov x30, #0
	mov x0, sp
	bl hwcap_exec_main
	brk #0
	.size _start, . - _start

/*
 * void arch_leave(const struct arch_leave *how): see arch.h. May run from a
 * copy, hence no absolute or relative reference to anything outside. The
 * last jump is by ret: it alone needs no landing pad in a guarded page (Arm
 * ARM, D8.4.5).
 */
	.globl arch_leave, arch_leave_end
	.hidden arch_leave, arch_leave_end
	.type arch_leave, %function
	.balign 16
arch_leave:
	mov x19, x0
	ldp x0, x1, [x19]
	cbz x1, 1f
	mov x8, #215			// munmap
	svc #0
	cbnz x0, 9f
1:	ldp x2, x3, [x19, #16]
	cbz x3, 2f
	mov x0, #35			// PR_SET_MM
	mov x1, #14			// PR_SET_MM_MAP
	mov x4, #0
	mov x8, #167			// prctl
	svc #0
	cbnz x0, 9f
2:	ldr x0, [x19, #32]
	tbnz x0, #63, 3f
	mov x8, #57			// close
	svc #0
3:	ldp x16, x2, [x19, #56]
	ldp x30, x3, [x19, #72]
	mov sp, x2
	cbz x3, 4f
	hint #25			// paciasp
4:	ldp x0, x1, [x19, #40]
	mov x8, #215			// munmap
	.irp n, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
	mov x\n, #0
	.endr
	msr nzcv, xzr
	ret x16
9:	mov x8, #172			// getpid
	svc #0
	mov x1, #9
	mov x8, #129			// kill
	svc #0
	b 9b
arch_leave_end:
	.size arch_leave, . - arch_leave
	.section .note.GNU-stack, "", %progbits
