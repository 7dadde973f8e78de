/* long arch_clone(flags, stack, parent_tid, child_tid, fn, arg): arch_trace.h. */
	.option norelax
	.globl arch_clone
	.hidden arch_clone
	.type arch_clone, @function
	.text
arch_clone:
	andi a1, a1, -16
	addi a1, a1, -16
	sd a4, 0(a1)
	sd a5, 8(a1)
	mv a4, a3			# child_tid
	li a3, 0
	li a7, 220			# clone
	ecall
	beqz a0, 1f
	ret
1:	li s0, 0
	li ra, 0
	ld t2, 0(sp)
	ld a0, 8(sp)
	addi sp, sp, 16
	jalr t2				# t2: see arch_leave
	unimp
	.size arch_clone, . - arch_clone
	.section .note.GNU-stack, "", @progbits
