/* Numbers of allocations: erase counts of physical zones, and the next sequence number. */
#include "internal.h"

/* A zone that was free at an allocation had at least as many erases as the allocated one. */
void ft_estimate_wear(struct ft_device* device) {
    uint32_t least = 0;
    for (uint32_t i = 0; i < device->owner_count; ++i)
        if (device->owners[i].valid && device->owners[i].wear > least) least = device->owners[i].wear;
    for (uint32_t physical = 0; physical < device->info.zones; ++physical)
        if (device->wear[physical] < least) device->wear[physical] = least;
    for (uint32_t i = 0; i < device->owner_count; ++i)
        if (device->owners[i].valid) device->wear[device->owners[i].physical] = device->owners[i].wear;
}

/* The sequence number of the next allocation: above all that the flash or the journal has. */
uint32_t ft_next_sequence(const struct ft_device* device) {
    uint32_t next = 0;
    for (uint32_t zone = 0; device->journal.with_floors && zone < device->info.zones; ++zone)
        if (device->floors[zone] >= next) next = device->floors[zone] + 1;
    for (uint32_t i = 0; i < device->owner_count; ++i)
        if (device->owners[i].valid && device->owners[i].sequence >= next)
            next = device->owners[i].sequence + 1;
    return next;
}
