/* flashtrain: the contract between host and device.
 *
 * Generated from flashtrain.spec by `python -m flashtrain.spec.generate`: do not edit.
 * Entries and descriptors are little endian, whatever the machine:
 *
 *     uint8_t entry[FLASHTRAIN_SUBMISSION_BYTES] = {0};
 *     flashtrain_put(entry, FLASHTRAIN_SUBMISSION_OPCODE, FLASHTRAIN_OPCODE_READ);
 *     status = flashtrain_get(completion, FLASHTRAIN_COMPLETION_STATUS);
 */
#ifndef FLASHTRAIN_H
#define FLASHTRAIN_H

#include <stdint.h>

/* The `width` bits of an entry from bit `low` on. */
static inline uint64_t flashtrain_get(const uint8_t *entry, unsigned low, unsigned width)
{
    uint64_t value = 0;
    unsigned bit;
    for (bit = 0; bit < width; ++bit)
        value |= (uint64_t)(entry[(low + bit) / 8] >> ((low + bit) % 8) & 1u) << bit;
    return value;
}

/* Sets the `width` bits of an entry from bit `low` on; bits of `value` past `width` are dropped. */
static inline void flashtrain_put(uint8_t *entry, unsigned low, unsigned width, uint64_t value)
{
    unsigned bit;
    for (bit = 0; bit < width; ++bit) {
        const uint8_t mask = (uint8_t)(1u << ((low + bit) % 8));
        uint8_t *const byte = &entry[(low + bit) / 8];
        *byte = (uint8_t)(value >> bit & 1u ? *byte | mask : *byte & ~mask);
    }
}

/* I/O commands (NVM Command Set 1.0, Figure 12; ZNS 1.1, Figure 23; from 80h on the vendor's). */
#define FLASHTRAIN_OPCODE_FLUSH 0x00
#define FLASHTRAIN_OPCODE_WRITE 0x01
#define FLASHTRAIN_OPCODE_READ 0x02
#define FLASHTRAIN_OPCODE_ZONE_MANAGEMENT_SEND 0x79
#define FLASHTRAIN_OPCODE_ZONE_MANAGEMENT_RECEIVE 0x7a
#define FLASHTRAIN_OPCODE_ZONE_APPEND 0x7d
#define FLASHTRAIN_OPCODE_STREAM_RESET 0x80 /* every zone of the namespace becomes empty: a new generation */
#define FLASHTRAIN_OPCODE_SET_CONSTANTS 0x81 /* of an optimizer step, on all dies; resets their statistics */
#define FLASHTRAIN_OPCODE_GET_STATISTICS 0x82 /* of an optimizer step, from all dies */
#define FLASHTRAIN_OPCODE_UPDATE 0x83 /* gradients in, 16-bit copies out in their place, tiles appended */
#define FLASHTRAIN_OPCODE_ZONE_RETIRE 0x84 /* ZSA field holds the new state of the zone: READ_ONLY or OFFLINE */
#define FLASHTRAIN_OPCODE_INSPECT 0x86 /* recovery: pages of a physical zone, with their identity */
#define FLASHTRAIN_OPCODE_GENERATION 0x88 /* ZSA field holds a GenerationAction */
#define FLASHTRAIN_OPCODE_RESTORE 0x8c /* recovery: entries of the tables; ZSA field holds a RestoreAction */

/* Status code type in bits 10:8, status code in bits 7:0. */
#define FLASHTRAIN_STATUS_SUCCESS 0x00
#define FLASHTRAIN_STATUS_INVALID_OPCODE 0x01
#define FLASHTRAIN_STATUS_INVALID_FIELD 0x02
#define FLASHTRAIN_STATUS_DATA_TRANSFER_ERROR 0x04
#define FLASHTRAIN_STATUS_INTERNAL_ERROR 0x06
#define FLASHTRAIN_STATUS_INVALID_NAMESPACE 0x0b
#define FLASHTRAIN_STATUS_COMMAND_SEQUENCE_ERROR 0x0c
#define FLASHTRAIN_STATUS_SGL_LENGTH_INVALID 0x0f
#define FLASHTRAIN_STATUS_SGL_TYPE_INVALID 0x11
#define FLASHTRAIN_STATUS_SGL_GRANULARITY_INVALID 0x1e
#define FLASHTRAIN_STATUS_NAMESPACE_WRITE_PROTECTED 0x20
#define FLASHTRAIN_STATUS_LBA_OUT_OF_RANGE 0x80
#define FLASHTRAIN_STATUS_NAMESPACE_NOT_READY 0x82
#define FLASHTRAIN_STATUS_ZONE_BOUNDARY_ERROR 0x1b8
#define FLASHTRAIN_STATUS_ZONE_IS_FULL 0x1b9
#define FLASHTRAIN_STATUS_ZONE_IS_READ_ONLY 0x1ba
#define FLASHTRAIN_STATUS_ZONE_IS_OFFLINE 0x1bb
#define FLASHTRAIN_STATUS_ZONE_INVALID_WRITE 0x1bc
#define FLASHTRAIN_STATUS_TOO_MANY_ACTIVE_ZONES 0x1bd
#define FLASHTRAIN_STATUS_TOO_MANY_OPEN_ZONES 0x1be
#define FLASHTRAIN_STATUS_INVALID_ZONE_TRANSITION 0x1bf
#define FLASHTRAIN_STATUS_STREAM_IS_CODED 0x1c0 /* vendor specific: of a command that needs a stream without a codec */
#define FLASHTRAIN_STATUS_WRITE_FAULT 0x280
#define FLASHTRAIN_STATUS_DATA_EXPIRED 0x2c0 /* vendor specific, of the media errors: what is there is too old to be trusted */
#define FLASHTRAIN_STATUS_CODED_PAGE_ERROR 0x2c1 /* vendor specific, of the media errors: a page that the codec refuses */
#define FLASHTRAIN_STATUS_UNRECOVERED_READ_ERROR 0x281
#define FLASHTRAIN_STATUS_ACCESS_DENIED 0x286
#define FLASHTRAIN_STATUS_UNWRITTEN_BLOCK 0x287

/* Zone send action, ZSA (ZNS 1.1, Figure 44). */
#define FLASHTRAIN_ZONE_ACTION_CLOSE 0x01
#define FLASHTRAIN_ZONE_ACTION_FINISH 0x02
#define FLASHTRAIN_ZONE_ACTION_OPEN 0x03
#define FLASHTRAIN_ZONE_ACTION_RESET 0x04
#define FLASHTRAIN_ZONE_ACTION_OFFLINE 0x05

/* Zone receive action, ZRA (ZNS 1.1, Figure 40): the plain report only. */
#define FLASHTRAIN_ZONE_REPORT_REPORT_ZONES 0x00

/* Reporting options, ZRASF: the zones that a report has (ZNS 1.1, Figure 42). */
#define FLASHTRAIN_REPORT_FILTER_ALL 0x00
#define FLASHTRAIN_REPORT_FILTER_EMPTY 0x01
#define FLASHTRAIN_REPORT_FILTER_IMPLICITLY_OPEN 0x02
#define FLASHTRAIN_REPORT_FILTER_EXPLICITLY_OPEN 0x03
#define FLASHTRAIN_REPORT_FILTER_CLOSED 0x04
#define FLASHTRAIN_REPORT_FILTER_FULL 0x05
#define FLASHTRAIN_REPORT_FILTER_READ_ONLY 0x06
#define FLASHTRAIN_REPORT_FILTER_OFFLINE 0x07

/* Zone state, ZS (ZNS 1.1, Figure 37). */
#define FLASHTRAIN_ZONE_STATE_EMPTY 0x01
#define FLASHTRAIN_ZONE_STATE_IMPLICITLY_OPEN 0x02
#define FLASHTRAIN_ZONE_STATE_EXPLICITLY_OPEN 0x03
#define FLASHTRAIN_ZONE_STATE_CLOSED 0x04
#define FLASHTRAIN_ZONE_STATE_READ_ONLY 0x0d
#define FLASHTRAIN_ZONE_STATE_FULL 0x0e
#define FLASHTRAIN_ZONE_STATE_OFFLINE 0x0f

