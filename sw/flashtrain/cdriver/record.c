/* A record of the journal in the blocks of the scratch memory: written, and read. */
#include "internal.h"

enum { MAP_COUNT = 2 };
static const uint8_t retired_states[MAP_COUNT] = {FLASHTRAIN_ZONE_STATE_READ_ONLY,
                                                  FLASHTRAIN_ZONE_STATE_OFFLINE};

static uint32_t map_bytes(uint32_t zones) { return (zones + 7) / 8; }

/* Bytes of a record in a block: the rest are the head, and the identity that INSPECT returns. */
uint32_t ft_payload(uint32_t page_bytes) {
    return page_bytes - FLASHTRAIN_PAGE_IDENTITY_BYTES - FLASHTRAIN_RECORD_HEAD_BYTES;
}

/* Bytes of a record without notes. */
uint32_t ft_record_bytes(uint32_t zones) {
    return 4 + FLASHTRAIN_MAX_STREAMS * FLASHTRAIN_RECORD_STREAM_BYTES + 3 * 4 * zones +
           FLASHTRAIN_RECORD_COPY_BYTES + FLASHTRAIN_RECORD_MOMENTS * FLASHTRAIN_RECORD_MOMENT_BYTES +
           MAP_COUNT * map_bytes(zones);
}

uint32_t ft_notes_bytes(const struct ft_device* device) {
    uint32_t bytes = 0;
    for (unsigned i = 0; i < FLASHTRAIN_MAX_STREAMS; ++i) bytes += device->journal.entries[i].note_bytes;
    return bytes;
}

uint32_t ft_record_blocks(const struct ft_device* device) {
    const uint32_t payload = ft_payload(device->info.page_bytes);
    return (ft_record_bytes(device->info.zones) + ft_notes_bytes(device) + payload - 1) / payload;
}

/* Byte `at` of the record in the scratch memory. */
static uint8_t* byte_at(const struct ft_device* device, uint32_t at) {
    const uint32_t payload = ft_payload(device->info.page_bytes);
    return ft_pointer(device, device->scratch + (uint64_t)(at / payload) * device->info.page_bytes +
                                  FLASHTRAIN_RECORD_HEAD_BYTES + at % payload);
}

static void put_bytes(const struct ft_device* device, uint32_t* at, const uint8_t* bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) *byte_at(device, (*at)++) = bytes[i];
}

static void get_bytes(const struct ft_device* device, uint32_t* at, uint8_t* bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) bytes[i] = *byte_at(device, (*at)++);
}

static void put_word(const struct ft_device* device, uint32_t* at, uint32_t value) {
    uint8_t bytes[4];
    ft_put32(bytes, value);
    put_bytes(device, at, bytes, sizeof bytes);
}

static uint32_t get_word(const struct ft_device* device, uint32_t* at) {
    uint8_t bytes[4];
    get_bytes(device, at, bytes, sizeof bytes);
    return ft_get32(bytes);
}

static void put_heads(struct ft_device* device, uint32_t number, uint32_t blocks) {
    const uint32_t payload = ft_payload(device->info.page_bytes);
    for (uint32_t i = 0; i < blocks; ++i) {
        uint8_t* head = ft_pointer(device, device->scratch + (uint64_t)i * device->info.page_bytes);
        flashtrain_put(head, FLASHTRAIN_RECORD_HEAD_MAGIC, FLASHTRAIN_RECORD_HEAD_MAGIC_VALUE);
        flashtrain_put(head, FLASHTRAIN_RECORD_HEAD_RECORD, number);
        flashtrain_put(head, FLASHTRAIN_RECORD_HEAD_POSITION, i);
        flashtrain_put(head, FLASHTRAIN_RECORD_HEAD_BLOCKS, blocks);
        flashtrain_put(head, FLASHTRAIN_RECORD_HEAD_CRC,
                       ft_crc16(head, FLASHTRAIN_RECORD_HEAD_CHECKED_BYTES));
        flashtrain_put(head, FLASHTRAIN_RECORD_HEAD_SUM,
                       ft_crc32(head + FLASHTRAIN_RECORD_HEAD_BYTES, payload));
    }
}

static void put_retired(struct ft_device* device, uint32_t* at) {
    for (unsigned map = 0; map < MAP_COUNT; ++map)
        for (uint32_t byte = 0; byte < map_bytes(device->info.zones); ++byte) {
            uint8_t bits = 0;
            for (uint32_t bit = 0; bit < 8 && 8 * byte + bit < device->info.zones; ++bit)
                if (device->retired[8 * byte + bit] == retired_states[map]) bits |= (uint8_t)(1u << bit);
            put_bytes(device, at, &bits, 1);
        }
}

