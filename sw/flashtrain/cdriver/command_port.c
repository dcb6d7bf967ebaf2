/* The command port: asynchronous cycles on the pins of a chip, while the engines are paused. */
#include "internal.h"

static uint32_t get(const struct ft_port* port, uint32_t offset) {
    return port->platform->read32(port->platform->context, offset);
}

static void put(const struct ft_port* port, uint32_t offset, uint32_t value) {
    port->platform->write32(port->platform->context, offset, value);
}

static void rest(const struct ft_port* port) {
    if (port->platform->pause) port->platform->pause(port->platform->context);
}

/* All channels, or none. */
static void pause_engines(const struct ft_port* port, bool paused) {
    const uint64_t all = port->channels < 64 ? (UINT64_C(1) << port->channels) - 1 : UINT64_MAX;
    put(port, FLASHTRAIN_REGISTER_NAND_PAUSE_LOW, paused ? (uint32_t)all : 0);
    put(port, FLASHTRAIN_REGISTER_NAND_PAUSE_HIGH, paused ? (uint32_t)(all >> 32) : 0);
}

static uint64_t field(uint32_t word, unsigned low, unsigned width) {
    uint8_t bytes[4];
    ft_put32(bytes, word);
    return flashtrain_get(bytes, low, width);
}

/* Polls until the state's bit has this value; `*state` is the last one. */
static enum ft_error await(const struct ft_port* port, unsigned low, unsigned width, bool value,
                           uint32_t* state) {
    for (uint32_t poll = 0; poll < port->polls; ++poll) {
        *state = get(port, FLASHTRAIN_REGISTER_NAND_STATE);
        if ((field(*state, low, width) != 0) == value) return FT_OK;
        rest(port);
    }
    return FT_ERR_TIMEOUT;
}

static enum ft_error cycle(const struct ft_port* port, uint32_t kind, uint8_t byte, uint8_t* answer) {
    if (!port || !port->open) return FT_ERR_ARGUMENT;
    uint8_t fields[4] = {0};
    uint32_t state;
    flashtrain_put(fields, FLASHTRAIN_NAND_CYCLE_BYTE, byte);
    flashtrain_put(fields, FLASHTRAIN_NAND_CYCLE_DIE, port->die);
    flashtrain_put(fields, FLASHTRAIN_NAND_CYCLE_KIND, kind);
    put(port, FLASHTRAIN_REGISTER_NAND_CYCLE, ft_get32(fields));
    const enum ft_error error = await(port, FLASHTRAIN_NAND_STATE_BUSY, false, &state);
    if (!error && answer) *answer = (uint8_t)field(state, FLASHTRAIN_NAND_STATE_BYTE);
    return error;
}

static bool enabled(const struct ft_port* port) {
    return (get(port, FLASHTRAIN_REGISTER_CONTROL) & FLASHTRAIN_CONTROL_ENABLE) != 0;
}

enum ft_error ft_port_open(struct ft_port* port, const struct ft_platform* platform, uint32_t polls) {
    struct ft_info info;
    if (!port || !polls) return FT_ERR_ARGUMENT;
    port->open = false;
    const enum ft_error error = ft_probe(platform, &info);
    if (error) return error;
    port->platform = platform;
    port->channels = info.channels;
    port->dies = info.dies;
    port->polls = polls;
    port->channel = port->die = port->row_bits = 0;
    port->luns = 1;
    port->enabled_here = !enabled(port);
    pause_engines(port, true);
    if (port->enabled_here)
        put(port, FLASHTRAIN_REGISTER_CONTROL, FLASHTRAIN_CONTROL_ENABLE | FLASHTRAIN_CONTROL_RECOVER);
    put(port, FLASHTRAIN_REGISTER_NAND_MODE, 0);
    port->open = true;
    return FT_OK;
}

