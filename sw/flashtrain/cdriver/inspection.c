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

/* Let INSPECT return pages as the cells hold them, or decoded; no command is in flight. */
void ft_inspect_raw(struct ft_device* device, bool raw) {
    ft_write_register(device, FLASHTRAIN_REGISTER_CONTROL,
                      FLASHTRAIN_CONTROL_ENABLE | FLASHTRAIN_CONTROL_RECOVER |
                          (raw ? (uint32_t)FLASHTRAIN_CONTROL_RAW : 0));
}

struct ft_walk ft_walk_of(uint32_t physical, uint32_t offset, uint32_t blocks) {
    return (struct ft_walk){.physical = physical, .next = offset, .fetched = offset, .end = offset + blocks};
}

/* The bytes of the next block's identity. */
enum ft_error ft_next_record(struct ft_device* device, struct ft_walk* walk, const uint8_t** record) {
    if (walk->next == walk->fetched) {
        const uint32_t left = walk->end - walk->next;
        const uint32_t part = left < device->scratch_blocks ? left : device->scratch_blocks;
        const enum ft_error error = ft_inspect(device, walk->physical, walk->next, part);
        if (error != FT_OK) return error;
        walk->first = walk->next;
        walk->fetched += part;
    }
    ++walk->next;
    const uint64_t end = device->scratch + (uint64_t)(walk->next - walk->first) * device->info.page_bytes;
    *record = ft_pointer(device, end - FLASHTRAIN_PAGE_IDENTITY_BYTES);
    return FT_OK;
}

/* Whether an identity is whole, and names the page that it lies in. */
static bool is_valid(const struct ft_info* info, const uint8_t* identity, uint32_t offset) {
    const struct ft_place place = ft_place_of(info, offset);
    return flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_CRC) ==
               ft_crc16(identity, FLASHTRAIN_PAGE_IDENTITY_CHECKED_BYTES) &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_VERSION) ==
               FLASHTRAIN_PAGE_IDENTITY_VERSION_VALUE &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_CHANNEL) == place.channel &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_PLANE) == place.plane &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_DIE) == place.die &&
           flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_PAGE) == place.page;
}

static struct ft_owner owner_of(const uint8_t* identity, uint32_t physical) {
    return (struct ft_owner){
        .valid = true,
        .physical = (uint16_t)physical,
        .nsid = (uint8_t)(flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_STREAM) + 1),
        .updates = flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_UPDATED) != 0,
        .zone = (uint16_t)flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_ZONE),
        .generation = (uint16_t)flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_GENERATION),
        .sequence = (uint32_t)flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_SEQUENCE),
        .wear = (uint32_t)flashtrain_get(identity, FLASHTRAIN_PAGE_IDENTITY_WEAR)};
}

/* The owner that the next block's identity names; `valid` is false without one. */
enum ft_error ft_next_page(struct ft_device* device, struct ft_walk* walk, struct ft_owner* page) {
    const uint8_t* identity;
    const enum ft_error error = ft_next_record(device, walk, &identity);
    page->valid = false;
    if (error == FT_OK && is_valid(&device->info, identity, walk->next - 1))
        *page = owner_of(identity, walk->physical);
    return error;
}

/* All pages of an allocation share these fields, and no others do. */
bool ft_is_same_allocation(const struct ft_owner* one, const struct ft_owner* other) {
    return one->valid && other->valid && one->nsid == other->nsid && one->zone == other->zone &&
           one->generation == other->generation && one->sequence == other->sequence;
}

/* Whether a page belongs to an owner. */
bool ft_owns(const struct ft_owner* owner, const struct ft_owner* page) {
    return ft_is_same_allocation(owner, page) && page->updates <= owner->updates;
}

/* Look for pages of an owner: *own counts them, and *last_own gets the block behind the last one. */
enum ft_error ft_identify(struct ft_device* device, uint32_t physical, uint32_t offset, uint32_t blocks,
                          const struct ft_owner* owner, uint32_t* last_own, uint32_t* own) {
    struct ft_walk walk = ft_walk_of(physical, offset, blocks);
    *last_own = *own = 0;
    while (walk.next < walk.end) {
        struct ft_owner page;
        const enum ft_error error = ft_next_page(device, &walk, &page);
        if (error != FT_OK) return error;
        if (!ft_owns(owner, &page)) continue;
        *last_own = walk.next;
        ++*own;
    }
    return FT_OK;
}

/* The first identity among the blocks; `valid` is false without one. */
enum ft_error ft_first_page(struct ft_device* device, uint32_t physical, uint32_t offset, uint32_t blocks,
                            struct ft_owner* first) {
    struct ft_walk walk = ft_walk_of(physical, offset, blocks);
    first->valid = false;
    while (!first->valid && walk.next < walk.end) {
        const enum ft_error error = ft_next_page(device, &walk, first);
        if (error != FT_OK) return error;
    }
    return FT_OK;
}
