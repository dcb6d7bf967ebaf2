/* Firmware of a drive on PCI Express: freestanding C99, no dynamic memory, no recursion, bounded waits.
 *
 * Use, in this order:
 *
 *     ft_firmware_start    configures and enables the controller, and writes the table of namespaces
 *     ft_firmware_poll     one step of work: whenever `attention` of the front end is high, and as long as the
 *                          last call has returned true
 *
 * The front end fetches admin commands of the host, and ft_firmware_poll answers them through the mailbox. I/O
 * commands need no firmware. One thread uses a drive at a time.
 *
 * What the firmware answers from tables, and how it sets up the controller, is in a block of bytes that
 * `python -m flashtrain.firmware` writes for a configuration: identify data, log pages, features.
 */
#ifndef FLASHTRAIN_FIRMWARE_H
#define FLASHTRAIN_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware_contract.h"

/* Access to the front end. Functions get `context` as their first argument.
 *
 * - read, write: a register at a byte offset of the mailbox's port; the table of namespaces lies behind it.
 * - read_register, write_register: a register at a byte offset of the controller's register map.
 * - pause: called between two polls of a register; NULL for none.
 */
struct ft_firmware_hooks {
    void* context;
    uint32_t (*read)(void* context, uint32_t offset);
    void (*write)(void* context, uint32_t offset, uint32_t value);
    uint32_t (*read_register)(void* context, uint32_t offset);
    void (*write_register)(void* context, uint32_t offset, uint32_t value);
    void (*pause)(void* context);
};

enum ft_firmware_error {
    FT_FIRMWARE_OK = 0,
    FT_FIRMWARE_ERR_TABLES, /* the block of tables is none, is of another version, or has another length */
    FT_FIRMWARE_ERR_DEVICE, /* ID or VERSION of the controller are other ones, or it reports a fatal fault */
    FT_FIRMWARE_ERR_TIMEOUT /* the controller was not ready within FT_FIRMWARE_START_POLLS */
};

/* Polls of the controller's STATE at the start, and of the mailbox's STATE for one work of it. */
#ifndef FT_FIRMWARE_START_POLLS
#define FT_FIRMWARE_START_POLLS 1000000u
#define FT_FIRMWARE_WORK_POLLS 1000000u
#endif

/* Kinds of events: doorbells of no queue, and those of an impossible value. */
#define FT_EVENT_KINDS 2

/* A refused command in the error log. */
struct ft_firmware_refusal {
    uint64_t lba;
    uint32_t nsid;
    uint16_t cid, status;
};

enum ft_firmware_queue_state { FT_QUEUE_ABSENT = 0, FT_QUEUE_PRESENT, FT_QUEUE_DELETED };

/* A submission queue: its completion queue, and the command that deletes it. */
struct ft_firmware_queue {
    uint8_t state, partner;
    uint16_t cid;
};

/* The firmware of one drive. Its members are its own; a caller only gives the memory. */
struct ft_firmware {
    struct ft_firmware_hooks hooks;
    const uint8_t* tables;
    bool failed; /* the mailbox did not end its work: CSTS.CFS is set, until the host resets the controller */
    bool owes;   /* and a command that was taken then has no answer */

    struct ft_firmware_queue submissions[FLASHTRAIN_MAX_QUEUES + 1];
    bool completions[FLASHTRAIN_MAX_QUEUES + 1];

    uint16_t requests[FLASHTRAIN_MOST_REQUESTS]; /* of events, by their CIDs */
    uint8_t request_count;
    uint8_t events[FT_EVENT_KINDS];              /* that wait for a request, in their order, */
    uint8_t event_count, events_masked;          /* and a bit for each kind whose page was not read */

    uint32_t stored[FLASHTRAIN_FIRMWARE_FEATURES]; /* values, in the order of the table's rows */
    uint32_t recovery[FLASHTRAIN_MAX_STREAMS]; /* of the feature that namespaces have */
    uint32_t vectors[FLASHTRAIN_MAX_QUEUES / 32 + 1];

    uint64_t refusal_count;
    struct ft_firmware_refusal refusals[FLASHTRAIN_ERROR_ENTRIES];

    uint32_t entry[FLASHTRAIN_SUBMISSION_BYTES / 4]; /* the admin command that was taken */
    uint64_t pages[FLASHTRAIN_FIRMWARE_PAGES];       /* of the host, for its data */
    uint32_t buffer[FLASHTRAIN_FIRMWARE_DWORDS];     /* what the buffer of the mailbox holds, */
    uint32_t known;                                  /* where a bit is 1 */
    uint8_t page[FLASHTRAIN_HEALTH_BYTES];           /* data that are made for one command */
};

/* `tables` has `table_bytes`, and stays where it is as long as the firmware is in use. */
enum ft_firmware_error ft_firmware_start(struct ft_firmware* firmware, const struct ft_firmware_hooks* hooks,
                                         const uint8_t* tables, uint32_t table_bytes);

/* One step of work. True if there was any, or if a deleted queue still has commands: call it again. */
bool ft_firmware_poll(struct ft_firmware* firmware);

#endif
