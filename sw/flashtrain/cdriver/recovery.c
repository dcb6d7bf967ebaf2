/* Recovery of the content that non-volatile streams had when the power failed, from the flash alone.
 *
 * The same steps as flashtrain.host.recovery.recovery, whose result is the same, on devices without spare
 * blocks:
 *
 *  1. The controller is enabled empty, and takes only INSPECT and RESTORE.
 *  2. The first pages of all physical zones name their logical zones; the journal shows which of these are
 * stale.
 *  3. The write pointer of each kept zone is found.
 *  4. Kept zones are restored in place; other physical zones are erased.
 *  5. A record of the result is appended to the journal. A recovery right afterwards finds the same content.
 *
 * Until step 4 nothing on the flash changes.
 */
#include "internal.h"

/* The generation of a stream that no journal records: that of its newest allocation. */
static uint16_t newest_generation(const struct ft_device* device, uint8_t nsid) {
    const struct ft_owner* newest = NULL;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        const struct ft_owner* owner = &device->owners[physical];
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

static bool is_valid(const struct ft_device* device, const struct ft_owner* owner) {
    const struct ft_entry* entry = &device->journal.entries[owner->nsid - 1];
    return owner->valid && ft_stream_of(device, owner->nsid)->persistency &&
           owner->generation == entry->generation && (!owner->updates || entry->commit) &&
           (!device->journal.with_floors || owner->sequence >= device->floors[owner->zone]);
}

/* Keep the newest valid physical zone of each logical one. */
static void keep_newest(struct ft_device* device) {
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) device->newest[zone] = FT_NO_ZONE;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        const struct ft_owner* owner = &device->owners[physical];
        if (!owner->valid || !is_valid(device, owner)) continue;
        const uint16_t known = device->newest[owner->zone];
        if (known == FT_NO_ZONE || owner->sequence >= device->owners[known].sequence)
            device->newest[owner->zone] = (uint16_t)physical;
    }
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) {
        if (device->newest[zone] == FT_NO_ZONE) continue;
        struct ft_owner* owner = &device->owners[device->newest[zone]];
        owner->kept = true;
        owner->updates = device->journal.entries[owner->nsid - 1].commit != 0;
    }
}

/* A zone takes appends again if the clean record knows its pointer. */
static enum ft_error find_states(struct ft_device* device, bool clean) {
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        struct ft_owner* owner = &device->owners[physical];
        if (!owner->kept) continue;
        const uint32_t trusted = clean ? device->pointers[owner->zone] : 0;
        const enum ft_error error = ft_find_pointer(device, owner, trusted);
        if (error != FT_OK) return error;
        const bool goes_on = !device->journal.replaced && owner->pointer == trusted &&
                             owner->pointer < device->info.zone_capacity;
        owner->state = goes_on ? FLASHTRAIN_ZONE_STATE_CLOSED : FLASHTRAIN_ZONE_STATE_FULL;
    }
    return FT_OK;
}

/* A zone that was free at an allocation had at least as many erases as the allocated one. */
static void estimate_wear(struct ft_device* device) {
    uint32_t least = 0;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical)
        if (device->owners[physical].valid && device->owners[physical].wear > least)
            least = device->owners[physical].wear;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        if (device->wear[physical] < least) device->wear[physical] = least;
        if (device->owners[physical].valid) device->wear[physical] = device->owners[physical].wear;
    }
}

/* The sequence number of the next allocation: above all that the flash or the journal has. */
static uint32_t next_sequence(const struct ft_device* device) {
    uint32_t next = 0;
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) {
        if (device->journal.with_floors && device->floors[zone] >= next) next = device->floors[zone] + 1;
        if (device->owners[zone].valid && device->owners[zone].sequence >= next)
            next = device->owners[zone].sequence + 1;
    }
    return next;
}

static enum ft_error restore(struct ft_device* device, struct ft_command command) {
    command.opcode = FLASHTRAIN_OPCODE_RESTORE;
    if (!command.nsid) command.nsid = device->config.streams[0].nsid;
    return ft_execute(device, FLASHTRAIN_PORT_HOST, &command, NULL);
}

static enum ft_error restore_streams(struct ft_device* device) {
    for (unsigned i = 0; i < device->config.stream_count; ++i) {
        const struct ft_stream* stream = &device->config.streams[i];
        if (!stream->persistency) continue;
        const enum ft_error error = restore(
            device, (struct ft_command){.nsid = stream->nsid,
                                        .action = FLASHTRAIN_RESTORE_STREAM,
                                        .generation = device->journal.entries[stream->nsid - 1].generation});
        if (error != FT_OK) return error;
    }
    return FT_OK;
}