/* The zones of a refresh that has not ended. */
static void put_copy(struct ft_device* device, uint32_t* at) {
    uint8_t copy[FLASHTRAIN_RECORD_COPY_BYTES] = {0};
    if (device->journal.copied) {
        flashtrain_put(copy, FLASHTRAIN_RECORD_COPY_ZONE, device->journal.copy_zone);
        flashtrain_put(copy, FLASHTRAIN_RECORD_COPY_SPARE, device->journal.copy_spare);
    }
    put_bytes(device, at, copy, sizeof copy);
}

static void put_moments(struct ft_device* device, uint32_t* at) {
    for (uint32_t i = 0; i < FLASHTRAIN_RECORD_MOMENTS; ++i) {
        const bool used = i < device->journal.moment_count;
        put_word(device, at, used ? device->journal.moments[i].sequence : 0xffffffffu);
        put_word(device, at, used ? device->journal.moments[i].time : 0);
    }
}

/* The RECORD_WRITTEN of a zone, as one word. */
uint32_t ft_written_word(uint32_t blocks, bool full) {
    uint8_t written[FLASHTRAIN_RECORD_WRITTEN_BYTES] = {0};
    flashtrain_put(written, FLASHTRAIN_RECORD_WRITTEN_BLOCKS, blocks);
    flashtrain_put(written, FLASHTRAIN_RECORD_WRITTEN_FULL, full);
    return ft_get32(written);
}

uint32_t ft_written_blocks(uint32_t word) {
    uint8_t written[FLASHTRAIN_RECORD_WRITTEN_BYTES];
    ft_put32(written, word);
    return (uint32_t)flashtrain_get(written, FLASHTRAIN_RECORD_WRITTEN_BLOCKS);
}

bool ft_written_full(uint32_t word) {
    uint8_t written[FLASHTRAIN_RECORD_WRITTEN_BYTES];
    ft_put32(written, word);
    return flashtrain_get(written, FLASHTRAIN_RECORD_WRITTEN_FULL) != 0;
}

void ft_pack_record(struct ft_device* device, uint32_t number, bool clean, bool replaced) {
    const struct ft_journal* journal = &device->journal;
    const uint32_t zones = device->info.zones, blocks = ft_record_blocks(device);
    uint32_t at = 0, flags = clean ? FLASHTRAIN_RECORD_FLAG_CLEAN : 0;
    ft_zero(ft_pointer(device, device->scratch), (size_t)blocks * device->info.page_bytes);
    if (replaced) flags |= FLASHTRAIN_RECORD_FLAG_REPLACED;
    if (journal->copied) flags |= FLASHTRAIN_RECORD_FLAG_COPIED;
    if (journal->copied && journal->copy_whole) flags |= FLASHTRAIN_RECORD_FLAG_COPY_WHOLE;
    for (unsigned i = 0; i < FLASHTRAIN_MAX_STREAMS; ++i)
        flags |= (uint32_t)journal->entries[i].pinned << (FLASHTRAIN_RECORD_FIRST_PIN + i);
    put_word(device, &at, flags);
    for (unsigned i = 0; i < FLASHTRAIN_MAX_STREAMS; ++i) {
        put_word(device, &at, journal->entries[i].generation | (uint32_t)journal->entries[i].page << 16);
        put_word(device, &at, journal->entries[i].commit);
        put_word(device, &at, journal->entries[i].updates);
        put_word(device, &at, journal->entries[i].note_bytes);
    }
    for (uint32_t zone = 0; zone < zones; ++zone) put_word(device, &at, device->floors[zone]);
    for (uint32_t zone = 0; zone < zones; ++zone) put_word(device, &at, device->wear[zone]);
    for (uint32_t zone = 0; zone < zones; ++zone) put_word(device, &at, clean ? device->pointers[zone] : 0);
    put_copy(device, &at);
    put_moments(device, &at);
    put_retired(device, &at);
    put_bytes(device, &at, device->notes, ft_notes_bytes(device));
    put_heads(device, number, blocks);
}

/* The number of a block's record, the block's position in it, and the record's blocks. */
bool ft_parse_place(const uint8_t* block, uint32_t place[3]) {
    place[0] = (uint32_t)flashtrain_get(block, FLASHTRAIN_RECORD_HEAD_RECORD);
    place[1] = (uint32_t)flashtrain_get(block, FLASHTRAIN_RECORD_HEAD_POSITION);
    place[2] = (uint32_t)flashtrain_get(block, FLASHTRAIN_RECORD_HEAD_BLOCKS);
    return flashtrain_get(block, FLASHTRAIN_RECORD_HEAD_MAGIC) == FLASHTRAIN_RECORD_HEAD_MAGIC_VALUE &&
           flashtrain_get(block, FLASHTRAIN_RECORD_HEAD_CRC) ==
               ft_crc16(block, FLASHTRAIN_RECORD_HEAD_CHECKED_BYTES);
}