/* Action of a GENERATION command. */
#define FLASHTRAIN_GENERATION_COMMIT 0x01
#define FLASHTRAIN_GENERATION_PIN 0x02
#define FLASHTRAIN_GENERATION_RELEASE 0x03
#define FLASHTRAIN_GENERATION_ADVANCE 0x04

/* Action of a RESTORE command; `RESTORE_FIELDS` has the fields of the entry that it takes. */
#define FLASHTRAIN_RESTORE_STREAM 0x01 /* the generation of a stream */
#define FLASHTRAIN_RESTORE_ZONE 0x02 /* a logical zone: its state, its write pointer and its physical zone */
#define FLASHTRAIN_RESTORE_PHYSICAL 0x03 /* a physical zone whose content nobody needs is erased */
#define FLASHTRAIN_RESTORE_END 0x04 /* the number of the next allocation; from here on all commands are taken */
#define FLASHTRAIN_RESTORE_BLOCK 0x05 /* a spare block lies in the place of a block of the physical zone, on the same plane */

/* Which micro-program runs. */
#define FLASHTRAIN_OPTIMIZER_SGD 0x00
#define FLASHTRAIN_OPTIMIZER_MOMENTUM 0x01
#define FLASHTRAIN_OPTIMIZER_NESTEROV 0x02
#define FLASHTRAIN_OPTIMIZER_LINEAR 0x03 /* m and w become linear combinations of m, w and the gradient */
#define FLASHTRAIN_OPTIMIZER_ADAM 0x04 /* weight decay is added to the gradient */
#define FLASHTRAIN_OPTIMIZER_ADAMW 0x05 /* weight decay shrinks the weight */
#define FLASHTRAIN_OPTIMIZER_ADAM_FAST 0x06 /* ADAM for beta1 <= 1/2 */
#define FLASHTRAIN_OPTIMIZER_ADAMW_FAST 0x07 /* ADAMW for beta1 <= 1/2 */
#define FLASHTRAIN_OPTIMIZER_SGDW 0x08 /* weight decay shrinks the weight */
#define FLASHTRAIN_OPTIMIZER_LION 0x09 /* the step is the sign of a mean; weight decay shrinks the weight */
#define FLASHTRAIN_OPTIMIZER_ADAMW_SCHEDULE_FREE 0x0a /* a step without momentum; the weight is drawn towards an average of steps */

/* Format in which gradients arrive. */
#define FLASHTRAIN_GRADIENT_FORMAT_FP32 0x00 /* IEEE 754 binary32 */
#define FLASHTRAIN_GRADIENT_FORMAT_FP16 0x01 /* IEEE 754 binary16 */
#define FLASHTRAIN_GRADIENT_FORMAT_BF16 0x02 /* the upper half of a binary32 */

/* Format of the copy of the new weights; numbers as in GradientFormat. */
#define FLASHTRAIN_COPY_FORMAT_NONE 0x00
#define FLASHTRAIN_COPY_FORMAT_FP16 0x01
#define FLASHTRAIN_COPY_FORMAT_BF16 0x02

/* Format of an array of optimizer state. */
#define FLASHTRAIN_STATE_FORMAT_FP32 0x00 /* IEEE 754 binary32 */
#define FLASHTRAIN_STATE_FORMAT_BF16 0x01 /* the upper half of a binary32 */
#define FLASHTRAIN_STATE_FORMAT_FP8 0x02 /* of moments: E4M3 or E5M2, and a scale for `SCALE_GROUP` numbers */
#define FLASHTRAIN_STATE_FORMAT_SPLIT 0x03 /* of weights: a binary32, its upper half as BF16 and its lower half in arrays of their own */

/* Rounding of a number that is stored in a narrower format. */
#define FLASHTRAIN_ROUNDING_NEAREST 0x00 /* to nearest even */
#define FLASHTRAIN_ROUNDING_STOCHASTIC 0x01 /* up or down by chance, so that the expectation is the number */

/* Constants of the SGD family. */
#define FLASHTRAIN_SGD_CONSTANT_SCALE 0x00 /* of the gradient: unscale * clip */
#define FLASHTRAIN_SGD_CONSTANT_DECAY 0x01 /* weight decay; SGDW: 1 - lr * weight decay */
#define FLASHTRAIN_SGD_CONSTANT_STEP 0x02 /* -lr */
#define FLASHTRAIN_SGD_CONSTANT_MOMENTUM 0x03 /* momentum */

/* Constants of LINEAR: m = M_M * m + M_G * g; w = W_W * w + W_M * m + W_G * g, with the new m. */
#define FLASHTRAIN_LINEAR_CONSTANT_SCALE 0x00 /* of the gradient: unscale * clip */
#define FLASHTRAIN_LINEAR_CONSTANT_M_M 0x01
#define FLASHTRAIN_LINEAR_CONSTANT_M_G 0x02
#define FLASHTRAIN_LINEAR_CONSTANT_W_W 0x03
#define FLASHTRAIN_LINEAR_CONSTANT_W_M 0x04
#define FLASHTRAIN_LINEAR_CONSTANT_W_G 0x05

/* Constants of LION. */
#define FLASHTRAIN_LION_CONSTANT_SCALE 0x00 /* of the gradient: unscale * clip */
#define FLASHTRAIN_LION_CONSTANT_DECAY 0x01 /* 1 - lr * weight decay */
#define FLASHTRAIN_LION_CONSTANT_OLD 0x02 /* beta1 */
#define FLASHTRAIN_LION_CONSTANT_NEW 0x03 /* 1 - beta1 */
#define FLASHTRAIN_LION_CONSTANT_KEEP 0x04 /* beta2 */
#define FLASHTRAIN_LION_CONSTANT_GAIN 0x05 /* 1 - beta2 */
#define FLASHTRAIN_LION_CONSTANT_STEP 0x06 /* -lr */

/* Constants of the ADAM family. */
#define FLASHTRAIN_ADAM_CONSTANT_SCALE 0x00 /* of the gradient: unscale * clip */
#define FLASHTRAIN_ADAM_CONSTANT_DECAY 0x01 /* ADAM: weight decay; ADAMW: 1 - lr * weight decay */
#define FLASHTRAIN_ADAM_CONSTANT_MEAN_GAIN 0x02 /* 1 - beta1; FAST: -beta1, as (1 - beta1) - 1 */
#define FLASHTRAIN_ADAM_CONSTANT_SQUARE_KEEP 0x03 /* beta2 */
#define FLASHTRAIN_ADAM_CONSTANT_SQUARE_GAIN 0x04 /* 1 - beta2 */
#define FLASHTRAIN_ADAM_CONSTANT_BIAS 0x05 /* sqrt(1 - beta2^t) */
#define FLASHTRAIN_ADAM_CONSTANT_EPSILON 0x06 /* epsilon */
#define FLASHTRAIN_ADAM_CONSTANT_STEP 0x07 /* -lr / (1 - beta1^t) */

/* Constants of ADAMW_SCHEDULE_FREE; c is the share of the step in the average of all. */
#define FLASHTRAIN_SCHEDULE_FREE_CONSTANT_SCALE 0x00 /* of the gradient: unscale * clip */
#define FLASHTRAIN_SCHEDULE_FREE_CONSTANT_DECAY 0x01 /* -lr * weight decay */
#define FLASHTRAIN_SCHEDULE_FREE_CONSTANT_SQUARE_KEEP 0x02 /* beta2 */
#define FLASHTRAIN_SCHEDULE_FREE_CONSTANT_SQUARE_GAIN 0x03 /* 1 - beta2 */
#define FLASHTRAIN_SCHEDULE_FREE_CONSTANT_EPSILON 0x04 /* epsilon * sqrt(1 - beta2^t) */
#define FLASHTRAIN_SCHEDULE_FREE_CONSTANT_STEP 0x05 /* -lr * sqrt(1 - beta2^t) */
#define FLASHTRAIN_SCHEDULE_FREE_CONSTANT_MIX 0x06 /* c */
#define FLASHTRAIN_SCHEDULE_FREE_CONSTANT_LEAD 0x07 /* 1 - beta1 * (1 - c) */

/* A submission/completion queue pair with an identity. */
#define FLASHTRAIN_PORT_HOST 0x00
#define FLASHTRAIN_PORT_CORE 0x01

