/* The start of a drive, and the steps of its firmware. */
#include "internal.h"

#define FORGOTTEN                                                                 \
    (FLASHTRAIN_MAILBOX_STATE_WRONG_QUEUE | FLASHTRAIN_MAILBOX_STATE_WRONG_VALUE | \
     FLASHTRAIN_MAILBOX_STATE_STOPPED)

static enum ft_firmware_error await_ready(const struct ft_firmware* firmware, bool ready) {
    const struct ft_firmware_hooks* hooks = &firmware->hooks;
    for (uint32_t poll = 0; poll < FT_FIRMWARE_START_POLLS; ++poll) {
        const uint32_t state = hooks->read_register(hooks->context, FLASHTRAIN_REGISTER_STATE);
        if (state & FLASHTRAIN_STATE_FATAL) return FT_FIRMWARE_ERR_DEVICE;
        if (((state & FLASHTRAIN_STATE_READY) != 0) == ready) return FT_FIRMWARE_OK;
        ft_fw_pause(firmware);
    }
    return FT_FIRMWARE_ERR_TIMEOUT;
}

static void clear(struct ft_firmware* firmware) {
    uint8_t* bytes = (uint8_t*)firmware;
    for (uint32_t i = 0; i < sizeof *firmware; ++i) bytes[i] = 0;
}

enum ft_firmware_error ft_firmware_start(struct ft_firmware* firmware, const struct ft_firmware_hooks* hooks,
                                         const uint8_t* tables, uint32_t table_bytes) {
    if (table_bytes < 4 * FLASHTRAIN_TABLE_WORDS) return FT_FIRMWARE_ERR_TABLES;
    clear(firmware);
    firmware->hooks = *hooks;
    firmware->tables = tables;
    if (ft_fw_word(firmware, FLASHTRAIN_TABLE_MAGIC) != FLASHTRAIN_TABLE_MAGIC_VALUE ||
        ft_fw_word(firmware, FLASHTRAIN_TABLE_BYTES) != table_bytes)
        return FT_FIRMWARE_ERR_TABLES;
    if (hooks->read_register(hooks->context, FLASHTRAIN_REGISTER_ID) != FLASHTRAIN_ID_VALUE ||
        hooks->read_register(hooks->context, FLASHTRAIN_REGISTER_VERSION) != FLASHTRAIN_VERSION_VALUE)
        return FT_FIRMWARE_ERR_DEVICE;

    hooks->write_register(hooks->context, FLASHTRAIN_REGISTER_CONTROL, 0);
    enum ft_firmware_error error = await_ready(firmware, false);
    if (error) return error;
    const uint8_t* row;
    for (uint32_t i = 0; (row = ft_fw_row(firmware, FLASHTRAIN_TABLE_REGISTERS, i, 2)); ++i)
        hooks->write_register(hooks->context, ft_fw_get32(row), ft_fw_get32(row + 4));
    ft_fw_reset_features(firmware);
    return await_ready(firmware, true);
}

/* Takes the next command, if there is one. */
static bool take(struct ft_firmware* firmware) {
    ft_fw_rest(firmware);
    if (firmware->failed) return false;
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_TAKE, 0);
    firmware->owes = true;
    const uint32_t state = ft_fw_rest(firmware);
    if (firmware->failed) return false;
    firmware->owes = false;
    if (!(state & FLASHTRAIN_MAILBOX_STATE_TAKEN)) return false;
    for (uint32_t dword = 0; dword < FLASHTRAIN_SUBMISSION_BYTES / 4; ++dword)
        firmware->entry[dword] = ft_fw_read(firmware, FLASHTRAIN_MAILBOX_ENTRY + 4 * dword);
    if (state & FLASHTRAIN_MAILBOX_STATE_STOPPED) {
        /* The host has reset the controller since the last look. While a command is open it cannot enable it
         * again: so this command came behind the reset if the controller is enabled, and goes with it else. */
        ft_fw_write(firmware, FLASHTRAIN_MAILBOX_CONTROL, state & FORGOTTEN);
        ft_fw_stop(firmware, state);
        if (!(state & FLASHTRAIN_MAILBOX_STATE_ENABLED)) {
            ft_fw_answer(firmware, (uint16_t)(firmware->entry[FT_FW_CDW0] >> 16),
                         FLASHTRAIN_TARGET_STATUS_SUCCESS, 0);
            return true;
        }
    }
    const uint32_t exponent =
        state >> FLASHTRAIN_MAILBOX_PAGE_EXPONENT_LOW & ((1u << FLASHTRAIN_MAILBOX_PAGE_EXPONENT_WIDTH) - 1);
    ft_fw_execute(firmware, 1u << (FLASHTRAIN_PAGE_BITS + exponent));
    firmware->owes = firmware->failed;
    return true;
}

bool ft_firmware_poll(struct ft_firmware* firmware) {
    const uint32_t state = ft_fw_read(firmware, FLASHTRAIN_MAILBOX_STATE);
    bool worked = false;
    if (firmware->failed) {
        if (state & FLASHTRAIN_MAILBOX_STATE_BUSY || !(state & FLASHTRAIN_MAILBOX_STATE_STOPPED)) return false;
        firmware->failed = false;
    }
    if (state & FORGOTTEN) {
        ft_fw_write(firmware, FLASHTRAIN_MAILBOX_CONTROL, state & FORGOTTEN);
        if (state & FLASHTRAIN_MAILBOX_STATE_STOPPED)
            ft_fw_stop(firmware, state);
        else
            ft_fw_raise(firmware, state);
        worked = true;
    }
    const bool waits = ft_fw_end_deletions(firmware);
    if ((state & FLASHTRAIN_MAILBOX_STATE_SHUT_DOWN) && !ft_fw_any_open(firmware)) {
        ft_fw_write(firmware, FLASHTRAIN_MAILBOX_CONTROL, FLASHTRAIN_MAILBOX_CONTROL_ENDED);
        worked = true;
    }
    if (state & FLASHTRAIN_MAILBOX_STATE_WAITING) worked |= take(firmware);
    return worked || waits;
}
