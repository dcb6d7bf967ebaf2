/* Spares in the places of other blocks, and blocks with a factory mark. */
#include "internal.h"

/* Forget marks, spares and their places. */
void ft_clear_blocks(struct ft_device* device) {
    device->spares_used = 0;
    for (uint32_t i = 0; device->info.spare_blocks && i < ft_blocks(&device->info) * device->info.superpage;
         ++i)
        ft_set_bit(device->marked, i, false);
    for (uint32_t i = 0; i < ft_spare_count(&device->info); ++i)
        device->spares[i] = (struct ft_spare){.owner = FT_NO_OWNER, .place = FT_NO_BLOCK};
}

/* Put a spare in the place of a block; one that must not be used is put in its own place. */
static enum ft_error put(struct ft_device* device, uint32_t block, uint32_t column, uint32_t spare) {
    const struct ft_place place = ft_place_of(&device->info, column);
    ft_spare_at(device, spare, column)->place = (uint16_t)block;
    return ft_restore(device, (struct ft_command){.action = FLASHTRAIN_RESTORE_BLOCK,
                                                  .physical = (uint16_t)block,
                                                  .channel = (uint8_t)place.channel,
                                                  .die = (uint8_t)place.die,
                                                  .plane = (uint8_t)place.plane,
                                                  .spare = (uint16_t)(spare - device->info.zones)});
}

/* Put the spares of an owner in their places, before any other page of its zone is read. */
enum ft_error ft_use_spares(struct ft_device* device, const struct ft_owner* owner) {
    const uint32_t superpage = device->info.superpage;
    for (uint32_t i = 0; i < ft_spare_count(&device->info); ++i) {
        struct ft_spare* spare = &device->spares[i];
        if (spare->used || spare->owner != owner - device->owners) continue;
        spare->used = true;
        ++device->spares_used;
        const enum ft_error error =
            put(device, owner->physical, i % superpage, device->info.zones + i / superpage);
        if (error != FT_OK) return error;
    }
    return FT_OK;
}

/* The spare in the place of a block; FT_NO_BLOCK without one. */
static uint32_t spare_of(const struct ft_device* device, uint32_t block, uint32_t column) {
    for (uint32_t spare = device->info.zones; spare < ft_blocks(&device->info); ++spare)
        if (ft_spare_at(device, spare, column)->place == block) return spare;
    return FT_NO_BLOCK;
}

/* A spare that is in no place, if possible one without pages. */
static uint32_t free_spare(const struct ft_device* device, uint32_t column) {
    for (unsigned written = 0; written < 2; ++written)
        for (uint32_t block = device->info.zones; block < ft_blocks(&device->info); ++block) {
            const struct ft_spare* spare = ft_spare_at(device, block, column);
            if (spare->place == FT_NO_BLOCK && spare->page.valid == (written != 0)) return block;
        }
    return FT_NO_BLOCK;
}

/* A physical zone without a spare for its marked block is not used, unless it is kept. */
static enum ft_error replace(struct ft_device* device, uint32_t zone) {
    for (uint32_t column = 0; column < device->info.superpage; ++column) {
        if (!ft_is_marked(device, zone, column) || spare_of(device, zone, column) != FT_NO_BLOCK) continue;
        const uint32_t spare = free_spare(device, column);
        if (spare != FT_NO_BLOCK) {
            const enum ft_error error = put(device, zone, column, spare);
            if (error != FT_OK) return error;
        } else if (device->uses[zone] != FT_NEEDED) {
            device->uses[zone] = FT_UNUSABLE;
        }
    }
    return FT_OK;
}

/* Put spares in the places of marked blocks, before any erase.
 *
 * Kept zones come first, since they will be erased later, too. A marked spare takes its own place, so that it
 * is in use and replaces no other block.
 */
enum ft_error ft_replace_marked(struct ft_device* device) {
    const uint32_t zones = device->info.zones;
    for (uint32_t spare = zones; spare < ft_blocks(&device->info); ++spare)
        for (uint32_t column = 0; column < device->info.superpage; ++column) {
            const enum ft_error error =
                ft_is_marked(device, spare, column) ? put(device, spare, column, spare) : FT_OK;
            if (error != FT_OK) return error;
        }
    for (unsigned others = 0; device->info.spare_blocks && others < 2; ++others)
        for (uint32_t zone = 0; zone < zones; ++zone) {
            const bool kept = device->uses[zone] == FT_NEEDED;
            const enum ft_error error = kept == !others ? replace(device, zone) : FT_OK;
            if (error != FT_OK) return error;
        }
    return FT_OK;
}

/* Whether a spare of this number has pages where it is not used for what is kept. */
bool ft_has_stale_pages(const struct ft_device* device, uint32_t block) {
    for (uint32_t column = 0; column < device->info.superpage; ++column) {
        const struct ft_spare* spare = ft_spare_at(device, block, column);
        if (spare->page.valid && !spare->used) return true;
    }
    return false;
}

uint32_t ft_bad_blocks(const struct ft_device* device, struct ft_bad_block* blocks, uint32_t room) {
    const struct ft_info* info = &device->info;
    uint32_t count = 0;
    for (uint32_t i = 0; info->spare_blocks && i < ft_blocks(info) * info->superpage; ++i) {
        if (!ft_bit(device->marked, i)) continue;
        const uint32_t block = i / info->superpage, column = i % info->superpage;
        const struct ft_place place = ft_place_of(info, column);
        if (count < room)
            blocks[count] = (struct ft_bad_block){
                .channel = (uint8_t)place.channel,
                .die = (uint8_t)place.die,
                .plane = (uint8_t)place.plane,
                .block = (uint16_t)block,
                .replacement =
                    (uint16_t)(block < info->zones ? spare_of(device, block, column) : FT_NO_BLOCK)};
        ++count;
    }
    return count;
}