/* Permissions of a port on a stream. */
#define FLASHTRAIN_ACCESS_NONE 0x00
#define FLASHTRAIN_ACCESS_READ 0x01
#define FLASHTRAIN_ACCESS_APPEND 0x02

/* When an append completes: on arrival in SRAM, or after its program's status has passed. */
#define FLASHTRAIN_PERSISTENCY_VOLATILE 0x00
#define FLASHTRAIN_PERSISTENCY_NON_VOLATILE 0x01

/* How long the data must last; a class, for wear and refresh. */
#define FLASHTRAIN_RETENTION_MINUTES 0x00
#define FLASHTRAIN_RETENTION_DAYS 0x01
#define FLASHTRAIN_RETENTION_YEARS 0x02

/* Transformation of the data on its way to the flash (`flashtrain.spec.codec`). */
#define FLASHTRAIN_CODEC_RAW 0x00 /* none */
#define FLASHTRAIN_CODEC_WINDOW16 0x01 /* BF16, lossless */
#define FLASHTRAIN_CODEC_WINDOW32 0x02 /* FP32, lossless */
#define FLASHTRAIN_CODEC_ROUND16 0x03 /* FP32 rounded to BF16, lossy; read as FP32 */

/* Registers that exist once. */
#define FLASHTRAIN_REGISTER_ID 0x00
#define FLASHTRAIN_REGISTER_VERSION 0x04
#define FLASHTRAIN_REGISTER_GEOMETRY 0x08 /* channels 7:0, dies per channel 15:8, planes 23:16, spare blocks per plane 31:24 */
#define FLASHTRAIN_REGISTER_BLOCKS 0x0c /* blocks per plane, with the spares, 15:0, pages per block 31:16 */
#define FLASHTRAIN_REGISTER_PAGE 0x10 /* page bytes 15:0, spare bytes 31:16 */
#define FLASHTRAIN_REGISTER_CONTROL 0x14 /* Control */
#define FLASHTRAIN_REGISTER_LIMITS 0x18 /* commands in flight 15:0, blocks per command 31:16 */
#define FLASHTRAIN_REGISTER_STATE 0x1c /* State */
#define FLASHTRAIN_REGISTER_MEMORY_LOW 0x20 /* bytes of the tensor buffer: addresses from 0 */
#define FLASHTRAIN_REGISTER_MEMORY_HIGH 0x24
#define FLASHTRAIN_REGISTER_INTERRUPT 0x28 /* bit per port: completions were written; write 1 to clear */
#define FLASHTRAIN_REGISTER_INTERRUPT_MASK 0x2c /* bit per port: 1 lets the port's bit raise the interrupt */
#define FLASHTRAIN_REGISTER_CLOCK_MHZ 0x30
#define FLASHTRAIN_REGISTER_ZONES 0x34 /* zones open at most 15:0 and active at most 31:16, per stream */
#define FLASHTRAIN_REGISTER_SEQUENCE 0x38 /* read only: `sequence` of the next allocation of a physical zone (`spec.identity`) */
#define FLASHTRAIN_REGISTER_TIME 0x3c /* seconds: what was written last, and those since in which the controller was enabled */
#define FLASHTRAIN_REGISTER_NAND_PAUSE_LOW 0x300 /* bit per channel, 0 to 31: pause its engine ("The command port") */
#define FLASHTRAIN_REGISTER_NAND_PAUSE_HIGH 0x304 /* the same, channels 32 to 63 */
#define FLASHTRAIN_REGISTER_NAND_MODE 0x308 /* SDR timing mode of the cycles from now on, 0 to 5 */
#define FLASHTRAIN_REGISTER_NAND_CYCLE 0x30c /* write only: a cycle on the pins of the channel in CHANNEL_SELECT */
#define FLASHTRAIN_REGISTER_NAND_STATE 0x310 /* read only: of that channel */
#define FLASHTRAIN_REGISTER_NAND_INTERFACE 0x314 /* data interface of the engines: SDR timing mode 2:0, SDR instead of NV-DDR3 3 */
#define FLASHTRAIN_REGISTER_CHANNEL_SELECT 0x3f0 /* the channel of the channel window and of the command port */
#define FLASHTRAIN_REGISTER_ZONE_SELECT 0x3f4 /* the physical zone that ZONE_WEAR is of */
#define FLASHTRAIN_REGISTER_ZONE_WEAR 0x3f8 /* its erases */

/* Bits of CONTROL. Clearing ENABLE stops fetching, ends bursts under way and resets the controller. */
#define FLASHTRAIN_CONTROL_ENABLE 0x01
#define FLASHTRAIN_CONTROL_FACTORY 0x02 /* at enable take all blocks as erased and none as marked by its maker; else erase them */
#define FLASHTRAIN_CONTROL_RECOVER 0x04 /* at enable keep what the flash holds (`spec.identity`); FACTORY has no effect then */
#define FLASHTRAIN_CONTROL_RAW 0x08 /* while recovering: pages are inspected as the cells hold them (`spec.bad_blocks`) */

/* Bits of STATE. */
#define FLASHTRAIN_STATE_READY 0x01 /* enabled and initialised; falls when, after a disable, the tensor buffer is let go */
#define FLASHTRAIN_STATE_FATAL 0x02 /* a fault that only a reset clears */
#define FLASHTRAIN_STATE_IDLE 0x04 /* no command in flight, no die busy, nothing to erase or reclaim */
#define FLASHTRAIN_STATE_BAD_DOORBELL 0x08 /* a doorbell was written past its queue or without a completion queue, and ignored; cleared by a reset */
#define FLASHTRAIN_STATE_RECOVERING 0x10 /* only INSPECT and RESTORE are taken */

/* Offsets within a port's window. Bases are multiples of 64 bytes; sizes are entries - 1, and not 0. */
#define FLASHTRAIN_PORT_REGISTER_SQ_BASE_LOW 0x00
#define FLASHTRAIN_PORT_REGISTER_SQ_BASE_HIGH 0x04
#define FLASHTRAIN_PORT_REGISTER_SQ_SIZE 0x08
#define FLASHTRAIN_PORT_REGISTER_CQ_BASE_LOW 0x10
#define FLASHTRAIN_PORT_REGISTER_CQ_BASE_HIGH 0x14
#define FLASHTRAIN_PORT_REGISTER_CQ_SIZE 0x18

/* Offsets within a stream's window; written while the controller is disabled. A stream exists when it is valid, lies within the device, and has a codec that the device carries. */
#define FLASHTRAIN_STREAM_REGISTER_ZONES 0x00 /* first zone 15:0, number of zones 31:16 */
#define FLASHTRAIN_STREAM_REGISTER_ATTRIBUTES 0x04 /* StreamAttributes */
#define FLASHTRAIN_STREAM_REGISTER_GENERATION 0x08 /* read only: resets of all zones at once, by either command */

/* Kinds of cycles of the command port. */
#define FLASHTRAIN_CYCLE_KIND_COMMAND 0x00 /* the byte with CLE */
#define FLASHTRAIN_CYCLE_KIND_ADDRESS 0x01 /* the byte with ALE */
#define FLASHTRAIN_CYCLE_KIND_DATA_IN 0x02 /* the byte to the chip */
#define FLASHTRAIN_CYCLE_KIND_DATA_OUT 0x03 /* a byte from the chip, to NAND_STATE */
#define FLASHTRAIN_CYCLE_KIND_LOOK 0x04 /* no cycle: R/B# of each die, a bit each, to NAND_STATE; 1 is ready. It waits for tWB */
#define FLASHTRAIN_CYCLE_KIND_WAS_BUSY 0x05 /* no cycle, with `chips.ready_busy`: dies whose R/B# has been low since the last of these */

