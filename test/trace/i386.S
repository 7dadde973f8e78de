# A 32-bit program: exits with the low byte of AT_HWCAP in its vector, or with
# 255 if that of /proc/self/auxv is another one.
	.globl _start
	.text
_start:
	mov (%esp), %ecx
	lea 8(%esp,%ecx,4), %esi	# behind argv
1:	lodsl
	test %eax, %eax
	jnz 1b
	mov %esi, %edi
	call find
	mov %eax, %ebp
	mov $5, %eax			# open
	mov $name, %ebx
	xor %ecx, %ecx
	int $0x80
	mov %eax, %ebx
	sub $1024, %esp
	mov $3, %eax			# read
	mov %esp, %ecx
	mov $1024, %edx
	int $0x80
	mov %esp, %edi
	call find
	cmp %eax, %ebp
	je 2f
	mov $255, %ebp
2:	mov $1, %eax			# exit
	mov %ebp, %ebx
	and $255, %ebx
	int $0x80
find:	mov (%edi), %eax
	cmp $16, %eax
	je 3f
	add $8, %edi
	jmp find
3:	mov 4(%edi), %eax
	ret
	.section .rodata
name:	.asciz "/proc/self/auxv"
