/* The logical zone of each physical zone, and its write pointer, with few page reads. */
#include "internal.h"

/* A zone without an identity in its first page may have one in the others of the first superpage. */
enum ft_error ft_find_owners(struct ft_device* device) {
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        struct ft_owner* owner = &device->owners[physical];
        *owner = (struct ft_owner){0};
        enum ft_error error = ft_identify(device, physical, 0, 1, NULL, owner, NULL, NULL);
        if (error == FT_OK && !owner->valid)
            error = ft_identify(device, physical, 0, device->info.superpage, NULL, owner, NULL, NULL);
        if (error != FT_OK) return error;
        if (owner->valid && !ft_holds_zone(device, owner->nsid, owner->zone)) return FT_ERR_FOREIGN_CONTENT;
    }
    return FT_OK;
}

/* The blocks up to the last programmed one, from a superpage on; 0 if that has none. */
static enum ft_error find_end(struct ft_device* device, const struct ft_owner* owner, uint32_t superpage,
                              uint32_t* end) {
    const uint32_t physical = (uint32_t)(owner - device->owners), blocks = device->info.superpage;
    *end = 0;
    for (; superpage < device->info.pages; ++superpage) {
        uint32_t last, own;
        const enum ft_error error =
            ft_identify(device, physical, superpage * blocks, blocks, owner, NULL, &last, &own);
        if (error != FT_OK || !own) return error;
        *end = last;
    }
    return FT_OK;
}

/* The last superpage whose first block is programmed: pages of a block are programmed in order. */
static enum ft_error find_last_superpage(struct ft_device* device, const struct ft_owner* owner,
                                         uint32_t* superpage) {
    const uint32_t physical = (uint32_t)(owner - device->owners);
    uint32_t low = 0, high = device->info.pages;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        uint32_t last, own;
        const enum ft_error error =
            ft_identify(device, physical, middle * device->info.superpage, 1, owner, NULL, &last, &own);
        if (error != FT_OK) return error;
        if (own)
            low = middle;
        else
            high = middle;
    }
    *superpage = low;
    return FT_OK;
}

/* Sets the owner's pointer. guess: the expected one; 0: unknown. */
enum ft_error ft_find_pointer(struct ft_device* device, struct ft_owner* owner, uint32_t guess) {
    uint32_t superpage = 0;
    owner->pointer = 0;
    if (guess) {
        const enum ft_error error =
            find_end(device, owner, (guess - 1) / device->info.superpage, &owner->pointer);
        if (error != FT_OK || owner->pointer) return error;
    }
    const enum ft_error error = find_last_superpage(device, owner, &superpage);
    return error == FT_OK ? find_end(device, owner, superpage, &owner->pointer) : error;
}
