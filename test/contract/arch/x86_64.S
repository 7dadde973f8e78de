/*
 * probe_start - the probe's entry point, before any C library's
 *
 * Saves the registers as the kernel (or ld.so) handed them over, then goes on
 * to the real _start with all of them restored. With PROBE_BARE there is no
 * _start: it counts what is left below the stack pointer, which natively is
 * untouched memory, and calls the probe.
 */
#include "x86_64.h"

	.section .bss
	.balign 16
	.globl probe_entry
	.hidden probe_entry
	.type probe_entry, @object
probe_entry:
	.skip 16 + 8 * PROBE_REGISTERS + 40 + 512
	.balign 16
	.size probe_entry, . - probe_entry

	.set REG, probe_entry + 16
	.set FX, probe_entry + 16 + 8 * PROBE_REGISTERS + 40

	.text
	.globl probe_start
	.hidden probe_start
	.type probe_start, @function
probe_start:
	mov %rsp, probe_entry(%rip)
	mov %rax, REG + 0(%rip)
	mov %rbx, REG + 8(%rip)
	mov %rcx, REG + 16(%rip)
	mov %rdx, REG + 24(%rip)
	mov %rsi, REG + 32(%rip)
	mov %rdi, REG + 40(%rip)
	mov %rbp, REG + 48(%rip)
	mov %r8, REG + 56(%rip)
	mov %r9, REG + 64(%rip)
	mov %r10, REG + 72(%rip)
	mov %r11, REG + 80(%rip)
	mov %r12, REG + 88(%rip)
	mov %r13, REG + 96(%rip)
	mov %r14, REG + 104(%rip)
	mov %r15, REG + 112(%rip)
	pushfq
	popq REG + 120(%rip)
	movw %cs, REG + 128(%rip)
	movw %ss, REG + 130(%rip)
	movw %ds, REG + 132(%rip)
	movw %fs, REG + 134(%rip)
	fxsave FX(%rip)
#ifdef PROBE_BARE
	lea -16(%rsp), %rdi
	mov $8190, %ecx
	xor %eax, %eax
1:	cmpq $0, (%rdi)
	je 2f
	inc %rax
2:	sub $8, %rdi
	dec %ecx
	jnz 1b
	mov %rax, probe_entry + 8(%rip)
	mov %rsp, %rdi
	xor %ebp, %ebp
	and $-16, %rsp
	call probe_main
	mov %eax, %edi
	mov $231, %eax
	syscall
	hlt
#else
	pushq REG + 120(%rip)
	popfq
	jmp _start
#endif
	.size probe_start, . - probe_start
	.section .note.GNU-stack, "", @progbits
