# Entry of hwcap-exec and its way out, x86_64.
#
# No libc start-up: nothing is registered with the kernel (thread pointer,
# robust list, rseq, tid address), so there is nothing to take back.

	.globl _start
	.hidden hwcap_exec_main
	.type _start, @function
	.text
_start:
	xor %ebp, %ebp
	mov %rsp, %rdi
	and $-16, %rsp
	call hwcap_exec_main
	hlt

# void arch_leave(const struct arch_leave *how): see arch.h. May run from a
# copy, hence no absolute or relative reference to anything outside.
# Registers at the end as ELF_PLAT_INIT and start_thread leave them
# (arch/x86/include/asm/elf.h): zero, but for the stack pointer.
	.globl arch_leave, arch_leave_end
	.hidden arch_leave, arch_leave_end
	.type arch_leave, @function
	.balign 16
arch_leave:
	mov %rdi, %rbx
	mov 8(%rbx), %rsi
	test %rsi, %rsi
	jz 1f
	mov 0(%rbx), %rdi
	mov $11, %eax			# munmap
	syscall
	test %rax, %rax
	jnz 9f
1:	mov 24(%rbx), %r10
	test %r10, %r10
	jz 2f
	mov $157, %eax			# prctl
	mov $35, %edi			# PR_SET_MM
	mov $14, %esi			# PR_SET_MM_MAP
	mov 16(%rbx), %rdx
	xor %r8d, %r8d
	syscall
	test %rax, %rax
	jnz 9f
2:	mov 32(%rbx), %rdi
	test %rdi, %rdi
	js 3f
	mov $3, %eax			# close
	syscall
3:	mov 40(%rbx), %rdi
	mov 48(%rbx), %rsi
	mov 56(%rbx), %rcx
	mov 64(%rbx), %rsp
	mov 72(%rbx), %edx
	mov $11, %eax			# munmap
	test %edx, %edx
	jz 4f
	mov $10, %eax			# mprotect
4:
	xor %ebx, %ebx
	xor %ebp, %ebp
	xor %r8d, %r8d
	xor %r9d, %r9d
	xor %r10d, %r10d
	xor %r11d, %r11d
	xor %r12d, %r12d
	xor %r13d, %r13d
	xor %r14d, %r14d
	xor %r15d, %r15d
	cmp $9, %eax			# clears every arithmetic flag (10 or 11, - 9)
	jmp *%rcx
9:	mov 80(%rbx), %rsi
	mov 88(%rbx), %rdx
	test %rdx, %rdx
	jz 5f
	mov $1, %eax			# write
	mov $2, %edi
	syscall
	mov $231, %eax			# exit_group
	mov $126, %edi
	syscall
5:	mov $39, %eax			# getpid
	syscall
	mov %eax, %edi
	mov $9, %esi
	mov $62, %eax			# kill
	syscall
	jmp 5b
arch_leave_end:
	.size arch_leave, . - arch_leave
	.section .note.GNU-stack, "", @progbits