/* Counters of the front end, of cycles unless said. Latencies run from a command's acceptance to its answer. */
#define FLASHTRAIN_COUNTER_CYCLES 0x00
#define FLASHTRAIN_COUNTER_COMMANDS 0x01 /* commands fetched */
#define FLASHTRAIN_COUNTER_ERRORS 0x02 /* completions with a status other than success */
#define FLASHTRAIN_COUNTER_PAGES_APPENDED 0x03 /* pages moved from the tensor buffer to channel buffers */
#define FLASHTRAIN_COUNTER_PAGES_READ 0x04 /* pages moved to the tensor buffer */
#define FLASHTRAIN_COUNTER_WRITE_BUSY 0x05 /* a beat moves from the tensor buffer to a channel */
#define FLASHTRAIN_COUNTER_WRITE_STALL_BUFFER 0x06 /* a page waits for room in its channel */
#define FLASHTRAIN_COUNTER_WRITE_STALL_MEMORY 0x07 /* nothing moves because the tensor buffer has not answered */
#define FLASHTRAIN_COUNTER_READ_BUSY 0x08 /* a beat moves to the tensor buffer */
#define FLASHTRAIN_COUNTER_READ_STALL_MEMORY 0x09 /* a beat waits for the tensor buffer */
#define FLASHTRAIN_COUNTER_READ_STALL_CHANNEL 0x0a /* a read is in flight, and nothing moves because no channel has a page */
#define FLASHTRAIN_COUNTER_APPENDS 0x0b /* append and write commands completed */
#define FLASHTRAIN_COUNTER_APPEND_LATENCY 0x0c /* sum over them */
#define FLASHTRAIN_COUNTER_READS 0x0d /* read commands completed */
#define FLASHTRAIN_COUNTER_READ_LATENCY 0x0e /* sum over them */
#define FLASHTRAIN_COUNTER_ERASES 0x0f /* zones erased */
#define FLASHTRAIN_COUNTER_ZONE_WAITS 0x10 /* cycles in which a command waits for an erased zone */

/* Counters of a channel engine. */
#define FLASHTRAIN_CHANNEL_COUNTER_BUS_IDLE 0x00 /* cycles without a bus operation */
#define FLASHTRAIN_CHANNEL_COUNTER_BUS_COMMAND 0x01 /* cycles of command and address bytes */
#define FLASHTRAIN_CHANNEL_COUNTER_BUS_DATA_IN 0x02
#define FLASHTRAIN_CHANNEL_COUNTER_BUS_DATA_OUT 0x03
#define FLASHTRAIN_CHANNEL_COUNTER_BUS_WAIT 0x04 /* cycles of tADL, tWHR and tRHW within an operation */
#define FLASHTRAIN_CHANNEL_COUNTER_PROGRAMS 0x05 /* page sets programmed, and pages that move to a spare block */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_PROGRAMMED 0x06
#define FLASHTRAIN_CHANNEL_COUNTER_SENSES 0x07 /* read commands to the array, multi-plane counted once */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_SENSED 0x08 /* pages output by dies */
#define FLASHTRAIN_CHANNEL_COUNTER_BUFFER_HITS 0x09 /* pages read from the write buffer */
#define FLASHTRAIN_CHANNEL_COUNTER_ERASES 0x0a /* erases of a die: of a zone's blocks, or where one has failed, of single ones */
#define FLASHTRAIN_CHANNEL_COUNTER_FAILURES 0x0b /* programs and erases whose status was a failure */
#define FLASHTRAIN_CHANNEL_COUNTER_DIES_OFFLINE 0x0c /* dies that did not become ready in time, and are left alone until a reset */
#define FLASHTRAIN_CHANNEL_COUNTER_BITS_CORRECTED 0x0d /* wrong bits that error correction has found; this and what follows is 0 without it */
#define FLASHTRAIN_CHANNEL_COUNTER_WORDS_UNCORRECTABLE 0x0e /* code words with more wrong bits than can be corrected */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_CORRECTED_1 0x0f /* pages in which 1 bit was corrected, and every code word was correctable */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_CORRECTED_2 0x10 /* 2 or 3 bits */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_CORRECTED_4 0x11 /* 4 to 7 bits */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_CORRECTED_8 0x12 /* 8 to 15 bits */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_CORRECTED_16 0x13 /* 16 bits or more */
#define FLASHTRAIN_CHANNEL_COUNTER_BLOCKS_REPLACED 0x14 /* blocks that failed, and whose place a spare has taken; 0 without spares, like 21 */
#define FLASHTRAIN_CHANNEL_COUNTER_SETS_REPEATED 0x15 /* page sets whose program had failed, or came after such a one, and was done again */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_RETRIED 0x16 /* reads of a page that was read before and could not be corrected: one for each level */
#define FLASHTRAIN_CHANNEL_COUNTER_PAGES_RESCUED 0x17 /* pages that were right at last, at another level */

/* Command bytes (ONFI 5.1, table 71; BCh to CCh vendor specific). */
#define FLASHTRAIN_DIE_READ 0x00
#define FLASHTRAIN_DIE_READ_CONFIRM 0x30
#define FLASHTRAIN_DIE_READ_MULTI_PLANE 0x32
#define FLASHTRAIN_DIE_READ_CACHE 0x31
#define FLASHTRAIN_DIE_READ_CACHE_END 0x3f
#define FLASHTRAIN_DIE_COPYBACK_READ_CONFIRM 0x35
#define FLASHTRAIN_DIE_CHANGE_READ_COLUMN 0x05
#define FLASHTRAIN_DIE_CHANGE_READ_COLUMN_ENHANCED 0x06
#define FLASHTRAIN_DIE_CHANGE_READ_COLUMN_CONFIRM 0xe0
#define FLASHTRAIN_DIE_PROGRAM 0x80
#define FLASHTRAIN_DIE_PROGRAM_CONFIRM 0x10
#define FLASHTRAIN_DIE_PROGRAM_MULTI_PLANE 0x11
#define FLASHTRAIN_DIE_PROGRAM_CACHE 0x15
#define FLASHTRAIN_DIE_CHANGE_WRITE_COLUMN 0x85 /* after 35h, and with a whole address, it begins a copyback program */
#define FLASHTRAIN_DIE_ERASE 0x60
#define FLASHTRAIN_DIE_ERASE_CONFIRM 0xd0
#define FLASHTRAIN_DIE_ERASE_MULTI_PLANE 0xd1
#define FLASHTRAIN_DIE_READ_STATUS 0x70
#define FLASHTRAIN_DIE_READ_STATUS_ENHANCED 0x78
#define FLASHTRAIN_DIE_READ_ID 0x90
#define FLASHTRAIN_DIE_READ_PARAMETER_PAGE 0xec
#define FLASHTRAIN_DIE_SET_FEATURES 0xef
#define FLASHTRAIN_DIE_GET_FEATURES 0xee
#define FLASHTRAIN_DIE_ZQ_CALIBRATION_LONG 0xf9
#define FLASHTRAIN_DIE_ZQ_CALIBRATION_SHORT 0xd9
#define FLASHTRAIN_DIE_RESET 0xff
#define FLASHTRAIN_DIE_SUSPENDED_READ 0xbc
#define FLASHTRAIN_DIE_SUSPENDED_READ_CONFIRM 0xbd
#define FLASHTRAIN_DIE_SUSPENDED_READ_SELECT 0xbe
#define FLASHTRAIN_DIE_SUSPENDED_READ_END 0xbf
#define FLASHTRAIN_DIE_LOAD_CONSTANTS 0xc0
#define FLASHTRAIN_DIE_LOAD_CONSTANTS_CONFIRM 0xc1
#define FLASHTRAIN_DIE_LOAD_GRADIENT 0xc2
#define FLASHTRAIN_DIE_LOAD_GRADIENT_CONFIRM 0xc3
#define FLASHTRAIN_DIE_UPDATE_SOURCE 0xc4
#define FLASHTRAIN_DIE_UPDATE_TARGET 0xc5
#define FLASHTRAIN_DIE_UPDATE_MULTI_PLANE 0xc6
#define FLASHTRAIN_DIE_UPDATE 0xc7
#define FLASHTRAIN_DIE_UPDATE_END 0xc8
#define FLASHTRAIN_DIE_READ_COPY 0xc9
#define FLASHTRAIN_DIE_READ_COPY_CONFIRM 0xca
#define FLASHTRAIN_DIE_READ_STATISTICS 0xcb
#define FLASHTRAIN_DIE_READ_STATISTICS_CONFIRM 0xcc

