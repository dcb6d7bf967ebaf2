/* Changes of generations: the record in the journal first, then the command. */
#include "internal.h"

/* Whether a change of this stream by this port is recorded; the device refuses the others. */
static bool is_recording(const struct ft_device* device, uint8_t port, uint8_t nsid) {
    return ft_is_recorded(device, ft_stream_of(device, nsid)) && ft_may_append(device, port, nsid);
}

static bool is_pinned(const struct ft_device* device, uint8_t nsid) { return device->pinned[nsid - 1]; }

/* The device refused a recorded change: record the entries of before again. */
static void take_back(struct ft_device* device) {
    const uint16_t status = device->last_status;
    ft_undo_entries(device);
    (void)ft_write_record(device);
    device->last_status = status;
}

static enum ft_error record_change(struct ft_device* device) {
    const enum ft_error error = ft_write_record(device);
    if (error != FT_OK) take_back(device);
    return error;
}

static enum ft_error reset_stream(struct ft_device* device, uint8_t port, uint8_t nsid) {
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_STREAM_RESET, .nsid = nsid};
    return ft_execute(device, port, &command, NULL);
}

enum ft_error ft_stream_reset(struct ft_device* device, uint8_t port, uint8_t nsid) {
    if (ft_check_user(device, port, nsid) != FT_OK) return FT_ERR_ARGUMENT;
    if (!device->enabled) return FT_ERR_DISABLED;
    const bool recorded = is_recording(device, port, nsid) && !is_pinned(device, nsid);
    if (recorded) {
        ft_save_entries(device);
        ft_next_generation(device, nsid);
        const enum ft_error error = record_change(device);
        if (error != FT_OK) return error;
    }
    const enum ft_error error = reset_stream(device, port, nsid);
    if (error == FT_ERR_STATUS && recorded) take_back(device);
    return error;
}

static bool is_in_use(uint8_t state) {
    return state != FLASHTRAIN_ZONE_STATE_EMPTY && state != FLASHTRAIN_ZONE_STATE_READ_ONLY &&
           state != FLASHTRAIN_ZONE_STATE_OFFLINE;
}

enum ft_error ft_zone_reset(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone) {
    if (ft_check_user(device, port, nsid) != FT_OK || zone >= ft_zones(device, nsid)) return FT_ERR_ARGUMENT;
    enum ft_error error = ft_drain(device);
    if (error == FT_OK && is_recording(device, port, nsid) && !is_pinned(device, nsid)) {
        struct ft_zone found;
        error = ft_report(device, port, nsid, zone, &found, 1);
        if (error == FT_OK && is_in_use(found.state)) {
            const uint32_t number = device->first_zone[nsid - 1] + zone, floor = device->floors[number];
            ft_raise_floor(device, number);
            error = ft_write_record(device);
            if (error != FT_OK) device->floors[number] = floor;
        }
    }
    if (error != FT_OK) return error;
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_ZONE_MANAGEMENT_SEND,
                                       .nsid = nsid,
                                       .slba = (uint64_t)zone * device->info.zone_size,
                                       .action = FLASHTRAIN_ZONE_ACTION_RESET};
    return ft_execute(device, port, &command, NULL);
}

static enum ft_error change_generation(struct ft_device* device, uint8_t port, uint8_t nsid, uint8_t action) {
    const struct ft_command command = {
        .opcode = FLASHTRAIN_OPCODE_GENERATION, .nsid = nsid, .action = action};
    return ft_execute(device, port, &command, NULL);
}

/* The entry of a stream after a commit. */
static enum ft_error set_committed(struct ft_device* device, uint8_t nsid, const struct ft_commit* commit) {
    struct ft_entry* entry = &device->journal.entries[nsid - 1];
    const enum ft_error error = ft_set_note(device, nsid, commit->note, commit->note_bytes);
    if (error != FT_OK) return error;
    entry->commit = device->journal.number + 1;
    entry->updates = commit->updates;
    entry->page = commit->page;
    entry->pinned = commit->pin;
    return FT_OK;
}

static bool is_commit(const struct ft_device* device, const struct ft_commit* commit) {
    const struct ft_stream* released = commit ? ft_stream_of(device, commit->release) : NULL;
    return commit && (commit->note || !commit->note_bytes) && commit->page < device->info.pages &&
           (!commit->release || (released && !released->journal));
}

/* The entry of a stream whose generation nothing needs any more. */
static void drop_generation(struct ft_device* device, uint8_t nsid, bool keep) {
    const uint16_t generation = device->journal.entries[nsid - 1].generation;
    ft_next_generation(device, nsid);
    if (keep) device->journal.entries[nsid - 1].generation = generation;
}

static enum ft_error record_commit(struct ft_device* device, uint8_t port, uint8_t nsid, uint8_t source,
                                   const struct ft_commit* commit) {
    ft_save_entries(device);
    if (!is_pinned(device, source) && is_recording(device, port, source))
        drop_generation(device, source, commit->keep);
    if (commit->release && is_recording(device, port, commit->release))
        drop_generation(device, commit->release, commit->keep);
    const enum ft_error error = set_committed(device, nsid, commit);
    if (error != FT_OK) {
        ft_undo_entries(device);
        return error;
    }
    return record_change(device);
}

