/* Recovery of the content that non-volatile streams had when the power failed, from the flash alone.
 *
 * The same steps as flashtrain.host.recovery.recovery, whose result is the same:
 *
 *  1. The controller is enabled empty, and takes only INSPECT and RESTORE.
 *  2. The first pages of all physical zones and spare blocks name their logical zones; the journal shows
 *     which of these are stale.
 *  3. Spares of kept zones are put in their places, and the write pointer of each kept zone is found.
 *  4. Blocks with a factory mark get spares.
 *  5. Kept zones are restored in place; other physical zones, and spares with other content, are erased.
 *  6. A record of the result is appended to the journal. A recovery right afterwards finds the same content.
 *  7. A refresh that has not ended ends.
 *
 * Until step 5 nothing on the flash changes.
 */
#include "internal.h"

/* The generation of a stream that no journal records: that of its newest allocation. */
static uint16_t newest_generation(const struct ft_device* device, uint8_t nsid) {
    const struct ft_owner* newest = NULL;
    for (uint32_t i = 0; i < device->owner_count; ++i) {
        const struct ft_owner* owner = &device->owners[i];
        if (owner->valid && owner->nsid == nsid && (!newest || owner->sequence > newest->sequence))
            newest = owner;
    }
    return newest ? newest->generation : 0;
}

/* Entries of the non-volatile streams; those of the others are empty. */
static void find_entries(struct ft_device* device) {
    for (uint8_t nsid = 1; nsid <= FLASHTRAIN_MAX_STREAMS; ++nsid) {
        const struct ft_stream* stream = ft_stream_of(device, nsid);
        struct ft_entry* entry = &device->journal.entries[nsid - 1];
        if (ft_is_recorded(device, stream)) continue;
        (void)ft_set_note(device, nsid, NULL, 0);
        *entry = (struct ft_entry){0};
        if (stream && stream->persistency) entry->generation = newest_generation(device, nsid);
    }
}

/* A zone out of service keeps what it holds when its stream is reset. */
static bool is_valid(const struct ft_device* device, const struct ft_owner* owner) {
    const struct ft_entry* entry = &device->journal.entries[owner->nsid - 1];
    const bool current = owner->generation == entry->generation && (!owner->updates || entry->commit);
    return owner->valid && ft_stream_of(device, owner->nsid)->persistency &&
           (current || device->retired[owner->zone]) &&
           (!device->journal.with_floors || owner->sequence >= device->floors[owner->zone]);
}

/* Keep the newest valid owner of each logical zone. */
static void keep_newest(struct ft_device* device) {
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) {
        device->newest[zone] = FT_NO_OWNER;
        device->uses[zone] = FT_FREE;
    }
    for (uint32_t i = 0; i < device->owner_count; ++i) {
        const struct ft_owner* owner = &device->owners[i];
        if (!owner->valid || !is_valid(device, owner)) continue;
        const uint16_t known = device->newest[owner->zone];
        if (known == FT_NO_OWNER || owner->sequence >= device->owners[known].sequence)
            device->newest[owner->zone] = (uint16_t)i;
    }
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) {
        if (device->newest[zone] == FT_NO_OWNER) continue;
        struct ft_owner* owner = &device->owners[device->newest[zone]];
        owner->kept = true;
        owner->updates = device->journal.entries[owner->nsid - 1].commit || device->retired[zone];
        device->uses[owner->physical] = FT_NEEDED;
    }
}

/* The number of a physical zone without any page, or FT_NO_BLOCK. */
static uint32_t blank_zone(const struct ft_device* device) {
    for (uint32_t physical = 0; physical < device->info.zones; ++physical)
        if (device->uses[physical] == FT_FREE && !device->owners[physical].valid &&
            !(device->info.spare_blocks && ft_has_mark(device, physical)))
            return physical;
    return FT_NO_BLOCK;
}

static uint8_t nsid_of(const struct ft_device* device, uint32_t zone) {
    uint8_t nsid = 1;
    while (nsid < FLASHTRAIN_MAX_STREAMS && !ft_holds_zone(device, nsid, zone)) ++nsid;
    return nsid;
}

/* Whether a logical zone has pages that are not stale; uncommitted updates count, too. */
static bool has_pages(const struct ft_device* device, uint32_t zone) {
    for (uint32_t i = 0; i < device->owner_count; ++i) {
        const struct ft_owner* owner = &device->owners[i];
        if (owner->valid && owner->zone == zone && owner->sequence >= device->floors[zone] &&
            (device->retired[zone] ||
             owner->generation == device->journal.entries[owner->nsid - 1].generation))
            return true;
    }
    return false;
}

