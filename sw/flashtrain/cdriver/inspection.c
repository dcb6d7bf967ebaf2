/* Pages with their identities, while the controller is in recovery. */
#include "internal.h"

/* Read blocks of a physical zone into the scratch memory, which holds as many. */
enum ft_error ft_inspect(struct ft_device* device, uint32_t physical, uint32_t offset, uint32_t blocks) {
    for (uint32_t done = 0; done < blocks;) {
        const uint32_t left = blocks - done;
        const uint32_t part = left < device->info.max_blocks ? left : device->info.max_blocks;
        const struct ft_command command = {
            .opcode = FLASHTRAIN_OPCODE_INSPECT,
            .nsid = device->config.streams[0].nsid,
            .slba = (uint64_t)physical * device->info.zone_size + offset + done,
            .blocks = part,
            .address = device->scratch + (uint64_t)done * device->info.page_bytes,
            .length = part * device->info.page_bytes};
        const enum ft_error error = ft_execute(device, FLASHTRAIN_PORT_HOST, &command, NULL);
        if (error != FT_OK) return error;
        done += part;
    }
    return FT_OK;
}

/* Whether an identity is whole, and names the page that it lies in. */
static bool is_valid(const struct ft_info* info, const uint8_t* identity, uint32_t offset) {
    return flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_CRC) ==
               ft_crc16(identity, FLASHTRAIN_PAGE_IDENTITY_CHECKED_BYTES) &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_VERSION) ==
               FLASHTRAIN_PAGE_IDENTITY_VERSION_VALUE &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_CHANNEL) == offset % info->channels &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_PLANE) ==
               offset / info->channels % info->planes &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_DIE) ==
               offset / ((uint32_t)info->channels * info->planes) % info->dies &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_PAGE) == offset / info->superpage;
}

static void parse_owner(const uint8_t* identity, struct ft_owner* owner) {
    *owner = (struct ft_owner){
        .valid = true,
        .nsid = (uint8_t)(flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_STREAM) + 1),
        .updates = flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_UPDATED) != 0,
        .zone = (uint16_t)flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_ZONE),
        .generation = (uint16_t)flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_GENERATION),
        .sequence = (uint32_t)flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_SEQUENCE),
        .wear = (uint32_t)flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_WEAR)};
}

static bool owns(const struct ft_owner* owner, const struct ft_owner* page) {
    return page->updates <= owner->updates && page->nsid == owner->nsid && page->zone == owner->zone &&
           page->generation == owner->generation && page->sequence == owner->sequence;
}

/* Look at the identities of blocks of a physical zone.
 *
 * - first: unless NULL, gets the first identity; `valid` is false without one.
 * - owner: unless NULL, *own counts its pages, and *last_own gets the block behind the last one.
 */
enum ft_error ft_identify(struct ft_device* device, uint32_t physical, uint32_t offset, uint32_t blocks,
                          const struct ft_owner* owner, struct ft_owner* first, uint32_t* last_own,
                          uint32_t* own) {
    if (first) first->valid = false;
    if (owner) *last_own = *own = 0;
    for (uint32_t done = 0; done < blocks;) {
        const uint32_t left = blocks - done;
        const uint32_t part = left < device->scratch_blocks ? left : device->scratch_blocks;
        const enum ft_error error = ft_inspect(device, physical, offset + done, part);
        if (error != FT_OK) return error;
        for (uint32_t i = 0; i < part; ++i) {
            const uint64_t end = device->scratch + (uint64_t)(i + 1) * device->info.page_bytes;
            const uint8_t* identity = ft_pointer(device, end - FLASHTRAIN_PAGE_IDENTITY_BYTES);
            struct ft_owner page;
            if (!is_valid(&device->info, identity, offset + done + i)) continue;
            parse_owner(identity, &page);
            if (first && !first->valid) *first = page;
            if (owner && owns(owner, &page)) {
                *last_own = offset + done + i + 1;
                ++*own;
            }
        }
        done += part;
    }
    return FT_OK;
}