/* Bits of the status byte (ONFI 5.1, section 5.13). */
#define FLASHTRAIN_DIE_STATUS_FAIL 0x01 /* the last operation of the array failed; valid while ARDY is set */
#define FLASHTRAIN_DIE_STATUS_FAILC 0x02 /* the one before it in a cache sequence failed; valid while RDY is set */
#define FLASHTRAIN_DIE_STATUS_SUSPENDED_READ 0x10 /* the page set of a suspended read is in the data registers (vendor specific) */
#define FLASHTRAIN_DIE_STATUS_ARDY 0x20 /* the array is idle */
#define FLASHTRAIN_DIE_STATUS_RDY 0x40 /* the cache register is free: the die takes commands */
#define FLASHTRAIN_DIE_STATUS_WP_N 0x80 /* not write-protected */

/* Addresses of features (ONFI: those from 80h on are the vendor's). */
#define FLASHTRAIN_FEATURE_TIMING_MODE 0x01 /* data interface and timing mode; the first parameter of SDR is the number of the mode */
#define FLASHTRAIN_FEATURE_DRIVE_STRENGTH 0x10 /* the first parameter is the place in `spec.chips.DRIVE_OHMS` */
#define FLASHTRAIN_FEATURE_READ_LEVEL 0x89 /* steps by which the read level is lower */

/* Addresses of READ ID. */
#define FLASHTRAIN_ID_ADDRESS_JEDEC 0x00 /* the maker's number, and what it likes */
#define FLASHTRAIN_ID_ADDRESS_ONFI 0x20 /* the signature of the parameter page */

/* Operations of the bus controller, each performed whole before another may use the bus. */
#define FLASHTRAIN_BUS_OP_RESET 0x00
#define FLASHTRAIN_BUS_OP_STATUS 0x01 /* of the die; over all planes of the last operation */
#define FLASHTRAIN_BUS_OP_STATUS_PLANE 0x17
#define FLASHTRAIN_BUS_OP_READ_MORE 0x03 /* queue one plane of a multi-plane read */
#define FLASHTRAIN_BUS_OP_READ_LAST 0x04 /* the last plane: sense */
#define FLASHTRAIN_BUS_OP_CACHE_READ_LAST 0x05 /* the last plane: sense while the page sensed before is output */
#define FLASHTRAIN_BUS_OP_CACHE_READ_NEXT 0x06 /* sense the next page of the same planes while this one is output */
#define FLASHTRAIN_BUS_OP_CACHE_READ_END 0x07 /* hand the sensed page to the output without another sense */
#define FLASHTRAIN_BUS_OP_SELECT 0x14 /* choose the plane of a data output; the data may follow after tCCS */
#define FLASHTRAIN_BUS_OP_DATA_OUT 0x3c
#define FLASHTRAIN_BUS_OP_PROGRAM_MORE 0x18 /* the data of a named page of a multi-plane program */
#define FLASHTRAIN_BUS_OP_PROGRAM_LAST 0x19 /* those of the last plane: program, and take the next page set meanwhile */
#define FLASHTRAIN_BUS_OP_ERASE_MORE 0x08
#define FLASHTRAIN_BUS_OP_ERASE_LAST 0x09
#define FLASHTRAIN_BUS_OP_LOAD_CONSTANTS 0x1a
#define FLASHTRAIN_BUS_OP_LOAD_GRADIENT 0x1b /* a page of gradients; its number takes the place of the plane */
#define FLASHTRAIN_BUS_OP_UPDATE_SOURCE 0x0a /* the page that a plane senses */
#define FLASHTRAIN_BUS_OP_UPDATE_MORE 0x0b /* the page that it programs */
#define FLASHTRAIN_BUS_OP_UPDATE_LAST 0x0c /* the same of the last plane: update */
#define FLASHTRAIN_BUS_OP_UPDATE_END 0x0d /* program the tile that was computed last */
#define FLASHTRAIN_BUS_OP_SELECT_COPY 0x15 /* choose a page of the copies for a data output after tCCS */
#define FLASHTRAIN_BUS_OP_SELECT_STATISTICS 0x16
#define FLASHTRAIN_BUS_OP_SUSPENDED_READ_MORE 0x0e /* name one page of a set for a suspended read */
#define FLASHTRAIN_BUS_OP_SUSPENDED_READ_LAST 0x0f /* the last one: sense */
#define FLASHTRAIN_BUS_OP_SUSPENDED_READ_NEXT 0x10 /* sense the next page of the same planes */
#define FLASHTRAIN_BUS_OP_SUSPENDED_READ_SELECT 0x13 /* choose the plane of a data output; the data may follow after tCCS */
#define FLASHTRAIN_BUS_OP_SUSPENDED_READ_END 0x11 /* end of the suspended read */
#define FLASHTRAIN_BUS_OP_PROGRAM_PAGE 0x12 /* name the page of a plane to be programmed; its data may follow after tADL */
#define FLASHTRAIN_BUS_OP_SUSPENDED_READ_RENEW 0x02 /* SUSPENDED_READ_END and SUSPENDED_READ_NEXT */
#define FLASHTRAIN_BUS_OP_SET_TIMING_MODE 0x1c /* SDR, after a reset of the chip */
#define FLASHTRAIN_BUS_OP_SET_READ_LEVEL 0x1d /* of the senses from now on */
#define FLASHTRAIN_BUS_OP_COPYBACK_READ 0x1e /* sense one page, to be programmed elsewhere on its plane */
#define FLASHTRAIN_BUS_OP_COPYBACK_PROGRAM 0x1f /* program it there */
#define FLASHTRAIN_BUS_OP_IDENTITY_OUT 0x20 /* the identity of a page, of which DATA_OUT has moved a part */

/* Flags of a journal record. */
#define FLASHTRAIN_RECORD_FLAG_CLEAN 0x01 /* the controller was shut down after this record */
#define FLASHTRAIN_RECORD_FLAG_REPLACED 0x02 /* spare blocks may be in use; in a clean record they are */
#define FLASHTRAIN_RECORD_FLAG_COPIED 0x04 /* a refresh has not ended */
#define FLASHTRAIN_RECORD_FLAG_COPY_WHOLE 0x08 /* the spare zone of that refresh has all the content */

/* Fields of the 64-byte submission entry (NVM Express Base 2.0, Figure 87). */
#define FLASHTRAIN_SUBMISSION_BYTES 64
#define FLASHTRAIN_SUBMISSION_OPCODE 0, 8
#define FLASHTRAIN_SUBMISSION_FUSE 8, 2
#define FLASHTRAIN_SUBMISSION_PSDT 14, 2 /* 01b: SGL */
#define FLASHTRAIN_SUBMISSION_CID 16, 16
#define FLASHTRAIN_SUBMISSION_NSID 32, 32
#define FLASHTRAIN_SUBMISSION_ADDRESS 192, 64
#define FLASHTRAIN_SUBMISSION_LENGTH 256, 32
#define FLASHTRAIN_SUBMISSION_SGL_TYPE 312, 8 /* 00h: data block, address */
#define FLASHTRAIN_SUBMISSION_SLBA 320, 64 /* ZSLBA of an append or update */
#define FLASHTRAIN_SUBMISSION_NLB 384, 16 /* blocks - 1 (commands that move blocks) */
#define FLASHTRAIN_SUBMISSION_DWORDS 384, 32 /* dwords - 1 (zone management receive) */
#define FLASHTRAIN_SUBMISSION_ACTION 416, 8 /* ZSA, ZRA, GenerationAction */
#define FLASHTRAIN_SUBMISSION_SELECT_ALL 424, 1 /* zone management send */
#define FLASHTRAIN_SUBMISSION_REPORT_OPTIONS 424, 8 /* zone management receive: ReportFilter */
#define FLASHTRAIN_SUBMISSION_PARTIAL 432, 1 /* zone management receive */
#define FLASHTRAIN_SUBMISSION_PAGES 432, 8 /* update: pages of gradients of a tile */
#define FLASHTRAIN_SUBMISSION_COPIES 440, 8 /* update: pages of 16-bit copies of a tile */
#define FLASHTRAIN_SUBMISSION_ROWS 448, 16 /* update: tiles of each channel */
#define FLASHTRAIN_SUBMISSION_EXPANDED 448, 16 /* read of a stream with a codec: blocks of decoded data - 1 */
#define FLASHTRAIN_SUBMISSION_EXACT 464, 1 /* append to and read of a stream with a codec: with WINDOW16 */
#define FLASHTRAIN_SUBMISSION_FIRST_PART 480, 8 /* read: the first part of its only block */
#define FLASHTRAIN_SUBMISSION_PARTS 488, 8 /* read: how many; 0 for whole blocks */
#define FLASHTRAIN_SUBMISSION_SOURCE 480, 8 /* update, commit: namespace of the current generation */
#define FLASHTRAIN_SUBMISSION_SOURCE_PAGE 496, 16 /* update: page of the source's zone that the first tile is on */
#define FLASHTRAIN_SUBMISSION_PHYSICAL 64, 16 /* restore: physical zone */
#define FLASHTRAIN_SUBMISSION_WEAR 96, 21 /* restore: its erases */
#define FLASHTRAIN_SUBMISSION_RESTORED_STATE 424, 4 /* restore: ZoneState */
#define FLASHTRAIN_SUBMISSION_UNSURE 428, 1 /* restore of a zone, finish: blocks behind the write pointer may be lost */
#define FLASHTRAIN_SUBMISSION_SEQUENCE 448, 32 /* restore: number of the zone's allocation, or of the next one */
#define FLASHTRAIN_SUBMISSION_GENERATION 480, 16 /* restore: of a stream, or of the data in a read-only or offline zone */
#define FLASHTRAIN_SUBMISSION_TIME 384, 32 /* restore of a zone: when its oldest data were appended */
#define FLASHTRAIN_SUBMISSION_CHANNEL 448, 8 /* restore of a block: where it is */
#define FLASHTRAIN_SUBMISSION_DIE 456, 8
#define FLASHTRAIN_SUBMISSION_PLANE 464, 8
#define FLASHTRAIN_SUBMISSION_SPARE 480, 16 /* and which spare block of the plane it is, from 0 */
#define FLASHTRAIN_SUBMISSION_PSDT_SGL 1

