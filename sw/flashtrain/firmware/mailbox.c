/* The mailbox: accesses, waits for its work, answers, changes of queues. */
#include "internal.h"

uint32_t ft_fw_read(const struct ft_firmware* firmware, uint32_t offset) {
    return firmware->hooks.read(firmware->hooks.context, offset);
}

void ft_fw_write(const struct ft_firmware* firmware, uint32_t offset, uint32_t value) {
    firmware->hooks.write(firmware->hooks.context, offset, value);
}

void ft_fw_pause(const struct ft_firmware* firmware) {
    if (firmware->hooks.pause) firmware->hooks.pause(firmware->hooks.context);
}

/* The bits of a register that hold `value`. */
uint32_t ft_fw_field(unsigned low, unsigned width, uint32_t value) {
    return (value & ((1u << width) - 1)) << low;
}

/* Waits for the end of what was begun, and returns the state. A work without an end is CSTS.CFS. */
uint32_t ft_fw_rest(struct ft_firmware* firmware) {
    uint32_t state = 0;
    for (uint32_t poll = 0; poll < FT_FIRMWARE_WORK_POLLS && !firmware->failed; ++poll) {
        state = ft_fw_read(firmware, FLASHTRAIN_MAILBOX_STATE);
        if (!(state & FLASHTRAIN_MAILBOX_STATE_BUSY)) return state;
        ft_fw_pause(firmware);
    }
    if (!firmware->failed)
        ft_fw_write(firmware, FLASHTRAIN_MAILBOX_CONTROL, FLASHTRAIN_MAILBOX_CONTROL_FAIL);
    firmware->failed = true;
    return state | FLASHTRAIN_MAILBOX_STATE_FAILED;
}

void ft_fw_answer(struct ft_firmware* firmware, uint16_t cid, uint16_t status, uint32_t result) {
    const bool again = status == FLASHTRAIN_TARGET_STATUS_SUCCESS ||
                       status == FLASHTRAIN_TARGET_STATUS_DATA_TRANSFER_ERROR;
    ft_fw_rest(firmware);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_RESULT, result);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_RESULT + 4, 0);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_ANSWER,
                ft_fw_field(FLASHTRAIN_MAILBOX_ANSWER_CID, cid) |
                    ft_fw_field(FLASHTRAIN_MAILBOX_ANSWER_STATUS, status) |
                    ft_fw_field(FLASHTRAIN_MAILBOX_ANSWER_DO_NOT_RETRY, again ? 0 : 1));
}

/* ADDRESS and SIZE of a new queue were written before. `others`: fields of its kind. */
void ft_fw_change(struct ft_firmware* firmware, uint32_t kind, uint32_t queue, uint32_t partner,
                  uint32_t others) {
    ft_fw_rest(firmware);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_CHANGE,
                ft_fw_field(FLASHTRAIN_MAILBOX_CHANGE_KIND, kind) |
                    ft_fw_field(FLASHTRAIN_MAILBOX_CHANGE_QUEUE, queue) |
                    ft_fw_field(FLASHTRAIN_MAILBOX_CHANGE_PARTNER, partner) | others);
    ft_fw_rest(firmware);
}
