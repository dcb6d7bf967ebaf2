/* The RESTORE commands of a recovery. */
#include "internal.h"

enum ft_error ft_restore(struct ft_device* device, struct ft_command command) {
    command.opcode = FLASHTRAIN_OPCODE_RESTORE;
    if (!command.nsid) command.nsid = device->config.streams[0].nsid;
    return ft_execute(device, FLASHTRAIN_PORT_HOST, &command, NULL);
}

enum ft_error ft_restore_streams(struct ft_device* device) {
    for (unsigned i = 0; i < device->config.stream_count; ++i) {
        const struct ft_stream* stream = &device->config.streams[i];
        if (!stream->persistency) continue;
        const enum ft_error error = ft_restore(
            device, (struct ft_command){.nsid = stream->nsid,
                                        .action = FLASHTRAIN_RESTORE_STREAM,
                                        .generation = device->journal.entries[stream->nsid - 1].generation});
        if (error != FT_OK) return error;
    }
    return FT_OK;
}

/* Zones that are kept stay in place. */
enum ft_error ft_restore_zones(struct ft_device* device) {
    for (uint32_t i = 0; i < device->owner_count; ++i) {
        const struct ft_owner* owner = &device->owners[i];
        if (!owner->kept) continue;
        const uint32_t number = owner->zone - device->first_zone[owner->nsid - 1];
        const enum ft_error error = ft_restore(
            device, (struct ft_command){.nsid = owner->nsid,
                                        .slba = (uint64_t)number * device->info.zone_size + owner->pointer,
                                        .action = FLASHTRAIN_RESTORE_ZONE,
                                        .restored_state = owner->state,
                                        .unsure = owner->unsure,
                                        .physical = owner->physical,
                                        .sequence = owner->sequence,
                                        .generation = owner->generation,
                                        .wear = owner->wear,
                                        .time = ft_time_of(&device->journal, owner->sequence)});
        if (error != FT_OK) return error;
    }
    return FT_OK;
}

/* The controller erases the blocks of this number, but those in use. */
static enum ft_error release(struct ft_device* device, uint32_t number, uint32_t wear) {
    return ft_restore(device,
                      (struct ft_command){
                          .action = FLASHTRAIN_RESTORE_PHYSICAL, .physical = (uint16_t)number, .wear = wear});
}

/* Release the free physical zones; *released counts them. */
enum ft_error ft_release_zones(struct ft_device* device, uint32_t* released) {
    *released = 0;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        if (device->uses[physical] != FT_FREE) continue;
        const enum ft_error error = release(device, physical, device->wear[physical]);
        if (error != FT_OK) return error;
        ++*released;
    }
    return FT_OK;
}

/* Release all spares, or those with other content, which would reappear at a later recovery. */
enum ft_error ft_release_spares(struct ft_device* device, bool all) {
    for (uint32_t block = device->info.zones; block < ft_blocks(&device->info); ++block) {
        if (!all && !ft_has_stale_pages(device, block)) continue;
        const enum ft_error error = release(device, block, FLASHTRAIN_MOST_WEAR);
        if (error != FT_OK) return error;
    }
    return FT_OK;
}

/* The controller takes all commands from here on. */
enum ft_error ft_end_restore(struct ft_device* device, uint32_t sequence) {
    return ft_restore(device, (struct ft_command){.action = FLASHTRAIN_RESTORE_END, .sequence = sequence});
}
