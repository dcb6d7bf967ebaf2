/* Owners on a device with spare blocks. A spare belongs to the physical zone of the same allocation.
 *
 * The power may fail while a block moves to a spare. If several blocks have pages of one place, the block
 * with the most pages counts.
 */
#include "internal.h"

/* Pages that are inspected in a spare block: the program of the first one may have failed. */
enum { SPARE_PAGES = 4 };

struct ft_spare* ft_spare_at(const struct ft_device* device, uint32_t block, uint32_t column) {
    return &device->spares[(block - device->info.zones) * device->info.superpage + column];
}

/* Finds the first identity of each spare block; one without becomes a candidate for a mark. */
static enum ft_error read_spares(struct ft_device* device) {
    const uint32_t superpage = device->info.superpage;
    const uint32_t pages = device->info.pages < SPARE_PAGES ? device->info.pages : SPARE_PAGES;
    for (uint32_t block = device->info.zones; block < ft_blocks(&device->info); ++block) {
        struct ft_walk walk = ft_walk_of(block, 0, pages * superpage);
        while (walk.next < walk.end) {
            struct ft_owner page;
            const enum ft_error error = ft_next_page(device, &walk, &page);
            if (error != FT_OK) return error;
            struct ft_spare* spare = ft_spare_at(device, block, (walk.next - 1) % superpage);
            if (page.valid && !spare->page.valid) spare->page = page;
        }
        for (uint32_t column = 0; column < superpage; ++column)
            if (!ft_spare_at(device, block, column)->page.valid)
                ft_set_bit(device->marked, block * superpage + column, true);
    }
    return FT_OK;
}

/* Sets the owner of a physical zone, and the bits of `columns` where it has pages.
 *
 * The newest page names the owner, since a bad block may keep pages of an earlier allocation. A column
 * without identity becomes a candidate for a mark.
 */
static enum ft_error read_zone(struct ft_device* device, struct ft_owner* owner) {
    const uint32_t superpage = device->info.superpage, physical = owner->physical;
    struct ft_walk walk = ft_walk_of(physical, 0, superpage);
    ft_zero(device->columns, ft_bitmap_bytes(superpage));
    for (uint32_t column = 0; column < superpage; ++column) {
        struct ft_owner page;
        const enum ft_error error = ft_next_page(device, &walk, &page);
        if (error != FT_OK) return error;
        if (!page.valid) {
            ft_set_bit(device->marked, physical * superpage + column, true);
        } else if (!owner->valid || page.sequence > owner->sequence) {
            *owner = page;
            ft_zero(device->columns, ft_bitmap_bytes(superpage));
            ft_set_bit(device->columns, column, true);
        } else if (ft_owns(owner, &page)) {
            ft_set_bit(device->columns, column, true);
        }
    }
    return FT_OK;
}

/* The pages of an owner in a column of a block, from the first one on. */
static enum ft_error count_pages(struct ft_device* device, const struct ft_owner* owner, uint32_t block,
                                 uint32_t column, uint32_t* pages) {
    uint32_t last, own = 1;
    for (*pages = 0; *pages < device->info.pages; ++*pages) {
        const uint32_t offset = *pages * device->info.superpage + column;
        const enum ft_error error = ft_identify(device, block, offset, 1, owner, &last, &own);
        if (error != FT_OK || !own) return error;
    }
    return FT_OK;
}

/* Claims the spares of an owner in a column. *block: which block of that place counts, FT_NO_BLOCK for none.
 *
 * Before the call it is the owner's own block, if that has pages. Of blocks with equally many pages the last
 * one counts, because the others have moved to it.
 */
static enum ft_error choose_block(struct ft_device* device, const struct ft_owner* owner, uint32_t column,
                                  uint32_t* block) {
    uint32_t most = 0, pages;
    bool counted = false;
    enum ft_error error = FT_OK;
    for (uint32_t other = device->info.zones; other < ft_blocks(&device->info); ++other) {
        struct ft_spare* spare = ft_spare_at(device, other, column);
        if (spare->claimed || !ft_is_same_allocation(&spare->page, owner)) continue;
        spare->claimed = true;
        if (*block == FT_NO_BLOCK) {
            *block = other;
            continue;
        }
        if (!counted) error = count_pages(device, owner, *block, column, &most);
        counted = true;
        if (error == FT_OK) error = count_pages(device, owner, other, column, &pages);
        if (error != FT_OK) return error;
        if (pages >= most) {
            *block = other;
            most = pages;
        }
    }
    return FT_OK;
}

/* Finds the spares of an owner. columns: bits of those where its physical zone has pages; NULL: nowhere. */
enum ft_error ft_claim_spares(struct ft_device* device, struct ft_owner* owner, const uint8_t* columns) {
    uint32_t found = 0;
    for (uint32_t column = 0; column < device->info.superpage; ++column) {
        uint32_t block = columns && ft_bit(columns, column) ? owner->physical : FT_NO_BLOCK;
        const enum ft_error error = choose_block(device, owner, column, &block);
        if (error != FT_OK) return error;
        found += block != FT_NO_BLOCK;
        if (block != FT_NO_BLOCK && block >= device->info.zones)
            ft_spare_at(device, block, column)->owner = (uint16_t)(owner - device->owners);
    }
    owner->whole = found == device->info.superpage;
    return FT_OK;
}

/* Reads the first superpage of each zone, the first pages of the spares, and marks. */
enum ft_error ft_find_owners_with_spares(struct ft_device* device) {
    enum ft_error error = read_spares(device);
    for (uint32_t physical = 0; error == FT_OK && physical < device->info.zones; ++physical) {
        struct ft_owner* owner = &device->owners[physical];
        error = read_zone(device, owner);
        if (error == FT_OK && owner->valid) error = ft_claim_spares(device, owner, device->columns);
    }
    if (error == FT_OK) error = ft_find_marks(device);
    return error == FT_OK ? ft_place_spare_zones(device) : error;
}
