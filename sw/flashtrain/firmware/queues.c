/* I/O queues: created and deleted by admin commands. */
#include "internal.h"

#define CONTIGUOUS 1u
#define INTERRUPTS 2u

bool ft_fw_in_use(const struct ft_firmware* firmware) {
    for (unsigned queue = 1; queue <= FLASHTRAIN_MAX_QUEUES; ++queue) {
        if (firmware->submissions[queue].state) return true;
    }
    return false;
}

static bool is_open(struct ft_firmware* firmware, uint32_t queue) {
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_OPEN, queue);
    return ft_fw_read(firmware, FLASHTRAIN_MAILBOX_OPEN) != 0;
}

bool ft_fw_any_open(struct ft_firmware* firmware) {
    for (uint32_t queue = 1; queue <= FLASHTRAIN_MAX_QUEUES; ++queue) {
        if (firmware->submissions[queue].state && is_open(firmware, queue)) return true;
    }
    return false;
}

/* Whether a command of this CID waits for the end of a queue. */
bool ft_fw_deletes(const struct ft_firmware* firmware, uint16_t cid) {
    for (unsigned queue = 1; queue <= FLASHTRAIN_MAX_QUEUES; ++queue) {
        const struct ft_firmware_queue* one = &firmware->submissions[queue];
        if (one->state == FT_QUEUE_DELETED && one->cid == cid) return true;
    }
    return false;
}

/* Answers the deletion of each queue whose commands are all answered; whether others wait. */
bool ft_fw_end_deletions(struct ft_firmware* firmware) {
    bool waits = false;
    for (uint32_t queue = 1; queue <= FLASHTRAIN_MAX_QUEUES; ++queue) {
        struct ft_firmware_queue* one = &firmware->submissions[queue];
        if (one->state != FT_QUEUE_DELETED) continue;
        if (is_open(firmware, queue)) {
            waits = true;
            continue;
        }
        one->state = FT_QUEUE_ABSENT;
        ft_fw_answer(firmware, one->cid, FLASHTRAIN_TARGET_STATUS_SUCCESS, 0);
    }
    return waits;
}

static struct ft_fw_reply refused(uint16_t status, bool noted) {
    const struct ft_fw_reply reply = {.status = status, .noted = noted};
    return reply;
}

/* The status of base and flags of a new queue. */
static uint16_t check_base(const struct ft_firmware* firmware, uint32_t page_bytes) {
    if (firmware->entry[FT_FW_PRP1] & (page_bytes - 1)) return FLASHTRAIN_TARGET_STATUS_INVALID_PRP_OFFSET;
    if (!(firmware->entry[FT_FW_CDW11] & CONTIGUOUS)) return FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
    return FLASHTRAIN_TARGET_STATUS_SUCCESS;
}

static uint16_t check_new(const struct ft_firmware* firmware, bool exists) {
    const uint32_t number = firmware->entry[FT_FW_CDW10] & 0xffff;
    const uint32_t entries = (firmware->entry[FT_FW_CDW10] >> 16) + 1;
    if (!number || number > ft_fw_word(firmware, FLASHTRAIN_TABLE_QUEUES) || exists)
        return FLASHTRAIN_TARGET_STATUS_INVALID_QUEUE_NUMBER;
    if (entries < 2 || entries > ft_fw_word(firmware, FLASHTRAIN_TABLE_ENTRIES))
        return FLASHTRAIN_TARGET_STATUS_INVALID_QUEUE_SIZE;
    return FLASHTRAIN_TARGET_STATUS_SUCCESS;
}

static void place(struct ft_firmware* firmware) {
    ft_fw_rest(firmware);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_ADDRESS, firmware->entry[FT_FW_PRP1]);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_ADDRESS + 4, firmware->entry[FT_FW_PRP1 + 1]);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_SIZE, firmware->entry[FT_FW_CDW10] >> 16);
}

