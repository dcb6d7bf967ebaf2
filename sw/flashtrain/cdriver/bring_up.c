/* Bring-up of chips, in the steps of flashtrain.host.bringup: reset, identity, parameter page, and so on. */
#include "internal.h"

#define PAGE_BYTES FLASHTRAIN_PARAMETER_PAGE_BYTES
#define COPIES FLASHTRAIN_PARAMETER_PAGE_COPIES
#define SIGNATURE_BYTES 4
#define ROW_BYTES 3
#define FLOATING 0xff /* a byte that no chip drives */

static uint64_t signature_of(const uint8_t* bytes) {
    return flashtrain_get(bytes, FLASHTRAIN_PARAMETER_PAGE_SIGNATURE);
}

/* Whether R/B# becomes high within the polls of the port. */
static enum ft_error becomes_ready(struct ft_port* port, bool* ready) {
    *ready = false;
    for (uint32_t poll = 0; poll < port->polls; ++poll) {
        const enum ft_error error = ft_port_ready(port, ready);
        if (error || *ready) return error;
        if (port->platform->pause) port->platform->pause(port->platform->context);
    }
    return FT_OK;
}

/* As long as the wait for a chip that never gets ready. */
static void pass_time(const struct ft_port* port) {
    for (uint32_t poll = 0; poll < port->polls && port->platform->pause; ++poll)
        port->platform->pause(port->platform->context);
}

/* Several LUNs would answer READ STATUS all at once: READ STATUS ENHANCED asks one of them. */
static enum ft_error read_status(struct ft_port* port, uint8_t lun, uint8_t* status) {
    const bool enhanced = port->luns > 1;
    enum ft_error error = ft_port_command(
        port, enhanced ? FLASHTRAIN_DIE_READ_STATUS_ENHANCED : FLASHTRAIN_DIE_READ_STATUS);
    for (unsigned i = 0; enhanced && i < ROW_BYTES && !error; ++i)
        error = ft_port_address(port, (uint8_t)((uint32_t)lun << port->row_bits >> 8 * i));
    return error ? error : ft_port_read(port, status, 1);
}

/* A chip that stays busy fails, or its line if the status is ready; an error is one of the port. */
static enum ft_error wait_ready(struct ft_port* port, struct ft_chip* chip) {
    bool ready;
    uint8_t status;
    enum ft_error error = becomes_ready(port, &ready);
    if (error || ready) return error;
    error = read_status(port, 0, &status);
    if (error) return error;
    const bool states_ready = status & FLASHTRAIN_DIE_STATUS_RDY && status != FLOATING;
    chip->failure = states_ready ? FT_CHIP_READY_LINE_STUCK : FT_CHIP_BUSY;
    return FT_OK;
}

/* A command with one address. */
static enum ft_error send(struct ft_port* port, uint8_t command, uint8_t address) {
    const enum ft_error error = ft_port_command(port, command);
    return error ? error : ft_port_address(port, address);
}

static enum ft_error read_id(struct ft_port* port, uint8_t address, uint8_t* bytes, uint32_t count) {
    const enum ft_error error = send(port, FLASHTRAIN_DIE_READ_ID, address);
    return error ? error : ft_port_read(port, bytes, count);
}

/* Whether one data line alone spoils the signature, with one level. */
static bool line_is_dead(const uint8_t* signature) {
    uint8_t right[SIGNATURE_BYTES], lines = 0, high = 0, low = 0;
    ft_put32(right, FLASHTRAIN_PARAMETER_PAGE_SIGNATURE_VALUE);
    for (unsigned i = 0; i < SIGNATURE_BYTES; ++i) lines = (uint8_t)(lines | (signature[i] ^ right[i]));
    for (unsigned i = 0; i < SIGNATURE_BYTES; ++i) {
        high = (uint8_t)(high | (signature[i] & lines));
        low = (uint8_t)(low | (~signature[i] & lines));
    }
    return lines && !(lines & (lines - 1)) && !(high && low);
}

