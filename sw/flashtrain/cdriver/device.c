/* A device begins empty, and ends in order. */
#include "internal.h"

enum ft_error ft_format(struct ft_device* device, bool factory) {
    if (!device) return FT_ERR_ARGUMENT;
    if (!factory && device->info.spare_blocks) return FT_ERR_SPARES;
    if (ft_read_register(device, FLASHTRAIN_REGISTER_CONTROL) & FLASHTRAIN_CONTROL_ENABLE) {
        const enum ft_error error = ft_disable(device);
        if (error != FT_OK) return error;
    }
    ft_clear_record(device);
    ft_zero((uint8_t*)device->pinned, sizeof device->pinned);
    const enum ft_error error = ft_enable(device, factory ? FLASHTRAIN_CONTROL_FACTORY : 0);
    if (error != FT_OK || !device->journal.nsid) return error;
    ft_start_journal(device, 0, 0, false);
    /* Content that is not erased yet would reappear after a loss of power. */
    return factory ? FT_OK : ft_await_state(device, FLASHTRAIN_STATE_IDLE, true);
}

enum ft_error ft_shutdown(struct ft_device* device) {
    enum ft_error error = ft_drain(device);
    if (error == FT_OK && device->journal.nsid) error = ft_end_journal(device);
    return error == FT_OK ? ft_disable(device) : error;
}
