/* Zone reports, and the zones that they show out of service. */
#include "internal.h"

static bool is_retired(uint8_t state) {
    return state == FLASHTRAIN_ZONE_STATE_READ_ONLY || state == FLASHTRAIN_ZONE_STATE_OFFLINE;
}

static void parse_zone(const uint8_t* descriptor, struct ft_zone* zone) {
    const uint64_t pointer = flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_WRITE_POINTER);
    const uint64_t start = flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_START);
    zone->state = (uint8_t)flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_STATE);
    zone->old = flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_RESET_RECOMMENDED) != 0 ||
                flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_FINISH_RECOMMENDED) != 0;
    zone->start = (uint32_t)start;
    zone->capacity = (uint32_t)flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_CAPACITY);
    zone->room =
        pointer == FLASHTRAIN_ZONE_DESCRIPTOR_NO_POINTER ? 0 : zone->capacity - (uint32_t)(pointer - start);
    zone->time = (uint32_t)flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_TIME);
    zone->written = (uint32_t)flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_WRITTEN);
    zone->sequence = (uint32_t)flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_SEQUENCE);
    zone->unsure = flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_UNSURE) != 0;
}

/* Reports pass through the scratch memory, as many zones at a time as it holds. */
enum ft_error ft_report_zones(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t first,
                              struct ft_zone* zones, uint32_t count) {
    const uint32_t room = (uint32_t)((uint64_t)device->scratch_blocks * device->info.page_bytes /
                                     FLASHTRAIN_ZONE_DESCRIPTOR_BYTES) -
                          1;
    for (uint32_t done = 0; done < count;) {
        const uint32_t part = count - done < room ? count - done : room;
        const struct ft_command command = {
            .opcode = FLASHTRAIN_OPCODE_ZONE_MANAGEMENT_RECEIVE,
            .nsid = nsid,
            .slba = (uint64_t)(first + done) * device->info.zone_size,
            .address = device->scratch,
            .length = FLASHTRAIN_REPORT_HEADER_BYTES + part * FLASHTRAIN_ZONE_DESCRIPTOR_BYTES};
        const enum ft_error error = ft_execute(device, port, &command, NULL);
        if (error != FT_OK) return error;
        const uint8_t* report = ft_pointer(device, device->scratch);
        for (uint32_t i = 0; i < part; ++i)
            parse_zone(report + FLASHTRAIN_REPORT_HEADER_BYTES + i * FLASHTRAIN_ZONE_DESCRIPTOR_BYTES,
                       &zones[done + i]);
        done += part;
    }
    return FT_OK;
}

/* The data of a zone that was found out of service are those of this allocation, or there are none. */
static void set_floor(struct ft_device* device, uint32_t zone, uint32_t sequence) {
    if (sequence == FLASHTRAIN_ZONE_DESCRIPTOR_NO_SEQUENCE)
        ft_raise_floor(device, zone);
    else
        device->floors[zone] = sequence;
}

enum ft_error ft_report(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t first,
                        struct ft_zone* zones, uint32_t count) {
    if (ft_check_user(device, port, nsid) != FT_OK || !zones || first > ft_zones(device, nsid) ||
        count > ft_zones(device, nsid) - first)
        return FT_ERR_ARGUMENT;
    const enum ft_error error = ft_report_zones(device, port, nsid, first, zones, count);
    if (error != FT_OK || !device->journal.nsid) return error;
    bool found = false;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t zone = device->first_zone[nsid - 1] + first + i;
        if (is_retired(zones[i].state) && device->retired[zone] != zones[i].state) {
            if (!device->retired[zone]) set_floor(device, zone, zones[i].sequence);
            device->retired[zone] = zones[i].state;
            found = true;
        }
    }
    /* If the journal takes no record now, the next change returns its error. */
    if (found) (void)ft_write_record(device);
    return FT_OK;
}

void ft_note_failure(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone) {
    const uint16_t status = device->last_status;
    if (status == FLASHTRAIN_STATUS_WRITE_FAULT || status == FLASHTRAIN_STATUS_ZONE_IS_READ_ONLY ||
        status == FLASHTRAIN_STATUS_ZONE_IS_OFFLINE) {
        struct ft_zone found;
        (void)ft_report(device, port, nsid, zone, &found, 1);
        device->last_status = status;
    }
}
