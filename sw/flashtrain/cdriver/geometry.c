/* Counts of blocks, and their places. */
#include "internal.h"

/* Blocks of a plane, spare blocks included. */
uint32_t ft_blocks(const struct ft_info* info) { return (uint32_t)info->zones + info->spare_blocks; }

/* Spare blocks of the device. */
uint32_t ft_spare_count(const struct ft_info* info) { return info->spare_blocks * info->superpage; }

/* The place of a block of a zone; that of a column, the offset of its first page, names its plane. */
struct ft_place ft_place_of(const struct ft_info* info, uint32_t offset) {
    return (struct ft_place){.channel = offset % info->channels,
                             .plane = offset / info->channels % info->planes,
                             .die = offset / ((uint32_t)info->channels * info->planes) % info->dies,
                             .page = offset / info->superpage};
}