static enum ft_error restore_zones(struct ft_device* device) {
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        const struct ft_owner* owner = &device->owners[physical];
        if (!owner->kept) continue;
        const uint32_t number = owner->zone - device->first_zone[owner->nsid - 1];
        const enum ft_error error = restore(
            device, (struct ft_command){.nsid = owner->nsid,
                                        .slba = (uint64_t)number * device->info.zone_size + owner->pointer,
                                        .action = FLASHTRAIN_RESTORE_ZONE,
                                        .restored_state = owner->state,
                                        .physical = (uint16_t)physical,
                                        .sequence = owner->sequence,
                                        .wear = owner->wear,
                                        .time = ft_time_of(&device->journal, owner->sequence)});
        if (error != FT_OK) return error;
    }
    return FT_OK;
}

static enum ft_error release_others(struct ft_device* device, uint32_t* released) {
    *released = 0;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        if (device->owners[physical].kept) continue;
        const enum ft_error error = restore(device, (struct ft_command){.action = FLASHTRAIN_RESTORE_PHYSICAL,
                                                                        .physical = (uint16_t)physical,
                                                                        .wear = device->wear[physical]});
        if (error != FT_OK) return error;
        ++*released;
    }
    return FT_OK;
}

/* Take zones out of service again, if a port has the right to. */
static enum ft_error retire_again(struct ft_device* device, uint32_t* retired) {
    uint8_t port;
    *retired = 0;
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) *retired += device->retired[zone] != 0;
    for (unsigned i = 0; i < device->config.stream_count; ++i) {
        const struct ft_stream* stream = &device->config.streams[i];
        if (!ft_appending_port(stream, &port)) continue;
        for (uint32_t zone = 0; zone < ft_zones(device, stream->nsid); ++zone) {
            const uint8_t state = device->retired[device->first_zone[stream->nsid - 1] + zone];
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
        const uint16_t physical = device->newest[zone];
        device->floors[zone] = physical == FT_NO_ZONE ? sequence : device->owners[physical].sequence;
    }
    if (!found->owner) {
        ft_start_journal(device, 0, 0, false);
    } else {
        const uint16_t physical = device->newest[found->owner->zone];
        const bool same = found->goes_on && physical != FT_NO_ZONE &&
                          device->owners[physical].state == FLASHTRAIN_ZONE_STATE_CLOSED;
        const uint32_t zone = found->owner->zone - device->first_zone[found->owner->nsid - 1];
        ft_start_journal(device, (uint8_t)zone, same ? found->end : 0, !same);
    }
    return ft_write_record(device);
}

static void report_kept(const struct ft_device* device, struct ft_recovery* report) {
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        const struct ft_owner* owner = &device->owners[physical];
        if (owner->kept && owner->nsid != device->journal.nsid)
            report->blocks[owner->nsid - 1] += owner->pointer;
    }
}

static enum ft_error recover(struct ft_device* device, struct ft_recovery* report) {
    struct ft_found found;
    enum ft_error error = ft_enable(device, FLASHTRAIN_CONTROL_RECOVER);
    if (error == FT_OK) error = ft_find_owners(device);
    if (error == FT_OK) error = ft_find_record(device, &found);
    if (error != FT_OK) return error;
    find_entries(device);
    keep_newest(device);
    *report = (struct ft_recovery){.clean = device->journal.clean && found.last, .records = found.records};
    error = find_states(device, report->clean);
    if (error != FT_OK) return error;
    estimate_wear(device);
    const uint32_t sequence = next_sequence(device);
    error = restore_streams(device);
    if (error == FT_OK) error = restore_zones(device);
    if (error == FT_OK) error = release_others(device, &report->erased);
    if (error == FT_OK)
        error = restore(device, (struct ft_command){.action = FLASHTRAIN_RESTORE_END, .sequence = sequence});
    if (error == FT_OK) error = retire_again(device, &report->retired);
    if (error == FT_OK) error = pin_again(device);
    if (error == FT_OK && device->journal.nsid) error = go_on(device, &found, sequence);
    report_kept(device, report);
    return error;
}

enum ft_error ft_recover(struct ft_device* device, struct ft_recovery* report) {
    struct ft_recovery own;
    if (!device) return FT_ERR_ARGUMENT;
    if (device->info.spare_blocks) return FT_ERR_SPARES;
    if (ft_read_register(device, FLASHTRAIN_REGISTER_CONTROL) & FLASHTRAIN_CONTROL_ENABLE)
        return FT_ERR_ENABLED;
    ft_zero((uint8_t*)device->pinned, sizeof device->pinned);
    const enum ft_error error = recover(device, report ? report : &own);
    if (error != FT_OK) (void)ft_disable(device);
    return error;
}