static uint8_t failure_of_identity(const uint8_t* identity, const uint8_t* signature) {
    bool same = true;
    for (unsigned i = 0; i < FLASHTRAIN_JEDEC_BYTES; ++i) same = same && identity[i] == identity[0];
    for (unsigned i = 0; i < SIGNATURE_BYTES; ++i) same = same && signature[i] == identity[0];
    if (same && (identity[0] == 0xff || identity[0] == 0x00)) return FT_CHIP_MISSING;
    if (line_is_dead(signature)) return FT_CHIP_LINE_DEAD;
    return signature_of(signature) == FLASHTRAIN_PARAMETER_PAGE_SIGNATURE_VALUE ? FT_CHIP_SOUND : FT_CHIP_WRONG;
}

static bool is_whole(const uint8_t* page) {
    uint32_t crc = FLASHTRAIN_PARAMETER_PAGE_CRC_START;
    for (unsigned i = 0; i < PAGE_BYTES - 2; ++i) {
        crc ^= (uint32_t)page[i] << 8;
        for (unsigned bit = 0; bit < 8; ++bit)
            crc = (crc << 1 ^ (crc & 0x8000 ? FLASHTRAIN_PARAMETER_PAGE_CRC_POLYNOMIAL : 0u)) & 0xffff;
    }
    return signature_of(page) == FLASHTRAIN_PARAMETER_PAGE_SIGNATURE_VALUE
           && crc == flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_CRC);
}

/* Reads copies up to a whole one, which `*page` then is, or the majority of three; NULL without either. */
static enum ft_error read_page(struct ft_port* port, uint8_t* copies, const uint8_t** page) {
    *page = NULL;
    for (unsigned copy = 0; copy < COPIES; ++copy) {
        uint8_t* own = copies + copy * PAGE_BYTES;
        const enum ft_error error = ft_port_read(port, own, PAGE_BYTES);
        if (error) return error;
        if (is_whole(own)) {
            *page = own;
            return FT_OK;
        }
    }
    const uint8_t *second = copies + PAGE_BYTES, *third = second + PAGE_BYTES;
    for (unsigned i = 0; i < PAGE_BYTES; ++i)
        copies[i] = (uint8_t)((copies[i] & second[i]) | (copies[i] & third[i]) | (second[i] & third[i]));
    if (is_whole(copies)) *page = copies;
    return FT_OK;
}

/* Printable characters without the spaces at the end. */
static void take_text(char* text, const uint8_t* page, unsigned low, unsigned width) {
    unsigned end = 0;
    for (unsigned i = 0; i < width / 8; ++i) {
        const uint8_t byte = page[low / 8 + i];
        text[i] = byte >= 0x20 && byte < 0x7f ? (char)byte : '?';
        if (text[i] != ' ') end = i + 1;
    }
    text[end] = 0;
}

static void take_page(struct ft_chip* chip, const uint8_t* page) {
    take_text(chip->maker, page, FLASHTRAIN_PARAMETER_PAGE_MAKER);
    take_text(chip->model, page, FLASHTRAIN_PARAMETER_PAGE_MODEL);
    chip->page_bytes = (uint32_t)flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_PAGE_BYTES);
    chip->spare_bytes = (uint16_t)flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_SPARE_BYTES);
    chip->pages = (uint32_t)flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_PAGES);
    chip->blocks = (uint32_t)flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_BLOCKS);
    chip->optional_commands = (uint16_t)flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_OPTIONAL_COMMANDS);
    chip->drive = (uint8_t)flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_DRIVE);
    chip->luns = (uint8_t)flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_LUNS);
    chip->planes = (uint16_t)(1u << flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_PLANE_ADDRESS_BITS));
    const uint64_t modes = flashtrain_get(page, FLASHTRAIN_PARAMETER_PAGE_SDR_MODES);
    chip->sdr_modes = (uint8_t)(modes & ((1u << FLASHTRAIN_SDR_MODES) - 1));
}

static bool is_as_configured(const struct ft_chip* chip, const struct ft_info* info, uint8_t luns) {
    return chip->page_bytes == info->page_bytes && chip->pages == info->pages && chip->planes == info->planes
           && chip->blocks / chip->planes == (uint32_t)info->zones + info->spare_blocks && chip->luns == luns
           && chip->sdr_modes;
}

