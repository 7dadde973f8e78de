/* long arch_clone(flags, stack, parent_tid, child_tid, fn, arg): arch_trace.h. */
	.abiversion 2
	.globl arch_clone
	.hidden arch_clone
	.type arch_clone, @function
	.section .text, "ax", @progbits
arch_clone:
	clrrdi 4, 4, 4
	std 7, -16(4)
	std 8, -8(4)
	addi 4, 4, -16
	mr 7, 6				# child_tid
	li 6, 0
	li 0, 120			# clone
	sc
	bns 1f
	neg 3, 3
	blr
1:	cmpdi 3, 0
	bnelr
	ld 12, 0(1)
	ld 3, 8(1)
	li 0, 0
	stdu 0, -32(1)
	mtlr 0
	mtctr 12
	bctrl
	trap
	.size arch_clone, . - arch_clone
	.section .note.GNU-stack, "", @progbits
