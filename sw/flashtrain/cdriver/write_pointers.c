/* Write pointers of zones, from the identities of their pages, with few reads. */
#include "internal.h"

/* The blocks up to the last programmed one, from a superpage on; 0 if that has none. */
static enum ft_error find_end(struct ft_device* device, const struct ft_owner* owner, uint32_t superpage,
                              uint32_t* end) {
    const uint32_t blocks = device->info.superpage;
    *end = 0;
    for (; superpage < device->info.pages; ++superpage) {
        uint32_t last, own;
        const enum ft_error error =
            ft_identify(device, owner->physical, superpage * blocks, blocks, owner, &last, &own);
        if (error != FT_OK || !own) return error;
        *end = last;
    }
    return FT_OK;
}

/* The last superpage whose first block is programmed: pages of a block are programmed in order. */
static enum ft_error find_last_superpage(struct ft_device* device, const struct ft_owner* owner,
                                         uint32_t* superpage) {
    uint32_t low = 0, high = device->info.pages;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        uint32_t last, own;
        const enum ft_error error =
            ft_identify(device, owner->physical, middle * device->info.superpage, 1, owner, &last, &own);
        if (error != FT_OK) return error;
        if (own)
            low = middle;
        else
            high = middle;
    }
    *superpage = low;
    return FT_OK;
}

/* Whether every block has its last page below the pointer. The next page of a block without it would be
 * programmed out of order. */
enum ft_error ft_has_last_pages(struct ft_device* device, const struct ft_owner* owner, bool* all) {
    const uint32_t superpage = device->info.superpage;
    const uint32_t start = owner->pointer > superpage ? owner->pointer - superpage : 0;
    uint32_t last, own = 0;
    const enum ft_error error =
        ft_identify(device, owner->physical, start, owner->pointer - start, owner, &last, &own);
    *all = own == owner->pointer - start;
    return error;
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
