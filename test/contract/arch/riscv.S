/*
 * probe_start - the probe's entry point, before any C library's
 *
 * Saves the registers as the kernel (or ld.so) handed them over, then goes on
 * to the real _start with all of them restored. With PROBE_BARE there is no
 * _start: it counts what is left below the stack pointer, which natively is
 * untouched memory, and calls the probe.
 */
#include "riscv.h"

	.option norelax
	.section .bss
	.balign 16
	.globl probe_entry
	.hidden probe_entry
	.type probe_entry, @object
probe_entry:
	.skip PROBE_FX + 512
	.size probe_entry, . - probe_entry

	.text
	.globl probe_start
	.hidden probe_start
	.type probe_start, @function
probe_start:
	fmv.d.x f31, t0
	lla t0, probe_entry
	sd x1, 16(t0)
	sd x3, 24(t0)
	sd x4, 32(t0)
	sd x6, 48(t0)
	sd x7, 56(t0)
	sd x8, 64(t0)
	sd x9, 72(t0)
	sd x10, 80(t0)
	sd x11, 88(t0)
	sd x12, 96(t0)
	sd x13, 104(t0)
	sd x14, 112(t0)
	sd x15, 120(t0)
	sd x16, 128(t0)
	sd x17, 136(t0)
	sd x18, 144(t0)
	sd x19, 152(t0)
	sd x20, 160(t0)
	sd x21, 168(t0)
	sd x22, 176(t0)
	sd x23, 184(t0)
	sd x24, 192(t0)
	sd x25, 200(t0)
	sd x26, 208(t0)
	sd x27, 216(t0)
	sd x28, 224(t0)
	sd x29, 232(t0)
	sd x30, 240(t0)
	sd x31, 248(t0)
	fmv.x.d t1, f31
	sd t1, 40(t0)
	sd sp, 0(t0)
	fsd f0, 256(t0)
	fsd f1, 264(t0)
	fsd f2, 272(t0)
	fsd f3, 280(t0)
	fsd f4, 288(t0)
	fsd f5, 296(t0)
	fsd f6, 304(t0)
	fsd f7, 312(t0)
	fsd f8, 320(t0)
	fsd f9, 328(t0)
	fsd f10, 336(t0)
	fsd f11, 344(t0)
	fsd f12, 352(t0)
	fsd f13, 360(t0)
	fsd f14, 368(t0)
	fsd f15, 376(t0)
	fsd f16, 384(t0)
	fsd f17, 392(t0)
	fsd f18, 400(t0)
	fsd f19, 408(t0)
	fsd f20, 416(t0)
	fsd f21, 424(t0)
	fsd f22, 432(t0)
	fsd f23, 440(t0)
	fsd f24, 448(t0)
	fsd f25, 456(t0)
	fsd f26, 464(t0)
	fsd f27, 472(t0)
	fsd f28, 480(t0)
	fsd f29, 488(t0)
	fsd f30, 496(t0)
#ifdef PROBE_BARE
	addi a1, sp, -16
	li a2, 8190
	li a3, 0
1:	ld a4, 0(a1)
	snez a4, a4
	add a3, a3, a4
	addi a1, a1, -8
	addi a2, a2, -1
	bnez a2, 1b
	sd a3, 8(t0)
	mv a0, sp
	li s0, 0
	.option push
	lla gp, __global_pointer$
	.option pop
	call probe_main
	li a7, 94			# exit_group
	ecall
	unimp
#else
	ld t1, 48(t0)
	fmv.x.d t0, f31
	tail _start
#endif
	.size probe_start, . - probe_start
	.section .note.GNU-stack, "", @progbits
