/* Allocations whose pages all lie in spares.
 *
 * Such an allocation gets a physical zone whose own blocks are not needed. With the spares in their places
 * that zone holds just these pages. One exists, because there are as many physical zones as logical ones.
 */
#include "internal.h"

/* The newest spare of the lowest logical zone, from `zone` on, whose allocation no physical zone has. */
static const struct ft_spare* next_unclaimed(const struct ft_device* device, uint32_t zone) {
    const struct ft_spare* found = NULL;
    for (uint32_t i = 0; i < ft_spare_count(&device->info); ++i) {
        const struct ft_spare* spare = &device->spares[i];
        const struct ft_owner* page = &spare->page;
        if (!page->valid || spare->claimed || page->zone < zone) continue;
        if (!found || page->zone < found->page.zone ||
            (page->zone == found->page.zone && page->sequence > found->page.sequence))
            found = spare;
    }
    return found;
}

/* The newest owner of a logical zone that has pages in its physical zone; NULL without one. */
static const struct ft_owner* newest_owner(const struct ft_device* device, uint32_t zone) {
    const struct ft_owner* newest = NULL;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        const struct ft_owner* owner = &device->owners[physical];
        if (owner->valid && owner->zone == zone && (!newest || owner->sequence >= newest->sequence))
            newest = owner;
    }
    return newest;
}

static bool is_needed(const struct ft_device* device, const struct ft_owner* owner) {
    if (!owner->valid || newest_owner(device, owner->zone) != owner) return false;
    const struct ft_spare* spare = next_unclaimed(device, owner->zone);
    return !spare || spare->page.zone != owner->zone || spare->page.sequence < owner->sequence;
}

/* If possible one without marks and pages. */
static uint32_t free_zone(const struct ft_device* device) {
    uint32_t best = FT_NO_BLOCK, least = 4;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) {
        const uint32_t rank =
            (ft_has_mark(device, physical) ? 2u : 0u) + (device->owners[physical].valid ? 1u : 0u);
        if (device->uses[physical] != FT_FREE || rank >= least) continue;
        best = physical;
        least = rank;
    }
    return best;
}

/* Adds owners behind those of the physical zones. */
enum ft_error ft_place_spare_zones(struct ft_device* device) {
    const struct ft_spare* spare;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical)
        device->uses[physical] = is_needed(device, &device->owners[physical]) ? FT_NEEDED : FT_FREE;
    for (uint32_t zone = 0; (spare = next_unclaimed(device, zone)) != NULL; zone = spare->page.zone + 1u) {
        const struct ft_owner* older = newest_owner(device, spare->page.zone);
        if (older && older->sequence > spare->page.sequence) continue;
        const uint32_t physical = free_zone(device);
        if (physical == FT_NO_BLOCK) return FT_OK;
        device->uses[physical] = FT_NEEDED;
        struct ft_owner* owner = &device->owners[device->owner_count++];
        *owner = spare->page;
        owner->physical = (uint16_t)physical;
        const enum ft_error error = ft_claim_spares(device, owner, NULL);
        if (error != FT_OK) return error;
    }
    return FT_OK;
}