/* Fields of the 16-byte completion entry (NVM Express Base 2.0, Figures 90 and 93). */
#define FLASHTRAIN_COMPLETION_BYTES 16
#define FLASHTRAIN_COMPLETION_RESULT 0, 64 /* append, update: the assigned LBA */
#define FLASHTRAIN_COMPLETION_STORED 32, 16 /* append to a stream with a codec: blocks that it takes */
#define FLASHTRAIN_COMPLETION_CORRECTED 0, 8 /* read: bits of the page with the most; all ones: so many or more */
#define FLASHTRAIN_COMPLETION_RETRIES 8, 8 /* read: of the page with the most */
#define FLASHTRAIN_COMPLETION_SQ_HEAD 64, 16
#define FLASHTRAIN_COMPLETION_SQ_ID 80, 16 /* the port */
#define FLASHTRAIN_COMPLETION_CID 96, 16
#define FLASHTRAIN_COMPLETION_PHASE 112, 1
#define FLASHTRAIN_COMPLETION_STATUS 113, 11 /* SC in 7:0, SCT in 10:8 */
#define FLASHTRAIN_COMPLETION_DO_NOT_RETRY 127, 1 /* DNR */

/* The header of a zone report (ZNS 1.1, Figure 36). */
#define FLASHTRAIN_REPORT_HEADER_BYTES 64
#define FLASHTRAIN_REPORT_HEADER_ZONES 0, 64

/* Fields of the 64-byte zone descriptor of a report (ZNS 1.1, Figure 37). */
#define FLASHTRAIN_ZONE_DESCRIPTOR_BYTES 64
#define FLASHTRAIN_ZONE_DESCRIPTOR_ZONE_TYPE 0, 8 /* 2: sequential write required */
#define FLASHTRAIN_ZONE_DESCRIPTOR_STATE 12, 4
#define FLASHTRAIN_ZONE_DESCRIPTOR_FINISH_RECOMMENDED 17, 1 /* FZR */
#define FLASHTRAIN_ZONE_DESCRIPTOR_RESET_RECOMMENDED 18, 1 /* RZR */
#define FLASHTRAIN_ZONE_DESCRIPTOR_CAPACITY 64, 64 /* blocks */
#define FLASHTRAIN_ZONE_DESCRIPTOR_START 128, 64 /* ZSLBA */
#define FLASHTRAIN_ZONE_DESCRIPTOR_WRITE_POINTER 192, 64 /* all ones where it has no meaning: FULL, READ_ONLY, OFFLINE */
#define FLASHTRAIN_ZONE_DESCRIPTOR_TIME 256, 32 /* TIME of its oldest data; all ones without data */
#define FLASHTRAIN_ZONE_DESCRIPTOR_SEQUENCE 288, 32 /* of the identities of its pages; all ones without data */
#define FLASHTRAIN_ZONE_DESCRIPTOR_WRITTEN 320, 32 /* blocks below its write pointer, which is kept in every state */
#define FLASHTRAIN_ZONE_DESCRIPTOR_UNSURE 352, 1 /* blocks behind it may have been written, and lost */
#define FLASHTRAIN_ZONE_DESCRIPTOR_SEQUENTIAL_WRITE_REQUIRED 2
#define FLASHTRAIN_ZONE_DESCRIPTOR_NO_POINTER 18446744073709551615u
#define FLASHTRAIN_ZONE_DESCRIPTOR_NO_TIME 4294967295u
#define FLASHTRAIN_ZONE_DESCRIPTOR_NO_SEQUENCE 4294967295u

/* Fields of a stream's ATTRIBUTES register. */
#define FLASHTRAIN_STREAM_ATTRIBUTES_VALID 0, 1
#define FLASHTRAIN_STREAM_ATTRIBUTES_NON_VOLATILE 1, 1
#define FLASHTRAIN_STREAM_ATTRIBUTES_HOST 4, 2 /* Access */
#define FLASHTRAIN_STREAM_ATTRIBUTES_CORE 6, 2
#define FLASHTRAIN_STREAM_ATTRIBUTES_RETENTION 8, 2
#define FLASHTRAIN_STREAM_ATTRIBUTES_REFUSES 10, 1 /* data that are past their class */
#define FLASHTRAIN_STREAM_ATTRIBUTES_CODEC 12, 4

/* Fields of NAND_CYCLE: one asynchronous cycle on the pins of a channel. */
#define FLASHTRAIN_NAND_CYCLE_BYTE 0, 8
#define FLASHTRAIN_NAND_CYCLE_DIE 8, 3 /* within the channel */
#define FLASHTRAIN_NAND_CYCLE_KIND 12, 3 /* CycleKind */

/* Fields of NAND_STATE. */
#define FLASHTRAIN_NAND_STATE_BYTE 0, 8 /* what the last DATA_OUT or LOOK has read */
#define FLASHTRAIN_NAND_STATE_BUSY 8, 1 /* a cycle is under way: no other is taken, and no change of NAND_PAUSE */
#define FLASHTRAIN_NAND_STATE_PAUSED 9, 1 /* the engine has ended what it had begun on the bus: cycles are taken */

/* Fields of NAND_INTERFACE, with `chips.sdr`; its value is the configuration's after power-on. */
#define FLASHTRAIN_NAND_INTERFACE_MODE 0, 3 /* SDR timing mode, 0 to 5, that the engines set */
#define FLASHTRAIN_NAND_INTERFACE_SDR 3, 1 /* they have SDR; 0: NV-DDR3 */

/* Formats and constants of an optimizer step, in the first bytes of a LOAD_CONSTANTS page. */
#define FLASHTRAIN_UPDATE_HEADER_BYTES 64
#define FLASHTRAIN_UPDATE_HEADER_CODE 0, 8 /* OptimizerCode */
#define FLASHTRAIN_UPDATE_HEADER_GRADIENT_FORMAT 8, 8
#define FLASHTRAIN_UPDATE_HEADER_COPY_FORMAT 16, 8
#define FLASHTRAIN_UPDATE_HEADER_WEIGHT_FORMAT 24, 4 /* StateFormat of w */
#define FLASHTRAIN_UPDATE_HEADER_MOMENT_FORMAT 28, 3 /* StateFormat of m and v */
#define FLASHTRAIN_UPDATE_HEADER_ROUNDING 31, 1 /* Rounding of what is stored in 16 or 8 bits */
#define FLASHTRAIN_UPDATE_HEADER_PARAMETERS 32, 32 /* of a tile; more than fit count as all that fit; parts of a `multiple` do not */
#define FLASHTRAIN_UPDATE_HEADER_ROUNDING_KEY 64, 48 /* of stochastic rounding */
#define FLASHTRAIN_UPDATE_HEADER_FIRST_ZONE 112, 12 /* of the stream; the place of a tile counts its zone from there */
#define FLASHTRAIN_UPDATE_HEADER_CONSTANTS(index) 128 + 32 * (index), 32 /* binary32 */
#define FLASHTRAIN_UPDATE_HEADER_FIRST_PAGE 384, 12 /* of the generation in its zone; the place counts its page from there */