/* Keep the zones with blocks by a clean record but without any page, each on a physical zone without one. Their
 * reads are media errors. */
static void keep_lost(struct ft_device* device) {
    ft_estimate_wear(device);
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) {
        const uint32_t physical = blank_zone(device);
        if (!ft_written_blocks(device->pointers[zone]) || physical == FT_NO_BLOCK || has_pages(device, zone))
            continue;
        const uint8_t nsid = nsid_of(device, zone);
        device->owners[physical] = (struct ft_owner){.valid = true,
                                                     .kept = true,
                                                     .physical = (uint16_t)physical,
                                                     .nsid = nsid,
                                                     .zone = (uint16_t)zone,
                                                     .generation = device->journal.entries[nsid - 1].generation,
                                                     .sequence = device->floors[zone],
                                                     .wear = device->wear[physical]};
        device->newest[zone] = (uint16_t)physical;
        device->uses[physical] = FT_NEEDED;
    }
}

static enum ft_error use_spares_of_kept(struct ft_device* device) {
    enum ft_error error = FT_OK;
    for (uint32_t i = 0; error == FT_OK && i < device->owner_count; ++i)
        if (device->owners[i].kept) error = ft_use_spares(device, &device->owners[i]);
    return error;
}

/* Whether it is known where all blocks of an owner are: a block without pages may be bad. */
static bool is_located(const struct ft_device* device, const struct ft_owner* owner) {
    if (owner->whole) return true;
    const bool marked = device->info.spare_blocks && ft_has_mark(device, owner->physical);
    return !device->journal.replaced && !marked;
}

/* Whether a zone takes appends behind its pages. A clean record knows its pointer. */
static enum ft_error takes_appends(struct ft_device* device, const struct ft_owner* owner, uint32_t recorded,
                                   bool* takes) {
    *takes = owner->pointer == ft_written_blocks(recorded) && owner->pointer < device->info.zone_capacity &&
             !ft_written_full(recorded) && !device->retired[owner->zone] && is_located(device, owner);
    return *takes ? ft_has_last_pages(device, owner, takes) : FT_OK;
}

/* State and pointer of a kept zone; pages that are missing below a recorded pointer are lost. */
static enum ft_error find_state(struct ft_device* device, struct ft_owner* owner, uint32_t recorded) {
    const uint32_t written = ft_written_blocks(recorded);
    const uint8_t retired = device->retired[owner->zone];
    bool takes = false;
    enum ft_error error = ft_find_pointer(device, owner, written);
    if (error == FT_OK) error = takes_appends(device, owner, recorded, &takes);
    if (owner->pointer < written) owner->pointer = written;
    owner->unsure = owner->pointer != written && owner->pointer < device->info.zone_capacity;
    owner->state = takes ? FLASHTRAIN_ZONE_STATE_CLOSED : FLASHTRAIN_ZONE_STATE_FULL;
    if (retired) owner->state = retired;
    return error;
}

static enum ft_error find_states(struct ft_device* device, bool clean) {
    enum ft_error error = FT_OK;
    for (uint32_t i = 0; error == FT_OK && i < device->owner_count; ++i) {
        struct ft_owner* owner = &device->owners[i];
        if (owner->kept) error = find_state(device, owner, clean ? device->pointers[owner->zone] : 0);
    }
    return error;
}

/* Take zones out of service again, if a port has the right to; those with content are so already. */
static enum ft_error retire_again(struct ft_device* device, uint32_t* retired) {
    uint8_t port;
    *retired = 0;
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) *retired += device->retired[zone] != 0;
    for (unsigned i = 0; i < device->config.stream_count; ++i) {
        const struct ft_stream* stream = &device->config.streams[i];
        if (!ft_appending_port(stream, &port)) continue;
        for (uint32_t zone = 0; zone < ft_zones(device, stream->nsid); ++zone) {
            const uint32_t number = device->first_zone[stream->nsid - 1] + zone;
            const uint8_t state = device->newest[number] == FT_NO_OWNER ? device->retired[number] : 0;
            const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_ZONE_RETIRE,
                                               .nsid = stream->nsid,
                                               .slba = (uint64_t)zone * device->info.zone_size,
                                               .action = state};
            const enum ft_error error = state ? ft_execute(device, port, &command, NULL) : FT_OK;
            if (error != FT_OK) return error;
        }
    }
    return FT_OK;
}

