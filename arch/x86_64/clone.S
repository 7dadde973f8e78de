# long arch_clone(flags, stack, parent_tid, child_tid, fn, arg): arch_trace.h.
	.globl arch_clone
	.hidden arch_clone
	.type arch_clone, @function
	.text
arch_clone:
	and $-16, %rsi
	sub $16, %rsi
	mov %r8, (%rsi)
	mov %r9, 8(%rsi)
	mov %rcx, %r10
	xor %r8d, %r8d
	mov $56, %eax			# clone
	syscall
	test %eax, %eax
	jz 1f
	cltq
	ret
1:	xor %ebp, %ebp
	pop %rax
	pop %rdi
	call *%rax
	hlt
	.size arch_clone, . - arch_clone
	.section .note.GNU-stack, "", @progbits