/* The steps in timing mode 0. */
static enum ft_error identify(struct ft_port* port, const struct ft_info* info, bool ready_busy,
                              struct ft_chip* chip) {
    uint8_t identity[FLASHTRAIN_JEDEC_BYTES], signature[SIGNATURE_BYTES], copies[COPIES * PAGE_BYTES];
    bool ready, was_busy = true; /* a chip whose line is stuck answers behind its reset */
    enum ft_error error = becomes_ready(port, &ready);
    if (!error && ready_busy) error = ft_port_was_busy(port, &was_busy); /* before the reset */
    if (!error) error = ft_port_command(port, FLASHTRAIN_DIE_RESET);
    if (!error) error = wait_ready(port, chip);
    if (error || chip->failure) return error;
    if (ready_busy) error = ft_port_was_busy(port, &was_busy);
    if (error) return error;
    if (!was_busy) pass_time(port); /* the line has not waited for the chip */

    error = read_id(port, FLASHTRAIN_ID_ADDRESS_JEDEC, identity, sizeof identity);
    if (!error) error = read_id(port, FLASHTRAIN_ID_ADDRESS_ONFI, signature, sizeof signature);
    if (error) return error;
    chip->failure = failure_of_identity(identity, signature);
    if (!chip->failure && !was_busy) chip->failure = FT_CHIP_READY_LINE_STUCK;
    if (chip->failure) return FT_OK;

    error = send(port, FLASHTRAIN_DIE_READ_PARAMETER_PAGE, 0);
    if (!error) error = wait_ready(port, chip);
    if (error || chip->failure) return error;
    const uint8_t* page;
    error = read_page(port, copies, &page);
    if (error) return error;
    if (!page) {
        chip->failure = FT_CHIP_PAGE_DAMAGED;
        return FT_OK;
    }
    take_page(chip, page);
    if (!is_as_configured(chip, info, port->luns)) chip->failure = FT_CHIP_WRONG;
    return FT_OK;
}

static uint8_t fastest_mode(const struct ft_chip* chip, uint8_t fastest) {
    uint8_t mode = fastest;
    while (mode && !(chip->sdr_modes >> mode & 1)) --mode;
    return mode;
}

/* Sets a feature, gives the port `mode`, and reads the feature back. */
static enum ft_error set_kept(struct ft_port* port, struct ft_chip* chip, uint8_t feature, uint8_t value,
                              uint8_t mode) {
    const uint8_t wanted[FLASHTRAIN_FEATURE_PARAMETERS] = {value};
    uint8_t kept[FLASHTRAIN_FEATURE_PARAMETERS];
    enum ft_error error = send(port, FLASHTRAIN_DIE_SET_FEATURES, feature);
    if (!error) error = ft_port_write(port, wanted, sizeof wanted);
    if (!error) error = wait_ready(port, chip);
    if (!error && !chip->failure && mode) error = ft_port_mode(port, mode);
    if (error || chip->failure) return error;
    error = send(port, FLASHTRAIN_DIE_GET_FEATURES, feature);
    if (!error) error = wait_ready(port, chip);
    if (error || chip->failure) return error;
    error = ft_port_read(port, kept, sizeof kept);
    for (unsigned i = 0; i < sizeof kept && !error; ++i)
        if (kept[i] != wanted[i]) chip->failure = FT_CHIP_FEATURE_REFUSED;
    return error;
}

static enum ft_error set_drive(struct ft_port* port, struct ft_chip* chip, uint8_t ohms) {
    static const uint8_t strengths[] = FLASHTRAIN_DRIVE_OHMS, bits[] = FLASHTRAIN_DRIVE_BITS;
    for (uint8_t value = 0; value < sizeof strengths; ++value)
        if (strengths[value] == ohms && (chip->drive & bits[value]) == bits[value])
            return set_kept(port, chip, FLASHTRAIN_FEATURE_DRIVE_STRENGTH, value, 0);
    chip->failure = FT_CHIP_NOT_DECLARED;
    return FT_OK;
}

