/*
 * probe_start - the probe's entry point, before any C library's
 *
 * Saves the registers as the kernel (or ld.so) handed them over, but for ctr,
 * then goes on to the real _start. With PROBE_BARE there is no _start: it
 * counts what is left below the stack pointer, which natively is untouched
 * memory, and calls the probe.
 */
#include "ppc64.h"

	.section .bss
	.balign 16
	.globl probe_entry
	.hidden probe_entry
	.type probe_entry, @object
probe_entry:
	.skip PROBE_FX + 512
	.size probe_entry, . - probe_entry

#if _CALL_ELF == 2
	.abiversion 2
	.section .text, "ax", @progbits
	.globl probe_start
	.type probe_start, @function
probe_start:
#else
	.section .opd, "aw"
	.balign 8
	.globl probe_start
	.type probe_start, @function
probe_start:
	.quad .Lprobe_start, .TOC.@tocbase, 0
	.section .text, "ax", @progbits
.Lprobe_start:
#endif
	/* r11 goes to ctr, lr to vrsave, of which 32 bits exist. */
	mtctr 11
	mflr 11
	mtspr 256, 11
	bcl 20, 31, 1f
1:	mflr 11
	addis 11, 11, (probe_entry - 1b)@ha
	addi 11, 11, (probe_entry - 1b)@l
	std 0, 16(11)
	std 2, 24(11)
	std 3, 32(11)
	std 4, 40(11)
	std 5, 48(11)
	std 6, 56(11)
	std 7, 64(11)
	std 8, 72(11)
	std 9, 80(11)
	std 10, 88(11)
	std 12, 104(11)
	std 13, 112(11)
	std 14, 120(11)
	std 15, 128(11)
	std 16, 136(11)
	std 17, 144(11)
	std 18, 152(11)
	std 19, 160(11)
	std 20, 168(11)
	std 21, 176(11)
	std 22, 184(11)
	std 23, 192(11)
	std 24, 200(11)
	std 25, 208(11)
	std 26, 216(11)
	std 27, 224(11)
	std 28, 232(11)
	std 29, 240(11)
	std 30, 248(11)
	std 31, 256(11)
	mfctr 12
	std 12, 96(11)
	mfspr 12, 256
	std 12, 264(11)
	mfxer 12
	std 12, 272(11)
	mfcr 12
	std 12, 280(11)
	/* glibc's ld.so gives argv in r4, and a frame with a back chain, which is
	 * no argument count, at r1. */
	mr 12, 1
	ld 12, 0(1)
	addi 12, 12, -1
	srdi. 12, 12, 32
	mr 12, 1
	beq 2f
	addi 12, 4, -8
2:	std 12, 0(11)
	li 12, 0
	mtspr 256, 12
	stfd 0, 288(11)
	stfd 1, 296(11)
	stfd 2, 304(11)
	stfd 3, 312(11)
	stfd 4, 320(11)
	stfd 5, 328(11)
	stfd 6, 336(11)
	stfd 7, 344(11)
	stfd 8, 352(11)
	stfd 9, 360(11)
	stfd 10, 368(11)
	stfd 11, 376(11)
	stfd 12, 384(11)
	stfd 13, 392(11)
	stfd 14, 400(11)
	stfd 15, 408(11)
	stfd 16, 416(11)
	stfd 17, 424(11)
	stfd 18, 432(11)
	stfd 19, 440(11)
	stfd 20, 448(11)
	stfd 21, 456(11)
	stfd 22, 464(11)
	stfd 23, 472(11)
	stfd 24, 480(11)
	stfd 25, 488(11)
	stfd 26, 496(11)
	stfd 27, 504(11)
	stfd 28, 512(11)
	stfd 29, 520(11)
	stfd 30, 528(11)
	stfd 31, 536(11)
#ifdef PROBE_BARE
	addi 4, 1, -16
	li 5, 8190
	mtctr 5
	li 6, 0
4:	ld 7, 0(4)
	cmpdi 7, 0
	beq 3f
	addi 6, 6, 1
3:	addi 4, 4, -8
	bdnz 4b
	std 6, 8(11)
	mr 3, 1
#if _CALL_ELF == 2
	bcl 20, 31, 5f
5:	mflr 2
	addis 2, 2, (.TOC. - 5b)@ha
	addi 2, 2, (.TOC. - 5b)@l
#endif
	li 0, 0
	clrrdi 1, 1, 4
	stdu 0, -128(1)
	bl probe_main
	nop
	li 0, 234			# exit_group
	sc
	trap
#else
#if _CALL_ELF == 2
	bcl 20, 31, 5f
5:	mflr 12
	addis 12, 12, (_start - 5b)@ha
	addi 12, 12, (_start - 5b)@l
	mtctr 12
	ld 11, 264(11)
	mtlr 11
	bctr
#else
	ld 12, 264(11)
	mtlr 12
	b _start
#endif
#endif
	.section .note.GNU-stack, "", @progbits
