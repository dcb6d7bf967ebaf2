/* Identify and log pages, from the table of pages. */
#include "internal.h"

static struct ft_fw_reply answer_of(const struct ft_fw_page* page, uint16_t absent) {
    struct ft_fw_reply reply = {.status = page->found ? page->status : absent};
    if (page->found && !page->status) reply.data = page->data;
    return reply;
}

/* The NSIDs of a list above `after`. */
static struct ft_fw_reply list_of(struct ft_firmware* firmware, const struct ft_fw_data* list, uint32_t after) {
    struct ft_fw_reply reply = {0};
    if (after >= FT_FW_EVERY_NAMESPACE - 1) {
        reply.status = FLASHTRAIN_TARGET_STATUS_INVALID_NAMESPACE;
        return reply;
    }
    reply.data = *list;
    reply.data.bytes = firmware->page;
    reply.data.stored = 0;
    for (uint32_t place = 0; place < list->stored; place += 4) {
        const uint32_t nsid = list->bytes[place]; /* at most FLASHTRAIN_MAX_STREAMS */
        if (nsid <= after) continue;
        ft_fw_put32(firmware->page + reply.data.stored, nsid);
        reply.data.stored += 4;
    }
    return reply;
}

struct ft_fw_reply ft_fw_identify(struct ft_firmware* firmware) {
    const uint32_t* entry = firmware->entry;
    const uint32_t code = entry[FT_FW_CDW10] & 0xff, first = entry[FT_FW_CDW10] >> 16;
    const struct ft_fw_page page = ft_fw_page_of(firmware, FLASHTRAIN_PAGE_KIND_IDENTIFY, code,
                                                 entry[FT_FW_CDW11] >> 24, entry[FT_FW_NSID]);
    if (page.list && !page.status) return list_of(firmware, &page.data, entry[FT_FW_NSID]);
    struct ft_fw_reply reply = answer_of(&page, FLASHTRAIN_TARGET_STATUS_INVALID_FIELD);
    /* The list of the one controller is empty from a higher number on. */
    if (code == FLASHTRAIN_STRUCTURE_CONTROLLERS && first > ft_fw_word(firmware, FLASHTRAIN_TABLE_CONTROLLER))
        reply.data.stored = 0;
    return reply;
}

struct ft_fw_reply ft_fw_log_page(struct ft_firmware* firmware) {
    const uint32_t* entry = firmware->entry;
    const uint32_t code = entry[FT_FW_CDW10] & 0xff;
    const uint32_t offset = entry[FT_FW_CDW12];
    const bool retain = entry[FT_FW_CDW10] >> 15 & 1;
    const struct ft_fw_page page = ft_fw_page_of(firmware, FLASHTRAIN_PAGE_KIND_LOG, code,
                                                 entry[FT_FW_CDW14] >> 24, entry[FT_FW_NSID]);
    struct ft_fw_reply reply = answer_of(&page, FLASHTRAIN_TARGET_STATUS_INVALID_LOG_PAGE);
    if (page.found && !retain) ft_fw_clear_events(firmware, code);
    if (reply.status) return reply;
    if (entry[FT_FW_CDW13] || offset > reply.data.length) {
        reply.status = FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
        return reply;
    }
    reply.offset = offset;
    reply.data.errors = code == FLASHTRAIN_LOG_PAGE_ERRORS;
    if (code == FLASHTRAIN_LOG_PAGE_HEALTH) {
        ft_fw_fill_health(firmware, &reply.data);
        reply.data.bytes = firmware->page;
        reply.data.stored = sizeof firmware->page;
    }
    return reply;
}
