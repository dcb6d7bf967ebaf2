/* The journal: where the next record goes, and changes of what it holds. */
#include "internal.h"

/* Forget all that a record holds. */
void ft_clear_record(struct ft_device* device) {
    struct ft_journal* journal = &device->journal;
    const uint8_t nsid = journal->nsid;
    ft_zero((uint8_t*)journal, sizeof *journal);
    journal->nsid = nsid;
    journal->replaced = true;
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) {
        device->floors[zone] = device->wear[zone] = device->pointers[zone] = 0;
        device->retired[zone] = 0;
    }
}

static void note_time(struct ft_device* device) {
    struct ft_moment now;
    now.sequence = ft_read_register(device, FLASHTRAIN_REGISTER_SEQUENCE);
    now.time = ft_read_register(device, FLASHTRAIN_REGISTER_TIME);
    ft_note_moment(&device->journal, now);
}

/* Begin after an enable; `zone` of the journal takes the next record at `offset`, or is full. */
void ft_start_journal(struct ft_device* device, uint8_t zone, uint32_t offset, bool full) {
    struct ft_journal* journal = &device->journal;
    note_time(device);
    journal->zone = zone;
    journal->offset = offset;
    journal->full = full;
    journal->broken = false;
}

/* Zone and block of the next record. */
static void place(const struct ft_device* device, uint8_t* zone, uint32_t* offset) {
    const struct ft_journal* journal = &device->journal;
    const bool moves =
        journal->full || journal->offset + ft_record_blocks(device) > device->info.zone_capacity;
    *zone = moves ? 1 - journal->zone : journal->zone;
    *offset = moves ? 0 : journal->offset;
}

static uint64_t start_of(const struct ft_device* device, uint8_t zone) {
    return (uint64_t)zone * device->info.zone_size;
}

static enum ft_error reset_zone(struct ft_device* device, uint8_t zone) {
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_ZONE_MANAGEMENT_SEND,
                                       .nsid = device->journal.nsid,
                                       .slba = start_of(device, zone),
                                       .action = FLASHTRAIN_ZONE_ACTION_RESET};
    return ft_execute(device, FLASHTRAIN_PORT_HOST, &command, NULL);
}

/* The next record goes to the other zone. After an unanswered command, the device may still read the record.
 */
static enum ft_error failed(struct ft_device* device, enum ft_error error) {
    device->journal.full = true;
    if (error != FT_ERR_STATUS && error != FT_ERR_SPARES) device->journal.broken = true;
    return error;
}

static enum ft_error append_record(struct ft_device* device, bool clean, bool replaced) {
    struct ft_journal* journal = &device->journal;
    uint8_t zone;
    uint32_t offset;
    if (journal->broken) return FT_ERR_TIMEOUT;
    place(device, &zone, &offset);
    if (zone != journal->zone) {
        const enum ft_error error = reset_zone(device, zone);
        if (error != FT_OK) return failed(device, error);
    }
    note_time(device);
    const uint32_t blocks = ft_record_blocks(device);
    ft_pack_record(device, ++journal->number, clean, replaced);
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_ZONE_APPEND,
                                       .nsid = journal->nsid,
                                       .slba = start_of(device, zone),
                                       .blocks = blocks,
                                       .address = device->scratch,
                                       .length = blocks * device->info.page_bytes};
    const enum ft_error error = ft_execute(device, FLASHTRAIN_PORT_HOST, &command, NULL);
    if (error != FT_OK) return failed(device, error);
    journal->zone = zone;
    journal->offset = offset + blocks;
    journal->full = false;
    return FT_OK;
}

enum ft_error ft_write_record(struct ft_device* device) { return append_record(device, false, true); }

static bool uses_spares(struct ft_device* device) {
    if (device->spares_used) return true;
    for (uint32_t channel = 0; device->info.spare_blocks && channel < device->info.channels; ++channel)
        if (ft_channel_counter(device, channel, FLASHTRAIN_CHANNEL_COUNTER_BLOCKS_REPLACED)) return true;
    return false;
}

