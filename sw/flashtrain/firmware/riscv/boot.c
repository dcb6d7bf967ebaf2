/* The program of a core of RISC-V beside the drive (`rtl.pcie.FirmwareProcessor`). */
#include <stddef.h>

#include "flashtrain_firmware.h"

#define MAILBOX 0x80000000u
#define REGISTERS 0xc0000000u
#define ATTENTION 0xe0000000u

/* The stack is at the end of 64 KiB. */
__asm__(".section .start, \"ax\"\n.globl _start\n_start:\n lui sp, 0x10\n call run\n ebreak\n");

extern const uint8_t ft_firmware_tables[];
extern const uint32_t ft_firmware_table_bytes;

static uint32_t load(uint32_t address) { return *(volatile uint32_t*)(uintptr_t)address; }

static void store(uint32_t address, uint32_t value) { *(volatile uint32_t*)(uintptr_t)address = value; }

static uint32_t read(void* context, uint32_t offset) {
    (void)context;
    return load(MAILBOX + offset);
}

static void write(void* context, uint32_t offset, uint32_t value) {
    (void)context;
    store(MAILBOX + offset, value);
}

static uint32_t read_register(void* context, uint32_t offset) {
    (void)context;
    return load(REGISTERS + offset);
}

static void write_register(void* context, uint32_t offset, uint32_t value) {
    (void)context;
    store(REGISTERS + offset, value);
}

static struct ft_firmware firmware;

void run(void);

void run(void) {
    const struct ft_firmware_hooks hooks = {0, read, write, read_register, write_register, 0};
    bool more = false;
    if (ft_firmware_start(&firmware, &hooks, ft_firmware_tables, ft_firmware_table_bytes)) return;
    for (;;) {
        if (more || load(ATTENTION)) more = ft_firmware_poll(&firmware);
    }
}

/* Compilers may call these. */
void* memset(void* to, int value, size_t count) {
    unsigned char* byte = to;
    for (; count; --count) *byte++ = (unsigned char)value;
    return to;
}

void* memcpy(void* restrict to, const void* restrict from, size_t count) {
    unsigned char* byte = to;
    const unsigned char* source = from;
    for (; count; --count) *byte++ = *source++;
    return to;
}
