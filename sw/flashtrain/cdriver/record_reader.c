/* The newest record of the journal, while the controller is in recovery.
 *
 * Each record waits for the one before, so only the last one can have an interrupted program. It has pages
 * without identity then, or, on a device without a code, pages whose content is spoilt. A record that is
 * damaged otherwise was acknowledged.
 */
#include "internal.h"

static enum ft_error all_owned(struct ft_device* device, const struct ft_owner* owner, uint32_t offset,
                               uint32_t blocks, bool* owned) {
    uint32_t last, own;
    const enum ft_error error = ft_identify(device, owner->physical, offset, blocks, owner, &last, &own);
    *owned = own == blocks;
    return error;
}

/* One step down from block `end`: a record that ends there, or the next block to look at.
 *
 * unknown: no block above `end` says which record it belongs to. *record: it is in the scratch memory, from
 * block *start on.
 */
static enum ft_error step(struct ft_device* device, const struct ft_owner* owner, uint32_t* end,
                          bool* unknown, bool* record, uint32_t* blocks, uint32_t* records) {
    const bool coded = device->config.corrects_errors;
    uint32_t place[3];
    bool owned;
    enum ft_error error = all_owned(device, owner, *end - 1, 1, &owned);
    if (error != FT_OK) return error;
    if (!owned) {
        --*end;
        return FT_OK;
    }
    if (!ft_parse_place(ft_pointer(device, device->scratch), place)) {
        if (coded || !*unknown) return FT_ERR_JOURNAL_DAMAGED;
        --*end;
        return FT_OK;
    }
    const int64_t start = (int64_t)*end - 1 - place[1];
    *blocks = place[2];
    if (start >= 0 && start + *blocks <= owner->pointer) {
        error = all_owned(device, owner, (uint32_t)start, *blocks, &owned);
        if (error != FT_OK) return error;
    } else {
        owned = false;
    }
    if (!owned) { /* it was never acknowledged */
        *end = start > 0 ? (uint32_t)start : 0;
        *unknown = false;
        return FT_OK;
    }
    if (*blocks > device->scratch_blocks) return FT_ERR_JOURNAL_TOO_LONG;
    error = ft_inspect(device, owner->physical, (uint32_t)start, *blocks);
    if (error != FT_OK) return error;
    if (ft_is_whole_record(device, *blocks)) {
        ++*records;
        *end = (uint32_t)start;
        *record = true;
        return FT_OK;
    }
    if (coded || !*unknown || start + *blocks != owner->pointer) return FT_ERR_JOURNAL_DAMAGED;
    *end = (uint32_t)start;
    *unknown = false;
    return FT_OK;
}

/* The last whole record below the owner's pointer; *end: the block behind it. */
static enum ft_error read_last(struct ft_device* device, const struct ft_owner* owner, bool* record,
                               uint32_t* end, uint32_t* records) {
    bool unknown = true;
    uint32_t blocks = 0, at = owner->pointer;
    *record = false;
    while (at > 0) {
        const enum ft_error error = step(device, owner, &at, &unknown, record, &blocks, records);
        if (error != FT_OK) return error;
        if (*record) {
            *end = at + blocks;
            return ft_parse_record(device);
        }
    }
    return FT_OK;
}

/* The journal's zones by age, the newest first; the second is NULL without one, the first, too. */
static void journal_owners(struct ft_device* device, struct ft_owner* by_age[2]) {
    struct ft_owner* newest[2] = {NULL, NULL};
    for (uint32_t i = 0; i < device->owner_count; ++i) {
        struct ft_owner* owner = &device->owners[i];
        if (!owner->valid || owner->nsid != device->journal.nsid) continue;
        struct ft_owner** of = &newest[owner->zone - device->first_zone[owner->nsid - 1]];
        if (!*of || owner->sequence >= (*of)->sequence) *of = owner;
    }
    const bool second = !newest[0] || (newest[1] && newest[1]->sequence > newest[0]->sequence);
    by_age[0] = newest[second];
    by_age[1] = newest[!second];
}

/* The last record in the journal's newer zone, or if that has none, in the older. */
enum ft_error ft_find_record(struct ft_device* device, struct ft_found* found) {
    struct ft_owner* by_age[2];
    *found = (struct ft_found){0};
    ft_clear_record(device);
    if (!device->journal.nsid) return FT_OK;
    journal_owners(device, by_age);
    found->owner = by_age[0];
    for (unsigned i = 0; i < 2 && by_age[i]; ++i) {
        const enum ft_error error = ft_use_spares(device, by_age[i]);
        if (error != FT_OK) return error;
    }
    for (unsigned i = 0; i < 2 && by_age[i] && !found->record; ++i) {
        enum ft_error error = ft_find_pointer(device, by_age[i], 0);
        if (error == FT_OK)
            error = read_last(device, by_age[i], &found->record, &found->end, &found->records);
        if (error != FT_OK) return error;
        if (found->record) {
            found->owner = by_age[i];
            found->last = i == 0 && found->end == by_age[i]->pointer;
            found->goes_on =
                found->last && device->journal.clean && found->end == ft_written_blocks(device->pointers[by_age[i]->zone]);
        }
    }
    return FT_OK;
}
