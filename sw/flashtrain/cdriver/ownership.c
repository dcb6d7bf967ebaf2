/* The logical zone of each physical zone, with few page reads. */
#include "internal.h"

/* A zone without an identity in its first page may have one in the others of the first superpage. */
static enum ft_error find_owners_of_zones(struct ft_device* device) {
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        struct ft_owner* owner = &device->owners[physical];
        enum ft_error error = ft_first_page(device, physical, 0, 1, owner);
        if (error == FT_OK && !owner->valid)
            error = ft_first_page(device, physical, 0, device->info.superpage, owner);
        if (error != FT_OK) return error;
    }
    return FT_OK;
}

/* Fills `ft_device.owners`, and on a device with spare blocks `spares` and `marked`, too. */
enum ft_error ft_find_owners(struct ft_device* device) {
    device->owner_count = device->info.zones;
    for (uint32_t i = 0; i < device->owner_count; ++i)
        device->owners[i] = (struct ft_owner){.physical = (uint16_t)i};
    ft_clear_blocks(device);
    return device->info.spare_blocks ? ft_find_owners_with_spares(device) : find_owners_of_zones(device);
}

/* FT_ERR_FOREIGN_CONTENT if the table of streams has no such zones. */
enum ft_error ft_check_owners(const struct ft_device* device) {
    for (uint32_t i = 0; i < device->owner_count; ++i) {
        const struct ft_owner* owner = &device->owners[i];
        if (owner->valid && !ft_holds_zone(device, owner->nsid, owner->zone)) return FT_ERR_FOREIGN_CONTENT;
    }
    return FT_OK;
}
