/* Admin commands: checks of all, and the answer to each. */
#include "internal.h"

#define FUSE 0x0300u
#define PSDT 0xc000u

/* Bytes for the host; `status` of a command that is refused before its data pointer is looked at. */
static uint32_t length_of(const struct ft_firmware* firmware, uint16_t* status) {
    const uint32_t* entry = firmware->entry;
    const uint8_t opcode = (uint8_t)entry[FT_FW_CDW0];
    const uint32_t dwords = entry[FT_FW_CDW10] >> 16 | entry[FT_FW_CDW11] << 16;
    if (!ft_fw_takes(firmware, opcode)) {
        *status = FLASHTRAIN_TARGET_STATUS_INVALID_OPCODE;
        return 0;
    }
    if (entry[FT_FW_CDW0] & FUSE) {
        *status = FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
        return 0;
    }
    switch (opcode) {
        case FLASHTRAIN_ADMIN_IDENTIFY: return FLASHTRAIN_STRUCTURE_BYTES;
        case FLASHTRAIN_ADMIN_GET_LOG_PAGE:
            if (dwords >= FLASHTRAIN_MOST_LOG_BYTES / 4 || entry[FT_FW_CDW12] & 3) {
                *status = FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
                return 0;
            }
            return 4 * (dwords + 1);
        default: return 0;
    }
}

static bool is_in_use(const struct ft_firmware* firmware, uint16_t cid) {
    for (unsigned i = 0; i < firmware->request_count; ++i) {
        if (firmware->requests[i] == cid) return true;
    }
    return ft_fw_deletes(firmware, cid);
}

static struct ft_fw_reply reply_to(struct ft_firmware* firmware, uint16_t cid, uint32_t page_bytes) {
    struct ft_fw_reply reply = {.status = FLASHTRAIN_TARGET_STATUS_SUCCESS};
    switch (firmware->entry[FT_FW_CDW0] & 0xff) {
        case FLASHTRAIN_ADMIN_CREATE_CQ: return ft_fw_create_completions(firmware, page_bytes);
        case FLASHTRAIN_ADMIN_CREATE_SQ: return ft_fw_create_submissions(firmware, page_bytes);
        case FLASHTRAIN_ADMIN_DELETE_CQ: return ft_fw_delete_completions(firmware);
        case FLASHTRAIN_ADMIN_DELETE_SQ: return ft_fw_delete_submissions(firmware);
        case FLASHTRAIN_ADMIN_IDENTIFY: return ft_fw_identify(firmware);
        case FLASHTRAIN_ADMIN_GET_LOG_PAGE: return ft_fw_log_page(firmware);
        case FLASHTRAIN_ADMIN_SET_FEATURES: return ft_fw_set_feature(firmware);
        case FLASHTRAIN_ADMIN_GET_FEATURES: return ft_fw_get_feature(firmware);
        case FLASHTRAIN_ADMIN_ABORT: /* commands that were fetched are with the hardware */
            reply.result = FLASHTRAIN_LEFT_ALONE;
            return reply;
        case FLASHTRAIN_ADMIN_ASYNC_EVENT_REQUEST:
            reply.later = ft_fw_request_event(firmware, cid);
            if (!reply.later) reply.status = FLASHTRAIN_TARGET_STATUS_ASYNC_EVENT_LIMIT_EXCEEDED;
            return reply;
        default: reply.status = FLASHTRAIN_TARGET_STATUS_INVALID_OPCODE; return reply;
    }
}

void ft_fw_execute(struct ft_firmware* firmware, uint32_t page_bytes) {
    const uint16_t cid = (uint16_t)(firmware->entry[FT_FW_CDW0] >> 16);
    struct ft_fw_reply reply = {.noted = true};
    uint32_t length = 0;
    if (is_in_use(firmware, cid)) {
        ft_fw_answer(firmware, cid, FLASHTRAIN_TARGET_STATUS_CID_CONFLICT, 0);
        return;
    }
    if (firmware->entry[FT_FW_CDW0] & PSDT) reply.status = FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
    if (!reply.status) length = length_of(firmware, &reply.status);
    if (!reply.status) reply.status = ft_fw_find_pages(firmware, length, page_bytes);
    if (!reply.status) {
        reply = reply_to(firmware, cid, page_bytes);
        if (reply.later) return;
        if (length && !reply.status &&
            !ft_fw_send(firmware, &reply.data, reply.offset, length, page_bytes)) {
            reply.status = FLASHTRAIN_TARGET_STATUS_DATA_TRANSFER_ERROR;
            reply.noted = true;
        }
    }
    if (reply.status && reply.noted) ft_fw_note_refusal(firmware, reply.status);
    ft_fw_answer(firmware, cid, reply.status, reply.status ? 0 : reply.result);
}

/* CC.EN = 0: queues and events go. Each command that was taken has an answer, which goes nowhere. */
void ft_fw_stop(struct ft_firmware* firmware, uint32_t state) {
    if (firmware->owes && (state & FLASHTRAIN_MAILBOX_STATE_TAKEN))
        ft_fw_answer(firmware, (uint16_t)(ft_fw_read(firmware, FLASHTRAIN_MAILBOX_ENTRY) >> 16),
                     FLASHTRAIN_TARGET_STATUS_SUCCESS, 0);
    firmware->owes = false;
    for (unsigned queue = 0; queue <= FLASHTRAIN_MAX_QUEUES; ++queue) {
        struct ft_firmware_queue* one = &firmware->submissions[queue];
        if (one->state == FT_QUEUE_DELETED)
            ft_fw_answer(firmware, one->cid, FLASHTRAIN_TARGET_STATUS_SUCCESS, 0);
        one->state = FT_QUEUE_ABSENT;
        firmware->completions[queue] = false;
    }
    for (; firmware->request_count; --firmware->request_count)
        ft_fw_answer(firmware, firmware->requests[firmware->request_count - 1],
                     FLASHTRAIN_TARGET_STATUS_SUCCESS, 0);
    firmware->event_count = firmware->events_masked = 0;
    ft_fw_reset_features(firmware);
}
