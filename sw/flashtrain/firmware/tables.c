/* The block of tables: words in little endian, and the content of pages. */
#include "internal.h"

uint32_t ft_fw_get32(const uint8_t* bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

void ft_fw_put32(uint8_t* bytes, uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) bytes[i] = (uint8_t)(value >> 8 * i);
}

uint32_t ft_fw_word(const struct ft_firmware* firmware, uint32_t word) {
    return ft_fw_get32(firmware->tables + 4 * word);
}

/* A row of `words` words of a section, whose head has its offset and its number of rows; NULL behind it. */
const uint8_t* ft_fw_row(const struct ft_firmware* firmware, uint32_t section, uint32_t row, uint32_t words) {
    if (row >= ft_fw_word(firmware, section + 1)) return 0;
    return firmware->tables + ft_fw_word(firmware, section) + 4 * words * row;
}

bool ft_fw_takes(const struct ft_firmware* firmware, uint8_t opcode) {
    return ft_fw_word(firmware, FLASHTRAIN_TABLE_OPCODES + opcode / 32) >> opcode % 32 & 1;
}

bool ft_fw_is_namespace(const struct ft_firmware* firmware, uint32_t nsid) {
    const uint32_t active = ft_fw_word(firmware, FLASHTRAIN_TABLE_ACTIVE);
    return nsid && nsid <= FLASHTRAIN_MAX_STREAMS && (active >> (nsid - 1) & 1);
}

/* The status of a command to an NSID of no namespace. */
uint16_t ft_fw_refusal_of(const struct ft_firmware* firmware, uint32_t nsid) {
    const bool unused = nsid && nsid <= ft_fw_word(firmware, FLASHTRAIN_TABLE_HIGHEST);
    if (unused || nsid == FT_FW_EVERY_NAMESPACE) return FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
    return FLASHTRAIN_TARGET_STATUS_INVALID_NAMESPACE;
}

/* The first row that matches. */
struct ft_fw_page ft_fw_page_of(const struct ft_firmware* firmware, uint32_t kind, uint32_t code,
                                uint32_t command_set, uint32_t nsid) {
    struct ft_fw_page page = {0};
    const uint8_t* row;
    for (uint32_t i = 0; (row = ft_fw_row(firmware, FLASHTRAIN_TABLE_PAGES, i, FLASHTRAIN_PAGE_ROW_WORDS));
         ++i) {
        const uint8_t flags = row[3];
        if (row[0] != kind || row[1] != code) continue;
        if (!(flags & FLASHTRAIN_PAGE_FLAG_ANY_SET) && row[2] != command_set) continue;
        if (!(flags & FLASHTRAIN_PAGE_FLAG_ANY_NSID) && ft_fw_get32(row + 4) != nsid) continue;
        page.found = true;
        page.list = flags & FLASHTRAIN_PAGE_FLAG_LIST;
        page.status = (uint16_t)ft_fw_get32(row + 8);
        page.data.bytes = firmware->tables + ft_fw_get32(row + 12);
        page.data.stored = ft_fw_get32(row + 16);
        page.data.length = ft_fw_get32(row + 20);
        break;
    }
    return page;
}
