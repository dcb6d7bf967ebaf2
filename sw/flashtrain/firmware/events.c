/* Asynchronous events, and the log of refused commands. */
#include "internal.h"

static const struct {
    uint32_t state, event;
} kinds[FT_EVENT_KINDS] = {
    {FLASHTRAIN_MAILBOX_STATE_WRONG_QUEUE, FLASHTRAIN_EVENT_WRONG_DOORBELL},
    {FLASHTRAIN_MAILBOX_STATE_WRONG_VALUE, FLASHTRAIN_EVENT_WRONG_DOORBELL_VALUE},
};

void ft_fw_note_refusal(struct ft_firmware* firmware, uint16_t status) {
    const uint32_t* entry = firmware->entry;
    struct ft_firmware_refusal* refusal =
        &firmware->refusals[firmware->refusal_count++ & (FLASHTRAIN_ERROR_ENTRIES - 1)];
    refusal->cid = (uint16_t)(entry[FT_FW_CDW0] >> 16);
    refusal->status = status;
    refusal->nsid = entry[FT_FW_NSID];
    refusal->lba = entry[FT_FW_CDW10] | (uint64_t)entry[FT_FW_CDW11] << 32;
}

/* A dword of the error log, the newest entry first. */
uint32_t ft_fw_refusal_dword(const struct ft_firmware* firmware, uint32_t offset) {
    const uint32_t index = offset / FLASHTRAIN_ERROR_ENTRY_BYTES;
    if (index >= FLASHTRAIN_ERROR_ENTRIES || index >= firmware->refusal_count) return 0;
    const uint64_t number = firmware->refusal_count - index;
    const struct ft_firmware_refusal* refusal =
        &firmware->refusals[(number - 1) & (FLASHTRAIN_ERROR_ENTRIES - 1)];
    const uint32_t final = refusal->status == FLASHTRAIN_TARGET_STATUS_DATA_TRANSFER_ERROR ? 0 : 0x8000;
    switch (offset % FLASHTRAIN_ERROR_ENTRY_BYTES / 4) {
        case 0: return (uint32_t)number;
        case 1: return (uint32_t)(number >> 32);
        case 2: return (uint32_t)refusal->cid << 16; /* the admin queue */
        case 3: return FLASHTRAIN_NOWHERE << 16 | final | (uint32_t)refusal->status << 1;
        case 4: return (uint32_t)refusal->lba;
        case 5: return (uint32_t)(refusal->lba >> 32);
        case 6: return refusal->nsid;
        default: return 0;
    }
}

static void send(struct ft_firmware* firmware) {
    while (firmware->event_count && firmware->request_count) {
        const uint16_t cid = firmware->requests[0];
        const uint8_t kind = firmware->events[0];
        --firmware->request_count;
        --firmware->event_count;
        for (unsigned i = 0; i < firmware->request_count; ++i)
            firmware->requests[i] = firmware->requests[i + 1];
        for (unsigned i = 0; i < firmware->event_count; ++i) firmware->events[i] = firmware->events[i + 1];
        firmware->events_masked |= (uint8_t)(1u << kind);
        ft_fw_answer(firmware, cid, FLASHTRAIN_TARGET_STATUS_SUCCESS, kinds[kind].event);
    }
}

static bool waits(const struct ft_firmware* firmware, unsigned kind) {
    for (unsigned i = 0; i < firmware->event_count; ++i) {
        if (firmware->events[i] == kind) return true;
    }
    return false;
}

/* The events of wrong doorbells in the mailbox's state. A kind is masked until its log page was read. */
void ft_fw_raise(struct ft_firmware* firmware, uint32_t state) {
    for (unsigned kind = 0; kind < FT_EVENT_KINDS; ++kind) {
        const bool masked = firmware->events_masked >> kind & 1;
        if ((state & kinds[kind].state) && !masked && !waits(firmware, kind))
            firmware->events[firmware->event_count++] = (uint8_t)kind;
    }
    send(firmware);
}

void ft_fw_clear_events(struct ft_firmware* firmware, uint32_t log_page) {
    for (unsigned kind = 0; kind < FT_EVENT_KINDS; ++kind) {
        if (kinds[kind].event >> 16 == log_page) firmware->events_masked &= (uint8_t)~(1u << kind);
    }
}

/* False if as many requests are held as may be. */
bool ft_fw_request_event(struct ft_firmware* firmware, uint16_t cid) {
    if (firmware->request_count == FLASHTRAIN_MOST_REQUESTS) return false;
    firmware->requests[firmware->request_count++] = cid;
    send(firmware);
    return true;
}
