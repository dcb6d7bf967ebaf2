/* Commands on the data of streams. */
#include "internal.h"

enum ft_error ft_check_data(const struct ft_device* device, uint64_t address, uint32_t blocks) {
    const uint64_t block = device->info.page_bytes, end = device->platform.memory_bytes;
    if (blocks < 1 || blocks > device->info.max_blocks || address % block || address < device->data ||
        address > end || blocks * block > end - address)
        return FT_ERR_ARGUMENT;
    return FT_OK;
}

enum ft_error ft_check_user(const struct ft_device* device, uint8_t port, uint8_t nsid) {
    if (!device || port >= FLASHTRAIN_PORTS) return FT_ERR_ARGUMENT;
    const struct ft_stream* stream = ft_stream_of(device, nsid);
    return stream && !stream->journal ? FT_OK : FT_ERR_ARGUMENT;
}

/* The command for blocks of data at an address. */
static enum ft_error data_command(const struct ft_device* device, struct ft_command* command, uint8_t opcode,
                                  uint8_t port, uint8_t nsid, uint64_t slba, uint64_t address,
                                  uint32_t blocks) {
    enum ft_error error = ft_check_user(device, port, nsid);
    if (error == FT_OK) error = ft_check_data(device, address, blocks);
    if (error != FT_OK) return error;
    *command = (struct ft_command){.opcode = opcode,
                                   .nsid = nsid,
                                   .slba = slba,
                                   .blocks = blocks,
                                   .address = address,
                                   .length = blocks * device->info.page_bytes};
    return FT_OK;
}

static enum ft_error submit_data(struct ft_device* device, struct ft_request* request, uint8_t opcode,
                                 uint8_t port, uint8_t nsid, uint64_t slba, uint64_t address,
                                 uint32_t blocks) {
    struct ft_command command;
    const enum ft_error error = data_command(device, &command, opcode, port, nsid, slba, address, blocks);
    if (error != FT_OK || !request) return FT_ERR_ARGUMENT;
    return ft_submit(device, request, port, &command);
}

static enum ft_error execute_data(struct ft_device* device, uint8_t opcode, uint8_t port, uint8_t nsid,
                                  uint64_t slba, uint64_t address, uint32_t blocks, uint64_t* lba) {
    struct ft_command command;
    enum ft_error error = data_command(device, &command, opcode, port, nsid, slba, address, blocks);
    if (error != FT_OK) return error;
    error = ft_execute(device, port, &command, lba);
    if (error == FT_ERR_STATUS && opcode != FLASHTRAIN_OPCODE_READ)
        ft_note_failure(device, port, nsid, (uint32_t)(slba / device->info.zone_size));
    return error;
}

static uint64_t start_of(const struct ft_device* device, uint32_t zone) {
    return (uint64_t)zone * device->info.zone_size;
}

enum ft_error ft_append(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone, uint64_t address,
                        uint32_t blocks, uint64_t* lba) {
    if (!device) return FT_ERR_ARGUMENT;
    return execute_data(device, FLASHTRAIN_OPCODE_ZONE_APPEND, port, nsid, start_of(device, zone), address,
                        blocks, lba);
}

enum ft_error ft_write(struct ft_device* device, uint8_t port, uint8_t nsid, uint64_t lba, uint64_t address,
                       uint32_t blocks) {
    return execute_data(device, FLASHTRAIN_OPCODE_WRITE, port, nsid, lba, address, blocks, NULL);
}

enum ft_error ft_read(struct ft_device* device, uint8_t port, uint8_t nsid, uint64_t lba, uint64_t address,
                      uint32_t blocks) {
    return execute_data(device, FLASHTRAIN_OPCODE_READ, port, nsid, lba, address, blocks, NULL);
}

enum ft_error ft_submit_append(struct ft_device* device, struct ft_request* request, uint8_t port,
                               uint8_t nsid, uint32_t zone, uint64_t address, uint32_t blocks) {
    if (!device) return FT_ERR_ARGUMENT;
    return submit_data(device, request, FLASHTRAIN_OPCODE_ZONE_APPEND, port, nsid, start_of(device, zone),
                       address, blocks);
}

enum ft_error ft_submit_write(struct ft_device* device, struct ft_request* request, uint8_t port,
                              uint8_t nsid, uint64_t lba, uint64_t address, uint32_t blocks) {
    return submit_data(device, request, FLASHTRAIN_OPCODE_WRITE, port, nsid, lba, address, blocks);
}

enum ft_error ft_submit_read(struct ft_device* device, struct ft_request* request, uint8_t port, uint8_t nsid,
                             uint64_t lba, uint64_t address, uint32_t blocks) {
    return submit_data(device, request, FLASHTRAIN_OPCODE_READ, port, nsid, lba, address, blocks);
}

enum ft_error ft_submit_flush(struct ft_device* device, struct ft_request* request, uint8_t port,
                              uint8_t nsid) {
    if (!request || ft_check_user(device, port, nsid) != FT_OK) return FT_ERR_ARGUMENT;
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_FLUSH, .nsid = nsid};
    return ft_submit(device, request, port, &command);
}

enum ft_error ft_flush(struct ft_device* device, uint8_t port, uint8_t nsid) {
    if (ft_check_user(device, port, nsid) != FT_OK) return FT_ERR_ARGUMENT;
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_FLUSH, .nsid = nsid};
    return ft_execute(device, port, &command, NULL);
}

enum ft_error ft_zone_manage(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone,
                             uint8_t action) {
    if (ft_check_user(device, port, nsid) != FT_OK) return FT_ERR_ARGUMENT;
    if (action != FLASHTRAIN_ZONE_ACTION_OPEN && action != FLASHTRAIN_ZONE_ACTION_CLOSE &&
        action != FLASHTRAIN_ZONE_ACTION_FINISH)
        return FT_ERR_ARGUMENT;
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_ZONE_MANAGEMENT_SEND,
                                       .nsid = nsid,
                                       .slba = start_of(device, zone),
                                       .action = action};
    return ft_execute(device, port, &command, NULL);
}

enum ft_error ft_zone_retire(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone,
                             uint8_t state) {
    if (ft_check_user(device, port, nsid) != FT_OK) return FT_ERR_ARGUMENT;
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_ZONE_RETIRE,
                                       .nsid = nsid,
                                       .slba = start_of(device, zone),
                                       .action = state};
    const enum ft_error error = ft_execute(device, port, &command, NULL);
    if (error != FT_OK) return error;
    struct ft_zone found;
    return ft_report(device, port, nsid, zone, &found, 1);
}