static enum ft_error calibrate_lun(struct ft_port* port, struct ft_chip* chip, uint8_t lun) {
    uint8_t status;
    enum ft_error error = send(port, FLASHTRAIN_DIE_ZQ_CALIBRATION_LONG, lun);
    if (!error) error = wait_ready(port, chip);
    if (error || chip->failure) return error;
    error = read_status(port, lun, &status);
    if (!error && status & FLASHTRAIN_DIE_STATUS_FAIL) chip->failure = FT_CHIP_NOT_CALIBRATED;
    return error;
}

static enum ft_error calibrate(struct ft_port* port, struct ft_chip* chip) {
    if (!(chip->optional_commands >> FLASHTRAIN_ZQ_CALIBRATION & 1)) {
        chip->failure = FT_CHIP_NOT_DECLARED;
        return FT_OK;
    }
    enum ft_error error = FT_OK;
    for (uint8_t lun = 0; lun < port->luns && !error && !chip->failure; ++lun)
        error = calibrate_lun(port, chip, lun);
    return error;
}

/* All steps of a chip before its timing mode. */
static enum ft_error start(struct ft_port* port, const struct ft_info* info,
                           const struct ft_chip_options* options, struct ft_chip* chip) {
    enum ft_error error = identify(port, info, options->ready_busy, chip);
    if (!error && !chip->failure && options->drive_ohms) error = set_drive(port, chip, options->drive_ohms);
    if (!error && !chip->failure && options->zq_calibration) error = calibrate(port, chip);
    return error;
}

/* The chip first, then the port; the identity must come as before. */
static enum ft_error set_mode(struct ft_port* port, struct ft_chip* chip, uint8_t mode) {
    uint8_t signature[SIGNATURE_BYTES];
    enum ft_error error = set_kept(port, chip, FLASHTRAIN_FEATURE_TIMING_MODE, mode, mode);
    if (error || chip->failure) return error;
    error = read_id(port, FLASHTRAIN_ID_ADDRESS_ONFI, signature, sizeof signature);
    if (!error && signature_of(signature) != FLASHTRAIN_PARAMETER_PAGE_SIGNATURE_VALUE)
        chip->failure = FT_CHIP_FEATURE_REFUSED;
    if (!error && !chip->failure) chip->mode = mode;
    return error;
}

/* Of numbers below `count`. */
static unsigned bits_of(uint32_t count) {
    unsigned bits = 0;
    while ((count - 1) >> bits) ++bits;
    return bits;
}

enum ft_error ft_bring_up(struct ft_port* port, const struct ft_chip_options* options, struct ft_chip* chips,
                          uint32_t count) {
    struct ft_info info;
    if (!port || !port->open || !options || !chips) return FT_ERR_ARGUMENT;
    if (options->fastest >= FLASHTRAIN_SDR_MODES) return FT_ERR_ARGUMENT;
    const uint8_t luns = options->luns ? options->luns : 1;
    if (port->dies % luns || count != port->channels * (port->dies / luns)) return FT_ERR_ARGUMENT;
    enum ft_error error = ft_probe(port->platform, &info);
    if (error) return error;
    const uint32_t enables = port->dies / luns;
    port->luns = luns;
    const uint32_t blocks = (uint32_t)info.zones + info.spare_blocks;
    port->row_bits = (uint8_t)(bits_of(info.pages) + bits_of(info.planes) + bits_of(blocks));
    uint8_t mode = options->fastest;
    bool sound = false;
    for (uint32_t i = 0; i < count; ++i) {
        chips[i] = (struct ft_chip){0};
        error = ft_port_select(port, (uint8_t)(i / enables), (uint8_t)(i % enables));
        if (!error) error = start(port, &info, options, &chips[i]);
        if (error) return error;
        if (chips[i].failure) continue;
        const uint8_t own = fastest_mode(&chips[i], options->fastest);
        mode = own < mode ? own : mode;
        sound = true;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (chips[i].failure) continue;
        error = ft_port_select(port, (uint8_t)(i / enables), (uint8_t)(i % enables));
        if (!error) error = set_mode(port, &chips[i], mode);
        const enum ft_error back = ft_port_mode(port, 0);
        if (error || back) return error ? error : back;
    }
    return options->sdr && sound ? ft_port_interface(port, mode, true) : FT_OK;
}
