/* A program that must not run: its interpreter reports instead of it. */
#if _CALL_ELF == 2
	.abiversion 2
#endif
	.globl _start
_start:
	trap
	trap
	trap
	trap
	.section .note.GNU-stack, "", @progbits
