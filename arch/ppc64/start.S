/*
 * Entry of hwcap-exec and its way out, ppc64 (ELFv2, either byte order).
 *
 * No libc start-up: nothing is registered with the kernel (thread pointer,
 * robust list, rseq, tid address), so there is nothing to take back. r12 has
 * our own address, from which r2 comes, as the ABI wants it.
 */
	.abiversion 2
	.globl _start
	.hidden hwcap_exec_main
	.type _start, @function
	.section .text, "ax", @progbits
_start:
	addis 2, 12, .TOC. - _start@ha
	addi 2, 2, .TOC. - _start@l
	/* An ELFv1 copy's descriptor leads here (abi.c). */
	.globl arch_start_with_toc
	.hidden arch_start_with_toc
arch_start_with_toc:
	mr 3, 1
	clrrdi 1, 1, 4
	li 0, 0
	stdu 0, -32(1)
	mtlr 0
	bl hwcap_exec_main
	nop
	trap
	.size _start, . - _start

/*
 * void arch_leave(const struct arch_leave *how): see arch.h. May run from a
 * copy, hence no absolute or relative reference to anything outside, nor to
 * the TOC.
 */
	.globl arch_leave, arch_leave_end
	.hidden arch_leave, arch_leave_end
	.type arch_leave, @function
	.balign 16
arch_leave:
	mr 31, 3
	ld 4, 8(31)
	cmpdi 4, 0
	beq 1f
	ld 3, 0(31)
	li 0, 91			# munmap
	sc
	bso 9f
1:	ld 6, 24(31)
	cmpdi 6, 0
	beq 2f
	li 3, 35			# PR_SET_MM
	li 4, 14			# PR_SET_MM_MAP
	ld 5, 16(31)
	li 7, 0
	li 0, 171			# prctl
	sc
	bso 9f
2:	ld 3, 32(31)
	cmpdi 3, 0
	blt 3f
	li 0, 6				# close
	sc
3:	ld 3, 40(31)
	ld 4, 48(31)
	ld 5, 56(31)
	ld 1, 64(31)
	ld 6, 72(31)
	mtctr 5
	mtlr 6
	li 0, 91			# munmap
	bctr
9:	li 0, 20			# getpid
	sc
	li 4, 9
	li 0, 37			# kill
	sc
	b 9b
	.size arch_leave, . - arch_leave
	.type arch_leave_end, @object
arch_leave_end:
	.section .note.GNU-stack, "", @progbits