enum ft_error ft_port_close(struct ft_port* port) {
    if (!port || !port->open) return FT_ERR_ARGUMENT;
    if (port->enabled_here) {
        /* Disabled before the pauses end: the engines send nothing. */
        put(port, FLASHTRAIN_REGISTER_CONTROL, 0);
        uint32_t poll = 0;
        while (get(port, FLASHTRAIN_REGISTER_STATE) & FLASHTRAIN_STATE_READY) {
            if (++poll >= port->polls) return FT_ERR_TIMEOUT;
            rest(port);
        }
    }
    pause_engines(port, false);
    port->open = false;
    return FT_OK;
}

enum ft_error ft_port_select(struct ft_port* port, uint8_t channel, uint8_t die) {
    uint32_t state;
    if (!port || !port->open || channel >= port->channels || die >= port->dies) return FT_ERR_ARGUMENT;
    put(port, FLASHTRAIN_REGISTER_CHANNEL_SELECT, channel);
    port->channel = channel;
    port->die = die;
    return await(port, FLASHTRAIN_NAND_STATE_PAUSED, true, &state);
}

enum ft_error ft_port_mode(struct ft_port* port, uint8_t mode) {
    if (!port || !port->open || mode >= FLASHTRAIN_SDR_MODES) return FT_ERR_ARGUMENT;
    put(port, FLASHTRAIN_REGISTER_NAND_MODE, mode);
    return FT_OK;
}

enum ft_error ft_port_interface(struct ft_port* port, uint8_t mode, bool sdr) {
    uint8_t fields[4] = {0};
    if (!port || !port->open || mode >= FLASHTRAIN_SDR_MODES) return FT_ERR_ARGUMENT;
    flashtrain_put(fields, FLASHTRAIN_NAND_INTERFACE_MODE, mode);
    flashtrain_put(fields, FLASHTRAIN_NAND_INTERFACE_SDR, sdr);
    put(port, FLASHTRAIN_REGISTER_NAND_INTERFACE, ft_get32(fields));
    return FT_OK;
}

enum ft_error ft_port_command(struct ft_port* port, uint8_t command) {
    return cycle(port, FLASHTRAIN_CYCLE_KIND_COMMAND, command, NULL);
}

enum ft_error ft_port_address(struct ft_port* port, uint8_t address) {
    return cycle(port, FLASHTRAIN_CYCLE_KIND_ADDRESS, address, NULL);
}

enum ft_error ft_port_write(struct ft_port* port, const uint8_t* bytes, uint32_t count) {
    enum ft_error error = bytes ? FT_OK : FT_ERR_ARGUMENT;
    for (uint32_t i = 0; i < count && !error; ++i)
        error = cycle(port, FLASHTRAIN_CYCLE_KIND_DATA_IN, bytes[i], NULL);
    return error;
}

enum ft_error ft_port_read(struct ft_port* port, uint8_t* bytes, uint32_t count) {
    enum ft_error error = bytes ? FT_OK : FT_ERR_ARGUMENT;
    for (uint32_t i = 0; i < count && !error; ++i)
        error = cycle(port, FLASHTRAIN_CYCLE_KIND_DATA_OUT, 0, &bytes[i]);
    return error;
}

/* The bit of the chip in what a cycle of this kind reads. */
static enum ft_error look(struct ft_port* port, uint8_t kind, bool* bit) {
    uint8_t bits = 0;
    if (!bit) return FT_ERR_ARGUMENT;
    const enum ft_error error = cycle(port, kind, 0, &bits);
    *bit = !error && (bits >> port->die & 1) != 0;
    return error;
}

enum ft_error ft_port_ready(struct ft_port* port, bool* ready) {
    return look(port, FLASHTRAIN_CYCLE_KIND_LOOK, ready);
}

enum ft_error ft_port_was_busy(struct ft_port* port, bool* was_busy) {
    return look(port, FLASHTRAIN_CYCLE_KIND_WAS_BUSY, was_busy);
}

enum ft_error ft_port_wait(struct ft_port* port, uint32_t polls) {
    for (uint32_t poll = 0; poll < polls; ++poll) {
        bool ready;
        const enum ft_error error = ft_port_ready(port, &ready);
        if (error || ready) return error;
        rest(port);
    }
    return FT_ERR_TIMEOUT;
}