/* Statistics of a die's gradients since LOAD_CONSTANTS. */
#define FLASHTRAIN_UPDATE_STATISTICS_BYTES 64
#define FLASHTRAIN_UPDATE_STATISTICS_NANS 0, 32
#define FLASHTRAIN_UPDATE_STATISTICS_INFINITIES 32, 32
#define FLASHTRAIN_UPDATE_STATISTICS_LARGEST 64, 32 /* binary32 */
#define FLASHTRAIN_UPDATE_STATISTICS_TILES 96, 32 /* updated */
#define FLASHTRAIN_UPDATE_STATISTICS_SQUARES(index) 128 + 32 * (index), 32 /* binary32 */

/* Fields of a copy of the parameter page of a chip. */
#define FLASHTRAIN_PARAMETER_PAGE_BYTES 256
#define FLASHTRAIN_PARAMETER_PAGE_COPIES 3 /* at least */
#define FLASHTRAIN_PARAMETER_PAGE_CRC_START 20302
#define FLASHTRAIN_PARAMETER_PAGE_CRC_POLYNOMIAL 32773 /* of all bytes before `crc`, the highest bit of each first */
#define FLASHTRAIN_PARAMETER_PAGE_SIGNATURE_VALUE 1229344335
#define FLASHTRAIN_PARAMETER_PAGE_SIGNATURE 0, 32
#define FLASHTRAIN_PARAMETER_PAGE_FEATURES 48, 16
#define FLASHTRAIN_PARAMETER_PAGE_OPTIONAL_COMMANDS 64, 16
#define FLASHTRAIN_PARAMETER_PAGE_MAKER 256, 96 /* text */
#define FLASHTRAIN_PARAMETER_PAGE_MODEL 352, 160 /* text */
#define FLASHTRAIN_PARAMETER_PAGE_PAGE_BYTES 640, 32
#define FLASHTRAIN_PARAMETER_PAGE_SPARE_BYTES 672, 16
#define FLASHTRAIN_PARAMETER_PAGE_PAGES 736, 32 /* of a block */
#define FLASHTRAIN_PARAMETER_PAGE_BLOCKS 768, 32 /* of a LUN */
#define FLASHTRAIN_PARAMETER_PAGE_LUNS 800, 8
#define FLASHTRAIN_PARAMETER_PAGE_BITS_PER_CELL 816, 8
#define FLASHTRAIN_PARAMETER_PAGE_PLANE_ADDRESS_BITS 904, 4
#define FLASHTRAIN_PARAMETER_PAGE_SDR_MODES 1032, 16 /* a bit for each mode from 0 on */
#define FLASHTRAIN_PARAMETER_PAGE_PROGRAM_US 1064, 16
#define FLASHTRAIN_PARAMETER_PAGE_ERASE_US 1080, 16
#define FLASHTRAIN_PARAMETER_PAGE_SENSE_US 1096, 16
#define FLASHTRAIN_PARAMETER_PAGE_DRIVE 1208, 8 /* drive strengths */
#define FLASHTRAIN_PARAMETER_PAGE_CRC 2032, 16

/* Fields of a page's identity. `zone` is the logical zone, device-wide; `page` to `plane` are its place. */
#define FLASHTRAIN_PAGE_IDENTITY_BYTES 16
#define FLASHTRAIN_PAGE_IDENTITY_STREAM 0, 3 /* NSID - 1 */
#define FLASHTRAIN_PAGE_IDENTITY_UPDATED 3, 1
#define FLASHTRAIN_PAGE_IDENTITY_ZONE 4, 12
#define FLASHTRAIN_PAGE_IDENTITY_PAGE 16, 12
#define FLASHTRAIN_PAGE_IDENTITY_CHANNEL 28, 6
#define FLASHTRAIN_PAGE_IDENTITY_DIE 34, 3
#define FLASHTRAIN_PAGE_IDENTITY_PLANE 37, 4
#define FLASHTRAIN_PAGE_IDENTITY_GENERATION 41, 16 /* of the stream */
#define FLASHTRAIN_PAGE_IDENTITY_SEQUENCE 57, 32
#define FLASHTRAIN_PAGE_IDENTITY_WEAR 89, 21 /* more than `Retention.endurance` ever allows */
#define FLASHTRAIN_PAGE_IDENTITY_VERSION 110, 2
#define FLASHTRAIN_PAGE_IDENTITY_CRC 112, 16 /* CRC-16/IBM-3740 (CCITT-FALSE) of the bytes before it */
#define FLASHTRAIN_PAGE_IDENTITY_VERSION_VALUE 1
#define FLASHTRAIN_PAGE_IDENTITY_CHECKED_BYTES 14

/* Head of a block of a journal record. */
#define FLASHTRAIN_RECORD_HEAD_BYTES 18
#define FLASHTRAIN_RECORD_HEAD_MAGIC 0, 32
#define FLASHTRAIN_RECORD_HEAD_RECORD 32, 32 /* number of the record, from 1 */
#define FLASHTRAIN_RECORD_HEAD_POSITION 64, 16 /* of the block in the record */
#define FLASHTRAIN_RECORD_HEAD_BLOCKS 80, 16 /* of the record */
#define FLASHTRAIN_RECORD_HEAD_CRC 96, 16 /* CRC-16/IBM-3740 of the bytes before it */
#define FLASHTRAIN_RECORD_HEAD_SUM 112, 32 /* CRC-32 of the part behind the head, with its padding of zeros */
#define FLASHTRAIN_RECORD_HEAD_MAGIC_VALUE 877286470
#define FLASHTRAIN_RECORD_HEAD_CHECKED_BYTES 12

/* A stream in a journal record. */
#define FLASHTRAIN_RECORD_STREAM_BYTES 16
#define FLASHTRAIN_RECORD_STREAM_GENERATION 0, 16
#define FLASHTRAIN_RECORD_STREAM_PAGE 16, 16 /* of the stream's first zone, where the committed generation begins */
#define FLASHTRAIN_RECORD_STREAM_COMMIT 32, 32 /* number of the record that committed the generation; 0: not committed */
#define FLASHTRAIN_RECORD_STREAM_UPDATES 64, 32 /* that led to the committed generation */
#define FLASHTRAIN_RECORD_STREAM_NOTE 96, 32 /* bytes of the note */

/* The write pointer of a zone in a clean journal record; 0 if the zone is empty, or it is not known. */
#define FLASHTRAIN_RECORD_WRITTEN_BYTES 4
#define FLASHTRAIN_RECORD_WRITTEN_BLOCKS 0, 31 /* below the write pointer */
#define FLASHTRAIN_RECORD_WRITTEN_FULL 31, 1 /* the zone takes no more */

/* The zones of a refresh in a journal record, counted device-wide. */
#define FLASHTRAIN_RECORD_COPY_BYTES 4
#define FLASHTRAIN_RECORD_COPY_ZONE 0, 16
#define FLASHTRAIN_RECORD_COPY_SPARE 16, 16

/* A time in a journal record, and the sequence number of the next allocation then. */
#define FLASHTRAIN_RECORD_MOMENT_BYTES 8
#define FLASHTRAIN_RECORD_MOMENT_SEQUENCE 0, 32
#define FLASHTRAIN_RECORD_MOMENT_TIME 32, 32 /* seconds of the device's clock */