bool ft_is_whole_record(const struct ft_device* device, uint32_t blocks) {
    const uint32_t payload = ft_payload(device->info.page_bytes);
    uint32_t first[3], place[3];
    if (!ft_parse_place(ft_pointer(device, device->scratch), first)) return false;
    for (uint32_t i = 0; i < blocks; ++i) {
        const uint8_t* block = ft_pointer(device, device->scratch + (uint64_t)i * device->info.page_bytes);
        if (!ft_parse_place(block, place) || place[0] != first[0] || place[1] != i || place[2] != blocks ||
            flashtrain_get(block, FLASHTRAIN_RECORD_HEAD_SUM) !=
                ft_crc32(block + FLASHTRAIN_RECORD_HEAD_BYTES, payload))
            return false;
    }
    return true;
}

static void get_retired(struct ft_device* device, uint32_t* at) {
    for (unsigned map = 0; map < MAP_COUNT; ++map)
        for (uint32_t byte = 0; byte < map_bytes(device->info.zones); ++byte) {
            uint8_t bits;
            get_bytes(device, at, &bits, 1);
            for (uint32_t bit = 0; bit < 8 && 8 * byte + bit < device->info.zones; ++bit)
                if (bits >> bit & 1) device->retired[8 * byte + bit] = retired_states[map];
        }
}

static void get_copy(struct ft_device* device, uint32_t* at) {
    uint8_t copy[FLASHTRAIN_RECORD_COPY_BYTES];
    get_bytes(device, at, copy, sizeof copy);
    device->journal.copy_zone = (uint16_t)flashtrain_get(copy, FLASHTRAIN_RECORD_COPY_ZONE);
    device->journal.copy_spare = (uint16_t)flashtrain_get(copy, FLASHTRAIN_RECORD_COPY_SPARE);
}

static void get_moments(struct ft_device* device, uint32_t* at) {
    struct ft_journal* journal = &device->journal;
    journal->moment_count = 0;
    for (uint32_t i = 0; i < FLASHTRAIN_RECORD_MOMENTS; ++i) {
        struct ft_moment moment;
        moment.sequence = get_word(device, at);
        moment.time = get_word(device, at);
        if (moment.sequence != 0xffffffffu || moment.time) journal->moments[journal->moment_count++] = moment;
    }
}

enum ft_error ft_parse_record(struct ft_device* device) {
    struct ft_journal* journal = &device->journal;
    const uint32_t zones = device->info.zones;
    uint32_t place[3], at = 0;
    uint64_t notes = 0;
    (void)ft_parse_place(ft_pointer(device, device->scratch), place);
    ft_clear_record(device);
    journal->number = place[0];
    const uint32_t flags = get_word(device, &at);
    journal->copied = (flags & FLASHTRAIN_RECORD_FLAG_COPIED) != 0;
    journal->copy_whole = (flags & FLASHTRAIN_RECORD_FLAG_COPY_WHOLE) != 0;
    journal->clean = (flags & FLASHTRAIN_RECORD_FLAG_CLEAN) != 0;
    journal->replaced = (flags & FLASHTRAIN_RECORD_FLAG_REPLACED) != 0;
    for (unsigned i = 0; i < FLASHTRAIN_MAX_STREAMS; ++i) {
        const uint32_t generation = get_word(device, &at);
        journal->entries[i].generation = (uint16_t)generation;
        journal->entries[i].page = (uint16_t)(generation >> 16);
        journal->entries[i].commit = get_word(device, &at);
        journal->entries[i].updates = get_word(device, &at);
        journal->entries[i].note_bytes = get_word(device, &at);
        journal->entries[i].pinned = (flags >> (FLASHTRAIN_RECORD_FIRST_PIN + i) & 1) != 0;
        notes += journal->entries[i].note_bytes;
    }
    if (notes > device->config.note_bytes) return FT_ERR_JOURNAL_TOO_LONG;
    journal->with_floors = true;
    for (uint32_t zone = 0; zone < zones; ++zone) device->floors[zone] = get_word(device, &at);
    for (uint32_t zone = 0; zone < zones; ++zone) device->wear[zone] = get_word(device, &at);
    for (uint32_t zone = 0; zone < zones; ++zone) device->pointers[zone] = get_word(device, &at);
    get_copy(device, &at);
    get_moments(device, &at);
    get_retired(device, &at);
    get_bytes(device, &at, device->notes, (uint32_t)notes);
    return FT_OK;
}