/* The commands behind the record, each after the one before. */
static enum ft_error commit_on_device(struct ft_device* device, uint8_t port, uint8_t nsid, uint8_t source,
                                      const struct ft_commit* commit, bool* committed) {
    enum ft_error error = change_generation(device, port, nsid, FLASHTRAIN_GENERATION_ADVANCE);
    *committed = error != FT_ERR_STATUS;
    if (error == FT_OK && !commit->keep && !is_pinned(device, source))
        error = reset_stream(device, port, source);
    if (error == FT_OK && commit->release) {
        error = change_generation(device, port, commit->release, FLASHTRAIN_GENERATION_RELEASE);
        if (error == FT_OK) {
            device->pinned[commit->release - 1] = false;
            if (!commit->keep) error = reset_stream(device, port, commit->release);
        }
    }
    if (error == FT_OK && commit->pin) {
        error = change_generation(device, port, nsid, FLASHTRAIN_GENERATION_PIN);
        device->pinned[nsid - 1] = error == FT_OK;
    }
    return error;
}

enum ft_error ft_commit(struct ft_device* device, uint8_t port, uint8_t destination, uint8_t source,
                        const struct ft_commit* commit) {
    if (ft_check_user(device, port, destination) != FT_OK || ft_check_user(device, port, source) != FT_OK ||
        !is_commit(device, commit))
        return FT_ERR_ARGUMENT;
    if (!device->enabled) return FT_ERR_DISABLED;
    const bool recorded = is_recording(device, port, destination) && !is_pinned(device, destination);
    if (commit->note_bytes && !recorded) return FT_ERR_NO_JOURNAL;
    if (recorded) {
        const enum ft_error error = record_commit(device, port, destination, source, commit);
        if (error != FT_OK) return error;
    }
    bool committed;
    const enum ft_error error = commit_on_device(device, port, destination, source, commit, &committed);
    if (!committed && recorded) take_back(device);
    return error;
}

enum ft_error ft_declare_committed(struct ft_device* device, uint8_t nsid, const struct ft_commit* commit) {
    if (ft_check_user(device, FLASHTRAIN_PORT_HOST, nsid) != FT_OK || !is_commit(device, commit) ||
        commit->pin || commit->release)
        return FT_ERR_ARGUMENT;
    if (!device->enabled) return FT_ERR_DISABLED;
    if (!ft_is_recorded(device, ft_stream_of(device, nsid))) return FT_ERR_NO_JOURNAL;
    ft_save_entries(device);
    const enum ft_error error = set_committed(device, nsid, commit);
    if (error != FT_OK) return error;
    return record_change(device);
}

enum ft_error ft_pin(struct ft_device* device, uint8_t port, uint8_t nsid, bool pinned) {
    if (ft_check_user(device, port, nsid) != FT_OK) return FT_ERR_ARGUMENT;
    if (!device->enabled) return FT_ERR_DISABLED;
    const bool recorded = is_recording(device, port, nsid);
    if (recorded) {
        ft_save_entries(device);
        device->journal.entries[nsid - 1].pinned = pinned;
        const enum ft_error error = record_change(device);
        if (error != FT_OK) return error;
    }
    const enum ft_error error = change_generation(
        device, port, nsid, pinned ? FLASHTRAIN_GENERATION_PIN : FLASHTRAIN_GENERATION_RELEASE);
    if (error == FT_OK) device->pinned[nsid - 1] = pinned;
    if (error == FT_ERR_STATUS && recorded) take_back(device);
    return error;
}

enum ft_error ft_annotate(struct ft_device* device, uint8_t nsid, const uint8_t* note, uint32_t note_bytes) {
    if (ft_check_user(device, FLASHTRAIN_PORT_HOST, nsid) != FT_OK || (note_bytes && !note))
        return FT_ERR_ARGUMENT;
    if (!device->enabled) return FT_ERR_DISABLED;
    if (!ft_is_recorded(device, ft_stream_of(device, nsid))) return FT_ERR_NO_JOURNAL;
    ft_save_entries(device);
    const enum ft_error error = ft_set_note(device, nsid, note, note_bytes);
    return error == FT_OK ? record_change(device) : error;
}

enum ft_error ft_entry_of(const struct ft_device* device, uint8_t nsid, struct ft_entry* entry, uint8_t* note,
                          uint32_t room) {
    if (!device || !entry) return FT_ERR_ARGUMENT;
    if (!ft_is_recorded(device, ft_stream_of(device, nsid))) return FT_ERR_NO_JOURNAL;
    uint32_t start = 0;
    for (unsigned i = 0; i + 1 < nsid; ++i) start += device->journal.entries[i].note_bytes;
    *entry = device->journal.entries[nsid - 1];
    if (note) ft_copy(note, device->notes + start, entry->note_bytes < room ? entry->note_bytes : room);
    return FT_OK;
}