/* Constants of the register map. */
#define FLASHTRAIN_ID_VALUE 0x4e525446
#define FLASHTRAIN_VERSION_VALUE 0x100
#define FLASHTRAIN_MAX_STREAMS 0x8
#define FLASHTRAIN_PORTS 0x2
#define FLASHTRAIN_PORT_BASE 0x100
#define FLASHTRAIN_PORT_STRIDE 0x40
#define FLASHTRAIN_STREAM_BASE 0x200
#define FLASHTRAIN_STREAM_STRIDE 0x20
#define FLASHTRAIN_COUNTER_BASE 0x400
#define FLASHTRAIN_CHANNEL_COUNTER_BASE 0x600
#define FLASHTRAIN_DOORBELL_BASE 0x1000
#define FLASHTRAIN_ADDRESS_BITS 0xd

/* Bring-up of chips. */
#define FLASHTRAIN_JEDEC_BYTES 5 /* that are read of the maker's identification */
#define FLASHTRAIN_FEATURE_PARAMETERS 4
#define FLASHTRAIN_SDR_MODES 6
#define FLASHTRAIN_ZQ_CALIBRATION 13 /* the bit of the optional commands */
#define FLASHTRAIN_DRIVE_OHMS {18, 25, 35, 50} /* by the value of the feature: an initialiser */
#define FLASHTRAIN_DRIVE_BITS {5, 3, 1, 1} /* of the parameter page that declare each: an initialiser */

/* Constants of recovery, and of the journal. */
#define FLASHTRAIN_GENERATION_LIMIT 0x10000 /* generations in identities count modulo this */
#define FLASHTRAIN_MOST_WEAR 0x1fffff /* where the count of erases stops */
#define FLASHTRAIN_RECORD_FIRST_PIN 8 /* bit of the stream with NSID 1 in the flags; the others follow */
#define FLASHTRAIN_RECORD_MOMENTS 16
#define FLASHTRAIN_ROUNDING_KEY_BITS 48 /* of stochastic rounding */
#define FLASHTRAIN_SCALE_GROUP 32 /* numbers of FP8 with the same scale */

/* Factory marks of bad blocks (flashtrain.spec.bad_blocks). */
#define FLASHTRAIN_MARK 0x00 /* the first byte */
#define FLASHTRAIN_MARK_MOST_WRONG_BITS 1 /* in that byte */
#define FLASHTRAIN_MARK_LEAST_ZEROS 2 /* of the bits that are ones in every identity */
#define FLASHTRAIN_MARK_MOST_WRONG_OTHERS 4 /* of the bits of the other bytes */

/* The key of a page (flashtrain.spec.randomizer). */
#define FLASHTRAIN_KEY_WORD_BYTES 4 /* of a word of the page */
#define FLASHTRAIN_KEY_HALF_BITS 16 /* of a half of the network */
#define FLASHTRAIN_KEY_PAGE_BITS 12 /* of the half that begins with the page, below the plane */
#define FLASHTRAIN_KEY_ROUND_CONSTANTS {0x243f, 0x6a88, 0x85a3, 0x08d3, 0x1319, 0x8a2e, 0x0370, 0x7344, 0xa409, 0x3822} /* an initialiser */

/* Words of state of a parameter, by optimizer: an initialiser. */
#define FLASHTRAIN_OPTIMIZER_ARRAYS {1, 2, 2, 2, 3, 3, 3, 3, 1, 2, 3}

/* Node *activation*: STREAM(nsid, name, persistency, retention, host, core, share, codec, expired, journal). */
#define FLASHTRAIN_NODE_ACTIVATION(STREAM) \
    STREAM(1, inputs, 1, 2, 2, 1, 1, 0, 0, 0), \
    STREAM(2, activations, 0, 0, 0, 3, 2, 0, 1, 0), \
    STREAM(8, journal, 1, 2, 3, 0, 0, 0, 0, 1)

/* Node *weight*: STREAM(nsid, name, persistency, retention, host, core, share, codec, expired, journal). */
#define FLASHTRAIN_NODE_WEIGHT(STREAM) \
    STREAM(2, weights, 0, 0, 0, 3, 2, 0, 1, 0), \
    STREAM(3, trained, 1, 2, 1, 3, 1, 0, 0, 0), \
    STREAM(8, journal, 1, 2, 3, 0, 0, 0, 0, 1)

/* Node *single*: STREAM(nsid, name, persistency, retention, host, core, share, codec, expired, journal). */
#define FLASHTRAIN_NODE_SINGLE(STREAM) \
    STREAM(1, inputs, 1, 2, 2, 1, 1, 0, 0, 0), \
    STREAM(2, activations, 0, 0, 0, 3, 3, 0, 1, 0), \
    STREAM(3, trained, 1, 2, 1, 3, 1, 0, 0, 0), \
    STREAM(4, weights, 0, 0, 0, 3, 2, 0, 1, 0), \
    STREAM(8, journal, 1, 2, 3, 0, 0, 0, 0, 1)

/* Node *store*: STREAM(nsid, name, persistency, retention, host, core, share, codec, expired, journal). */
#define FLASHTRAIN_NODE_STORE(STREAM) \
    STREAM(1, inputs, 1, 2, 2, 1, 1, 0, 0, 0), \
    STREAM(2, activations, 0, 0, 0, 3, 3, 0, 1, 0), \
    STREAM(3, trained, 1, 2, 1, 3, 1, 0, 0, 0), \
    STREAM(4, weights, 0, 0, 0, 3, 2, 0, 1, 0), \
    STREAM(5, catalog, 1, 2, 3, 1, 2, 0, 0, 0), \
    STREAM(8, journal, 1, 2, 3, 0, 0, 0, 0, 1)

/* Node *update*: STREAM(nsid, name, persistency, retention, host, core, share, codec, expired, journal). */
#define FLASHTRAIN_NODE_UPDATE(STREAM) \
    STREAM(1, inputs, 1, 2, 2, 1, 1, 0, 0, 0), \
    STREAM(2, activations, 0, 0, 0, 3, 3, 0, 1, 0), \
    STREAM(3, trained, 1, 2, 1, 3, 1, 0, 0, 0), \
    STREAM(5, state_a, 1, 1, 1, 3, 2, 0, 0, 0), \
    STREAM(6, state_b, 1, 1, 1, 3, 2, 0, 0, 0), \
    STREAM(7, state_c, 1, 1, 1, 3, 2, 0, 0, 0), \
    STREAM(4, weights, 0, 0, 0, 3, 1, 0, 1, 0), \
    STREAM(8, journal, 1, 2, 3, 0, 0, 0, 0, 1)

/* Node *serve*: STREAM(nsid, name, persistency, retention, host, core, share, codec, expired, journal). */
#define FLASHTRAIN_NODE_SERVE(STREAM) \
    STREAM(1, storage, 1, 2, 3, 3, 1, 0, 0, 0), \
    STREAM(8, journal, 1, 2, 3, 0, 0, 0, 0, 1)

/* Node *objects*: STREAM(nsid, name, persistency, retention, host, core, share, codec, expired, journal). */
#define FLASHTRAIN_NODE_OBJECTS(STREAM) \
    STREAM(1, objects, 1, 2, 3, 1, 100, 0, 0, 0), \
    STREAM(2, names, 1, 2, 3, 1, 1, 0, 0, 0), \
    STREAM(8, journal, 1, 2, 3, 0, 0, 0, 0, 1)

/* Byte addresses within the register map. */
#define FLASHTRAIN_PORT_ADDRESS(port, reg) (FLASHTRAIN_PORT_BASE + (port) * FLASHTRAIN_PORT_STRIDE + (reg))
#define FLASHTRAIN_STREAM_ADDRESS(nsid, reg) \
    (FLASHTRAIN_STREAM_BASE + ((nsid) - 1) * FLASHTRAIN_STREAM_STRIDE + (reg))
#define FLASHTRAIN_COUNTER_ADDRESS(counter) (FLASHTRAIN_COUNTER_BASE + 8 * (counter))
#define FLASHTRAIN_CHANNEL_COUNTER_ADDRESS(counter) (FLASHTRAIN_CHANNEL_COUNTER_BASE + 8 * (counter))
#define FLASHTRAIN_SQ_TAIL_DOORBELL(port) (FLASHTRAIN_DOORBELL_BASE + 8 * (port))
#define FLASHTRAIN_CQ_HEAD_DOORBELL(port) (FLASHTRAIN_DOORBELL_BASE + 8 * (port) + 4)

#endif
