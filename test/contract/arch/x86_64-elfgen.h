/*
 * The template's code on x86_64, for an image with code at +0x800, data at
 * +0x1000 (first word MAGIC) and bss up to +0x3800. Where descriptor 3 is a
 * pipe it waits for its end, so that one can look at it without a tracer.
 */
#define ELFGEN_MACHINE       EM_X86_64
#define ELFGEN_OTHER_MACHINE EM_AARCH64
#define ELFGEN_TASK_SIZE     0x7ffffffff000
#define ELFGEN_MAGIC         0x600df00d

static const unsigned char elfgen_code[] = {
	0xbf, 4,    0,    0,    0,                            /* mov $4,%edi */
	0x81, 0x3d, 0xf1, 0x07, 0, 0, 0x0d, 0xf0, 0x0d, 0x60, /* cmpl $MAGIC,0x1000 */
	0x75, 0x2d,                                           /* jne exit */
	0xff, 0xcf,                                           /* dec %edi */
	0x83, 0x3d, 0xe2, 0x2f, 0, 0, 0,                      /* cmpl $0,0x37fc */
	0x75, 0x22,                                           /* jne exit */
	0xbf, 1,    0,    0,    0,                            /* mov $1,%edi */
	0x48, 0x8d, 0x35, 0x1d, 0, 0, 0,                      /* lea text,%rsi */
	0xba, 3,    0,    0,    0,                            /* mov $3,%edx */
	0xb8, 1,    0,    0,    0,                            /* mov $SYS_write,%eax */
	0x0f, 0x05,                                           /* syscall */
	0x89, 0xd7,                                           /* mov %edx,%edi */
	0x31, 0xc0,                                           /* xor %eax,%eax: SYS_read */
	0x0f, 0x05,                                           /* syscall */
	0x31, 0xff,                                           /* xor %edi,%edi */
	0x90, 0x90, 0xb8, 60,   0, 0, 0,                      /* exit: mov $SYS_exit,%eax */
	0x0f, 0x05,                                           /* syscall */
	'o',  'k',  '\n',
};
