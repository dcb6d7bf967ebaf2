/* The demo on a board: registers and tensor buffer are mapped into the processor's memory. */
#include "flashtrain_driver.h"

#ifndef FLASHTRAIN_REGISTERS /* addresses of the board, for example of an SoC on an FPGA */
#define FLASHTRAIN_REGISTERS 0x40000000u
#define FLASHTRAIN_MEMORY 0x80000000u
#define FLASHTRAIN_MEMORY_BYTES 0x1000000u
#endif

enum ft_error demo(const struct ft_platform* platform, bool new_flash, uint32_t* stored);

static uint32_t read32(void* context, uint32_t offset) { return ((volatile uint32_t*)context)[offset / 4]; }

static void write32(void* context, uint32_t offset, uint32_t value) {
    ((volatile uint32_t*)context)[offset / 4] = value;
}

/* A full barrier: the device is another observer of the memory. */
static void barrier(void* context) {
    (void)context;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

int main(void) {
    const struct ft_platform platform = {
        .read32 = read32,
        .write32 = write32,
        .barrier = barrier,
        .context = (void*)(uintptr_t)FLASHTRAIN_REGISTERS,
        .memory = (uint8_t*)(uintptr_t)FLASHTRAIN_MEMORY,
        .memory_bytes = FLASHTRAIN_MEMORY_BYTES,
    };
    uint32_t stored = 0;
    return demo(&platform, true, &stored) == FT_OK ? 0 : 1;
}