struct ft_fw_reply ft_fw_create_completions(struct ft_firmware* firmware, uint32_t page_bytes) {
    const uint32_t number = firmware->entry[FT_FW_CDW10] & 0xffff;
    const uint32_t vector = firmware->entry[FT_FW_CDW11] >> 16;
    const bool exists = number <= FLASHTRAIN_MAX_QUEUES && firmware->completions[number];
    uint16_t status = check_new(firmware, exists);
    if (!status && vector > ft_fw_word(firmware, FLASHTRAIN_TABLE_QUEUES))
        status = FLASHTRAIN_TARGET_STATUS_INVALID_VECTOR;
    if (!status) status = check_base(firmware, page_bytes);
    if (status) return refused(status, true);
    place(firmware);
    ft_fw_change(firmware, FLASHTRAIN_MAILBOX_CHANGE_KIND_CREATE_COMPLETIONS, number, vector,
                 ft_fw_field(FLASHTRAIN_MAILBOX_CHANGE_INTERRUPTS,
                             (firmware->entry[FT_FW_CDW11] & INTERRUPTS) != 0));
    firmware->completions[number] = true;
    return refused(FLASHTRAIN_TARGET_STATUS_SUCCESS, false);
}

/* The priority has no meaning for round robin. */
struct ft_fw_reply ft_fw_create_submissions(struct ft_firmware* firmware, uint32_t page_bytes) {
    const uint32_t number = firmware->entry[FT_FW_CDW10] & 0xffff;
    const uint32_t chosen = firmware->entry[FT_FW_CDW11] >> 16;
    const bool exists = number <= FLASHTRAIN_MAX_QUEUES && firmware->submissions[number].state;
    uint16_t status = check_new(firmware, exists);
    if (!status && (!chosen || chosen > ft_fw_word(firmware, FLASHTRAIN_TABLE_QUEUES)))
        status = FLASHTRAIN_TARGET_STATUS_INVALID_QUEUE_NUMBER;
    if (!status && !firmware->completions[chosen])
        status = FLASHTRAIN_TARGET_STATUS_INVALID_COMPLETION_QUEUE;
    if (!status) status = check_base(firmware, page_bytes);
    if (status) return refused(status, true);
    place(firmware);
    ft_fw_change(firmware, FLASHTRAIN_MAILBOX_CHANGE_KIND_CREATE_SUBMISSIONS, number, chosen,
                 ft_fw_field(FLASHTRAIN_MAILBOX_CHANGE_PRIORITY, firmware->entry[FT_FW_CDW11] >> 1 & 3));
    firmware->submissions[number].state = FT_QUEUE_PRESENT;
    firmware->submissions[number].partner = (uint8_t)chosen;
    return refused(FLASHTRAIN_TARGET_STATUS_SUCCESS, false);
}

struct ft_fw_reply ft_fw_delete_completions(struct ft_firmware* firmware) {
    const uint32_t number = firmware->entry[FT_FW_CDW10] & 0xffff;
    if (!number || number > FLASHTRAIN_MAX_QUEUES || !firmware->completions[number])
        return refused(FLASHTRAIN_TARGET_STATUS_INVALID_QUEUE_NUMBER, false);
    for (unsigned queue = 1; queue <= FLASHTRAIN_MAX_QUEUES; ++queue) {
        if (firmware->submissions[queue].state && firmware->submissions[queue].partner == number)
            return refused(FLASHTRAIN_TARGET_STATUS_INVALID_QUEUE_DELETION, false);
    }
    ft_fw_change(firmware, FLASHTRAIN_MAILBOX_CHANGE_KIND_DELETE_COMPLETIONS, number, 0, 0);
    firmware->completions[number] = false;
    return refused(FLASHTRAIN_TARGET_STATUS_SUCCESS, false);
}

/* Commands that were fetched have their answers; the answer to this one comes behind them. */
struct ft_fw_reply ft_fw_delete_submissions(struct ft_firmware* firmware) {
    const uint32_t number = firmware->entry[FT_FW_CDW10] & 0xffff;
    if (!number || number > FLASHTRAIN_MAX_QUEUES ||
        firmware->submissions[number].state != FT_QUEUE_PRESENT)
        return refused(FLASHTRAIN_TARGET_STATUS_INVALID_QUEUE_NUMBER, false);
    ft_fw_change(firmware, FLASHTRAIN_MAILBOX_CHANGE_KIND_DELETE_SUBMISSIONS, number, 0, 0);
    firmware->submissions[number].state = FT_QUEUE_DELETED;
    firmware->submissions[number].cid = (uint16_t)(firmware->entry[FT_FW_CDW0] >> 16);
    const struct ft_fw_reply reply = {.later = true};
    return reply;
}
