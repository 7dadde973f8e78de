/* A program that must not run: its interpreter reports instead of it. */
	.globl _start
_start:
	udf #0
	.section .note.GNU-stack, "", %progbits