/* Written blocks of the zones of a stream, where they are known. */
static enum ft_error note_pointers(struct ft_device* device, const struct ft_stream* stream, uint8_t port) {
    enum ft_error error = ft_flush(device, port, stream->nsid);
    for (uint32_t zone = 0; error == FT_OK && zone < ft_zones(device, stream->nsid); ++zone) {
        struct ft_zone found;
        error = ft_report(device, port, stream->nsid, zone, &found, 1);
        if (error == FT_OK && !found.unsure)
            device->pointers[device->first_zone[stream->nsid - 1] + zone] =
                ft_written_word(found.written, found.state == FLASHTRAIN_ZONE_STATE_FULL);
    }
    return error;
}

/* Write a clean record: the controller is disabled after it. */
enum ft_error ft_end_journal(struct ft_device* device) {
    const uint32_t capacity = device->info.zone_capacity;
    uint8_t zone, port;
    uint32_t offset;
    for (uint32_t i = 0; i < device->info.zones; ++i) device->pointers[i] = 0;
    for (unsigned i = 0; i < device->config.stream_count; ++i) {
        const struct ft_stream* stream = &device->config.streams[i];
        if (!ft_is_recorded(device, stream) || !ft_appending_port(stream, &port)) continue;
        const enum ft_error error = note_pointers(device, stream, port);
        if (error != FT_OK) return error;
    }
    for (uint32_t i = 0; i < device->info.zones; ++i) device->wear[i] = ft_zone_wear(device, i);
    place(device, &zone, &offset);
    const uint32_t end = offset + ft_record_blocks(device);
    const uint32_t payload = ft_payload(device->info.page_bytes);
    if (end + (ft_record_bytes(device->info.zones) + payload - 1) / payload <= capacity)
        device->pointers[device->first_zone[device->journal.nsid - 1] + zone] = ft_written_word(end, false);
    return append_record(device, true, uses_spares(device));
}

void ft_save_entries(struct ft_device* device) {
    struct ft_journal* journal = &device->journal;
    ft_copy((uint8_t*)journal->entries_before, (const uint8_t*)journal->entries, sizeof journal->entries);
    ft_copy(device->notes_before, device->notes, device->config.note_bytes);
}

/* The entries are those of the last ft_save_entries again. */
void ft_undo_entries(struct ft_device* device) {
    struct ft_journal* journal = &device->journal;
    ft_copy((uint8_t*)journal->entries, (const uint8_t*)journal->entries_before, sizeof journal->entries);
    ft_copy(device->notes, device->notes_before, device->config.note_bytes);
}

/* Bytes of the notes before that of a stream; they lie in the order of NSIDs. */
static uint32_t note_start(const struct ft_device* device, uint8_t nsid) {
    uint32_t start = 0;
    for (unsigned i = 0; i + 1 < nsid; ++i) start += device->journal.entries[i].note_bytes;
    return start;
}

enum ft_error ft_set_note(struct ft_device* device, uint8_t nsid, const uint8_t* note, uint32_t bytes) {
    struct ft_entry* entry = &device->journal.entries[nsid - 1];
    const uint32_t start = note_start(device, nsid), total = ft_notes_bytes(device);
    const uint32_t end = start + entry->note_bytes, rest = total - end, to = start + bytes;
    if (bytes > device->config.note_bytes || total - entry->note_bytes > device->config.note_bytes - bytes)
        return FT_ERR_NOTE_TOO_LONG;
    for (uint32_t i = 0; i < rest; ++i) { /* the notes behind it, from the end that is not overwritten */
        const uint32_t j = to > end ? rest - 1 - i : i;
        device->notes[to + j] = device->notes[end + j];
    }
    if (bytes) ft_copy(device->notes + start, note, bytes);
    entry->note_bytes = bytes;
    return FT_OK;
}

/* The entry of a stream after a reset. */
void ft_next_generation(struct ft_device* device, uint8_t nsid) {
    struct ft_entry* entry = &device->journal.entries[nsid - 1];
    (void)ft_set_note(device, nsid, NULL, 0);
    *entry =
        (struct ft_entry){.generation = (uint16_t)((entry->generation + 1u) % FLASHTRAIN_GENERATION_LIMIT)};
}

/* Later allocations for a zone have at least the present sequence number. */
void ft_raise_floor(struct ft_device* device, uint32_t zone) {
    device->floors[zone] = ft_read_register(device, FLASHTRAIN_REGISTER_SEQUENCE);
}
