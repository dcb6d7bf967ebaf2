/* A device begins empty, and ends in order. */
#include "internal.h"

/* Erase all blocks without a factory mark. *sequence: of the next allocation.
 *
 * Blocks whose erase fails keep their content. Later sequence numbers are above theirs, so recovery cannot
 * mistake that content for new content.
 */
static enum ft_error forget(struct ft_device* device, uint32_t* sequence) {
    uint32_t released;
    enum ft_error error = ft_enable(device, FLASHTRAIN_CONTROL_RECOVER);
    if (error == FT_OK) error = ft_find_owners(device);
    if (error != FT_OK) return error;
    *sequence = ft_next_sequence(device);
    for (uint32_t physical = 0; physical < device->info.zones; ++physical) device->uses[physical] = FT_FREE;
    error = ft_replace_marked(device);
    ft_estimate_wear(device);
    if (error == FT_OK) error = ft_release_zones(device, &released);
    if (error == FT_OK) error = ft_release_spares(device, true);
    ft_clear_record(device);
    return error == FT_OK ? ft_end_restore(device, *sequence) : error;
}

static enum ft_error begin_journal(struct ft_device* device, bool factory, uint32_t sequence) {
    for (uint32_t zone = 0; zone < device->info.zones; ++zone) device->floors[zone] = sequence;
    ft_start_journal(device, 0, 0, false);
    /* Content that is not erased yet would reappear after a loss of power. */
    const enum ft_error error = factory ? FT_OK : ft_await_state(device, FLASHTRAIN_STATE_IDLE, true);
    return error == FT_OK && sequence ? ft_write_record(device) : error;
}

enum ft_error ft_format(struct ft_device* device, bool factory) {
    if (!device) return FT_ERR_ARGUMENT;
    if (ft_read_register(device, FLASHTRAIN_REGISTER_CONTROL) & FLASHTRAIN_CONTROL_ENABLE) {
        const enum ft_error error = ft_disable(device);
        if (error != FT_OK) return error;
    }
    uint32_t sequence = 0;
    ft_clear_record(device);
    ft_clear_blocks(device);
    ft_zero((uint8_t*)device->pinned, sizeof device->pinned);
    enum ft_error error = !factory && device->info.spare_blocks
                              ? forget(device, &sequence)
                              : ft_enable(device, factory ? FLASHTRAIN_CONTROL_FACTORY : 0);
    if (error == FT_OK && device->journal.nsid) error = begin_journal(device, factory, sequence);
    if (error != FT_OK) (void)ft_disable(device);
    return error;
}

enum ft_error ft_shutdown(struct ft_device* device) {
    enum ft_error error = ft_drain(device);
    if (error == FT_OK && device->journal.nsid) error = ft_end_journal(device);
    return error == FT_OK ? ft_disable(device) : error;
}
