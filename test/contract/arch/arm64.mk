CONTRACT_ARCH_FLAGS = -mgeneral-regs-only -mbranch-protection=none
