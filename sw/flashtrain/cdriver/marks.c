/* Factory marks of bad blocks, while the controller is in recovery.
 *
 * A block counts as marked if it has the bytes of a mark (flashtrain.spec.bad_blocks) and no page with an
 * identity. Marked blocks are never erased, so every recovery finds the marks again.
 */
#include "internal.h"

static uint32_t ones(uint32_t bits) {
    uint32_t count = 0;
    for (; bits; bits &= bits - 1) ++count;
    return count;
}

static void know(uint8_t* fields, uint8_t* mask, unsigned low, unsigned width, uint32_t value) {
    flashtrain_put(fields, low, width, value);
    flashtrain_put(mask, low, width, UINT64_MAX);
}

/* The bits that are ones in the cells of the identity of every page in this place. */
static void ones_of_ours(const struct ft_device* device, const struct ft_place* place, uint8_t* ours) {
    uint8_t fields[FLASHTRAIN_PAGE_IDENTITY_BYTES] = {0}, mask[sizeof fields] = {0};
    ft_zero(ours, sizeof mask);
    if (device->config.randomizes) ft_identity_key(&device->info, place, ours);
    know(fields, mask, FLASHTRAIN_PAGE_IDENTITY_PAGE, place->page);
    know(fields, mask, FLASHTRAIN_PAGE_IDENTITY_CHANNEL, place->channel);
    know(fields, mask, FLASHTRAIN_PAGE_IDENTITY_DIE, place->die);
    know(fields, mask, FLASHTRAIN_PAGE_IDENTITY_PLANE, place->plane);
    know(fields, mask, FLASHTRAIN_PAGE_IDENTITY_VERSION, FLASHTRAIN_PAGE_IDENTITY_VERSION_VALUE);
    for (unsigned i = 0; i < sizeof mask; ++i) ours[i] = (uint8_t)((ours[i] ^ fields[i]) & mask[i]);
}

/* Whether the bytes in the place of an identity are a mark. */
static bool is_mark(const uint8_t* record, const uint8_t* ours) {
    const uint32_t others = 8 * (FLASHTRAIN_PAGE_IDENTITY_BYTES - 1);
    uint32_t high = 0, lost = 0;
    for (unsigned i = 0; i < FLASHTRAIN_PAGE_IDENTITY_BYTES; ++i) {
        if (i) high += ones(record[i]);
        lost += ones(ours[i] & ~(uint32_t)record[i] & 0xffu);
    }
    const uint32_t fewest = high < others - high ? high : others - high;
    return ones(record[0] ^ FLASHTRAIN_MARK) <= FLASHTRAIN_MARK_MOST_WRONG_BITS &&
           (lost >= FLASHTRAIN_MARK_LEAST_ZEROS || fewest <= FLASHTRAIN_MARK_MOST_WRONG_OTHERS);
}

/* Sets the bits of `columns` where this superpage of a block looks marked. */
static enum ft_error look_at(struct ft_device* device, uint32_t block, uint32_t page) {
    struct ft_walk walk = ft_walk_of(block, page * device->info.superpage, device->info.superpage);
    for (uint32_t column = 0; column < device->info.superpage; ++column) {
        uint8_t ours[FLASHTRAIN_PAGE_IDENTITY_BYTES];
        const uint8_t* record;
        const struct ft_place place = ft_place_of(&device->info, walk.next);
        const enum ft_error error = ft_next_record(device, &walk, &record);
        if (error != FT_OK) return error;
        ones_of_ours(device, &place, ours);
        if (is_mark(record, ours)) ft_set_bit(device->columns, column, true);
    }
    return FT_OK;
}

/* Candidates stay if their first or last page looks marked. */
static enum ft_error look(struct ft_device* device, uint32_t block) {
    ft_zero(device->columns, ft_bitmap_bytes(device->info.superpage));
    enum ft_error error = look_at(device, block, 0);
    if (error == FT_OK) error = look_at(device, block, device->info.pages - 1u);
    for (uint32_t column = 0; error == FT_OK && column < device->info.superpage; ++column)
        if (!ft_bit(device->columns, column))
            ft_set_bit(device->marked, block * device->info.superpage + column, false);
    return error;
}

static enum ft_error has_identity(struct ft_device* device, uint32_t block, uint32_t column, bool* found) {
    struct ft_owner page = {0};
    for (uint32_t number = 0; !page.valid && number < device->info.pages; ++number) {
        const enum ft_error error =
            ft_first_page(device, block, number * device->info.superpage + column, 1, &page);
        if (error != FT_OK) return error;
    }
    *found = page.valid;
    return FT_OK;
}

bool ft_is_marked(const struct ft_device* device, uint32_t block, uint32_t column) {
    return ft_bit(device->marked, block * device->info.superpage + column);
}

/* Whether any block of this number is marked. */
bool ft_has_mark(const struct ft_device* device, uint32_t block) {
    for (uint32_t column = 0; column < device->info.superpage; ++column)
        if (ft_is_marked(device, block, column)) return true;
    return false;
}

/* Leaves the bits of marked blocks in `ft_device.marked`, of those without an identity in their first pages.
 */
enum ft_error ft_find_marks(struct ft_device* device) {
    const uint32_t superpage = device->info.superpage, blocks = ft_blocks(&device->info);
    enum ft_error error = FT_OK;
    ft_inspect_raw(device, true);
    for (uint32_t block = 0; error == FT_OK && block < blocks; ++block)
        if (ft_has_mark(device, block)) error = look(device, block);
    ft_inspect_raw(device, false);
    for (uint32_t i = 0; error == FT_OK && i < blocks * superpage; ++i) {
        bool found = false;
        if (ft_bit(device->marked, i)) error = has_identity(device, i / superpage, i % superpage, &found);
        if (found) ft_set_bit(device->marked, i, false);
    }
    return error;
}