/* Pin streams again. */
static enum ft_error pin_again(struct ft_device* device) {
    uint8_t port;
    for (unsigned i = 0; i < device->config.stream_count; ++i) {
        const struct ft_stream* stream = &device->config.streams[i];
        if (!device->journal.entries[stream->nsid - 1].pinned || !ft_appending_port(stream, &port)) continue;
        const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_GENERATION,
                                           .nsid = stream->nsid,
                                           .action = FLASHTRAIN_GENERATION_PIN};
        const enum ft_error error = ft_execute(device, port, &command, NULL);
        if (error != FT_OK) return error;
        device->pinned[stream->nsid - 1] = true;
    }
    return FT_OK;
}

/* Append a record of the kept zones to the journal; all other content is stale from now on. */
static enum ft_error go_on(struct ft_device* device, const struct ft_found* found, uint32_t sequence) {
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) {
        const uint16_t newest = device->newest[zone];
        device->floors[zone] = newest == FT_NO_OWNER ? sequence : device->owners[newest].sequence;
    }
    if (!found->owner) {
        ft_start_journal(device, 0, 0, false);
    } else {
        const uint16_t newest = device->newest[found->owner->zone];
        const bool same = found->goes_on && newest != FT_NO_OWNER &&
                          device->owners[newest].state == FLASHTRAIN_ZONE_STATE_CLOSED;
        const uint32_t zone = found->owner->zone - device->first_zone[found->owner->nsid - 1];
        ft_start_journal(device, (uint8_t)zone, same ? found->end : 0, !same);
    }
    return ft_write_record(device);
}

static void report_result(const struct ft_device* device, struct ft_recovery* report) {
    for (uint32_t i = 0; i < device->owner_count; ++i) {
        const struct ft_owner* owner = &device->owners[i];
        if (owner->kept && owner->nsid != device->journal.nsid)
            report->blocks[owner->nsid - 1] += owner->pointer;
    }
    for (uint32_t physical = 0; physical < device->info.zones; ++physical)
        report->unusable += device->uses[physical] == FT_UNUSABLE;
    report->spares = device->spares_used;
    report->refreshing = device->journal.copied;
    report->bad = ft_bad_blocks(device, NULL, 0);
}

/* Steps 1 to 3, which only read. */
static enum ft_error find_content(struct ft_device* device, struct ft_found* found,
                                  struct ft_recovery* report) {
    enum ft_error error = ft_enable(device, FLASHTRAIN_CONTROL_RECOVER);
    if (error == FT_OK) error = ft_find_owners(device);
    if (error == FT_OK) error = ft_check_owners(device);
    if (error == FT_OK) error = ft_find_record(device, found);
    if (error == FT_OK) error = ft_check_refresh(device);
    if (error != FT_OK) return error;
    find_entries(device);
    keep_newest(device);
    *report = (struct ft_recovery){.clean = device->journal.clean && found->last, .records = found->records};
    if (report->clean) keep_lost(device);
    error = use_spares_of_kept(device);
    if (error != FT_OK) return error;
    return find_states(device, report->clean);
}

static enum ft_error recover(struct ft_device* device, struct ft_recovery* report) {
    struct ft_found found;
    enum ft_error error = find_content(device, &found, report);
    if (error == FT_OK) error = ft_replace_marked(device);
    if (error != FT_OK) return error;
    ft_estimate_wear(device);
    const uint32_t sequence = ft_next_sequence(device);
    error = ft_restore_streams(device);
    if (error == FT_OK) error = ft_restore_zones(device);
    if (error == FT_OK) error = ft_release_zones(device, &report->erased);
    if (error == FT_OK) error = ft_release_spares(device, false);
    if (error == FT_OK) error = ft_end_restore(device, sequence);
    if (error == FT_OK) error = retire_again(device, &report->retired);
    if (error == FT_OK) error = pin_again(device);
    if (error == FT_OK && device->journal.nsid) error = go_on(device, &found, sequence);
    if (error == FT_OK) error = ft_end_refresh(device);
    report_result(device, report);
    return error;
}

enum ft_error ft_recover(struct ft_device* device, struct ft_recovery* report) {
    struct ft_recovery own;
    if (!device) return FT_ERR_ARGUMENT;
    if (ft_read_register(device, FLASHTRAIN_REGISTER_CONTROL) & FLASHTRAIN_CONTROL_ENABLE)
        return FT_ERR_ENABLED;
    ft_zero((uint8_t*)device->pinned, sizeof device->pinned);
    const enum ft_error error = recover(device, report ? report : &own);
    if (error != FT_OK) (void)ft_disable(device);
    return error;
}
