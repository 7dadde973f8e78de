/*
 * Entry of hwcap-exec and its way out, riscv.
 *
 * No libc start-up: nothing is registered with the kernel (thread pointer,
 * robust list, rseq, tid address), so there is nothing to take back. Nothing
 * here is relaxed against gp, which stays as the kernel left it.
 */
	.option norelax
	.globl _start
	.hidden hwcap_exec_main
	.type _start, @function
	.text
_start:
	li s0, 0
	li ra, 0
	mv a0, sp
	call hwcap_exec_main
	unimp
	.size _start, . - _start

/*
 * void arch_leave(const struct arch_leave *how): see arch.h. May run from a
 * copy, hence no absolute or relative reference to anything outside. The last
 * jump is through t2 (x7), which landing pads leave alone (RISC-V CFI,
 * Zicfilp: software-guarded branches).
 */
	.globl arch_leave, arch_leave_end
	.hidden arch_leave, arch_leave_end
	.type arch_leave, @function
	.balign 16
arch_leave:
	mv s1, a0
	ld a1, 8(s1)
	beqz a1, 1f
	ld a0, 0(s1)
	li a7, 215			# munmap
	ecall
	bnez a0, 9f
1:	ld a3, 24(s1)
	beqz a3, 2f
	li a0, 35			# PR_SET_MM
	li a1, 14			# PR_SET_MM_MAP
	ld a2, 16(s1)
	li a4, 0
	li a7, 167			# prctl
	ecall
	bnez a0, 9f
2:	ld a0, 32(s1)
	bltz a0, 3f
	li a7, 57			# close
	ecall
3:	ld a0, 40(s1)
	ld a1, 48(s1)
	ld t2, 56(s1)
	ld sp, 64(s1)
	ld ra, 72(s1)
	li a7, 215			# munmap
	.irp n, 3, 4, 5, 6, 8, 9, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	li x\n, 0
	.endr
	jr t2
9:	li a7, 172			# getpid
	ecall
	li a1, 9
	li a7, 129			# kill
	ecall
	j 9b
arch_leave_end:
	.size arch_leave, . - arch_leave
	.section .note.GNU-stack, "", @progbits
