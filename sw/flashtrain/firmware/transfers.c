/* Data in the host's memory: the pages that a command names, and bursts of the mailbox. */
#include "internal.h"

#define BEAT_BYTES 8u
#define BEATS (FLASHTRAIN_FIRMWARE_DWORDS / 2u)
#define BURST_BYTES (BEATS * BEAT_BYTES)

static uint32_t least(uint32_t first, uint32_t second) { return first < second ? first : second; }

/* Moves `beats` beats between the buffer and the host's memory; false if that has refused them.
 * `kept` dwords of a beat that is written alone stay there as they are. */
static bool burst(struct ft_firmware* firmware, uint64_t address, uint32_t beats, bool write, uint32_t kept) {
    ft_fw_rest(firmware);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_ADDRESS, (uint32_t)address);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_ADDRESS + 4, (uint32_t)(address >> 32));
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_BURST,
                ft_fw_field(FLASHTRAIN_MAILBOX_BURST_BEATS, beats - 1) |
                    ft_fw_field(FLASHTRAIN_MAILBOX_BURST_WRITE, write) |
                    ft_fw_field(FLASHTRAIN_MAILBOX_BURST_KEPT, kept));
    if (!write) firmware->known = 0;
    return !(ft_fw_rest(firmware) & FLASHTRAIN_MAILBOX_STATE_FAILED);
}

static uint32_t buffer_dword(const struct ft_firmware* firmware, uint32_t dword) {
    return ft_fw_read(firmware, FLASHTRAIN_MAILBOX_BUFFER + 4 * dword);
}

/* Most data are zeros: a dword that the buffer holds is not written again. */
static void set_buffer_dword(struct ft_firmware* firmware, uint32_t dword, uint32_t value) {
    if ((firmware->known >> dword & 1) && firmware->buffer[dword] == value) return;
    firmware->buffer[dword] = value;
    firmware->known |= 1u << dword;
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_BUFFER + 4 * dword, value);
}

/* The entries of a list, from `pages[1]` on. The last one in a page is the next page while more are needed. */
static uint16_t read_list(struct ft_firmware* firmware, uint64_t pointer, uint32_t count,
                          uint32_t page_bytes) {
    uint32_t found = 0;
    if (pointer & (BEAT_BYTES - 1)) return FLASHTRAIN_TARGET_STATUS_INVALID_PRP_OFFSET;
    for (;;) {
        const uint32_t room = (page_bytes - ((uint32_t)pointer & (page_bytes - 1))) / BEAT_BYTES;
        const uint32_t missing = count - found, taken = least(room, missing);
        for (uint32_t i = 0; i < taken;) {
            const uint64_t place = pointer + BEAT_BYTES * i;
            const uint32_t beats = least(BEATS - ((uint32_t)place / BEAT_BYTES) % BEATS, taken - i);
            if (!burst(firmware, place, beats, false, 0)) return FLASHTRAIN_TARGET_STATUS_DATA_TRANSFER_ERROR;
            for (uint32_t beat = 0; beat < beats; ++beat) {
                const uint64_t low = buffer_dword(firmware, 2 * beat);
                firmware->pages[1 + found + i + beat] =
                    low | (uint64_t)buffer_dword(firmware, 2 * beat + 1) << 32;
            }
            i += beats;
        }
        found += taken;
        if (missing <= room) return FLASHTRAIN_TARGET_STATUS_SUCCESS;
        pointer = firmware->pages[found--];
        if (pointer & (page_bytes - 1)) return FLASHTRAIN_TARGET_STATUS_INVALID_PRP_OFFSET;
    }
}

/* Finds the pages of `length` bytes by the two PRPs. The whole list is read before a byte moves. */
uint16_t ft_fw_find_pages(struct ft_firmware* firmware, uint32_t length, uint32_t page_bytes) {
    const uint32_t* entry = firmware->entry;
    const uint64_t first = entry[FT_FW_PRP1] | (uint64_t)entry[FT_FW_PRP1 + 1] << 32;
    const uint64_t second = entry[FT_FW_PRP2] | (uint64_t)entry[FT_FW_PRP2 + 1] << 32;
    if (!length) return FLASHTRAIN_TARGET_STATUS_SUCCESS;
    if (first & 3) return FLASHTRAIN_TARGET_STATUS_INVALID_PRP_OFFSET;
    firmware->pages[0] = first;
    const uint32_t head = least(length, page_bytes - ((uint32_t)first & (page_bytes - 1)));
    uint32_t count = 0, left = length - head;
    for (; left; left -= least(left, page_bytes)) ++count;
    if (count == 1) firmware->pages[1] = second;
    if (count > 1) {
        const uint16_t status = read_list(firmware, second, count, page_bytes);
        if (status) return status;
    }
    for (uint32_t page = 1; page <= count; ++page) {
        if (firmware->pages[page] & (page_bytes - 1)) return FLASHTRAIN_TARGET_STATUS_INVALID_PRP_OFFSET;
    }
    return FLASHTRAIN_TARGET_STATUS_SUCCESS;
}

static uint32_t dword_of(const struct ft_firmware* firmware, const struct ft_fw_data* data, uint32_t offset) {
    uint32_t value = 0;
    if (data->errors) return ft_fw_refusal_dword(firmware, offset);
    for (uint32_t i = 0; i < 4 && offset + i < data->stored; ++i)
        value |= (uint32_t)data->bytes[offset + i] << 8 * i;
    return value;
}

/* Bytes from `offset` on to an address, dwords both. A dword that shares its beat goes alone. */
static bool put(struct ft_firmware* firmware, uint64_t address, uint32_t length,
                const struct ft_fw_data* data, uint32_t offset) {
    while (length) {
        const uint32_t lead = (uint32_t)address / 4 & 1, kept = lead ? 1 : length < BEAT_BYTES ? 2 : 0;
        const uint32_t room = BURST_BYTES - ((uint32_t)address & (BURST_BYTES - 1));
        const uint32_t part = kept ? 4 : least(length & ~(BEAT_BYTES - 1), room);
        const uint32_t beats = kept ? 1 : part / BEAT_BYTES;
        for (uint32_t dword = 0; dword < part / 4; ++dword)
            set_buffer_dword(firmware, lead + dword, dword_of(firmware, data, offset + 4 * dword));
        if (!burst(firmware, address - 4 * lead, beats, true, kept)) return false;
        address += part;
        offset += part;
        length -= part;
    }
    return true;
}

/* Bytes of `data` from `offset` on to the pages that were found; zeros behind its end. */
bool ft_fw_send(struct ft_firmware* firmware, const struct ft_fw_data* data, uint32_t offset, uint32_t length,
                uint32_t page_bytes) {
    for (uint32_t page = 0; length; ++page) {
        const uint64_t address = firmware->pages[page];
        const uint32_t part = least(length, page_bytes - ((uint32_t)address & (page_bytes - 1)));
        if (!put(firmware, address, part, data, offset)) return false;
        offset += part;
        length -= part;
    }
    return true;
}
