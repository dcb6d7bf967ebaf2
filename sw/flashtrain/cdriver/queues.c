/* The queues in the tensor buffer: commands to entries, completions to requests. */
#include "internal.h"

static void reset_queue(struct ft_device* device, struct ft_queue* queue) {
    queue->tail = queue->sq_head = queue->cq_head = queue->rung = 0;
    queue->phase = 1;
    ft_zero(ft_pointer(device, queue->cq_address),
            device->config.queue_entries * FLASHTRAIN_COMPLETION_BYTES);
}

void ft_reset_queues(struct ft_device* device) {
    for (unsigned port = 0; port < FLASHTRAIN_PORTS; ++port) {
        for (unsigned slot = 0; slot < FT_MOST_QUEUE_ENTRIES; ++slot) device->queues[port].slots[slot] = NULL;
    }
}

void ft_configure_queues(struct ft_device* device) {
    const uint32_t size = device->config.queue_entries - 1;
    for (unsigned port = 0; port < FLASHTRAIN_PORTS; ++port) {
        struct ft_queue* queue = &device->queues[port];
        const uint32_t low[] = {FLASHTRAIN_PORT_REGISTER_SQ_BASE_LOW, FLASHTRAIN_PORT_REGISTER_CQ_BASE_LOW};
        const uint32_t high[] = {FLASHTRAIN_PORT_REGISTER_SQ_BASE_HIGH,
                                 FLASHTRAIN_PORT_REGISTER_CQ_BASE_HIGH};
        const uint32_t sizes[] = {FLASHTRAIN_PORT_REGISTER_SQ_SIZE, FLASHTRAIN_PORT_REGISTER_CQ_SIZE};
        const uint64_t addresses[] = {queue->sq_address, queue->cq_address};
        reset_queue(device, queue);
        for (unsigned i = 0; i < 2; ++i) {
            ft_write_register(device, FLASHTRAIN_PORT_ADDRESS(port, low[i]), (uint32_t)addresses[i]);
            ft_write_register(device, FLASHTRAIN_PORT_ADDRESS(port, high[i]), (uint32_t)(addresses[i] >> 32));
            ft_write_register(device, FLASHTRAIN_PORT_ADDRESS(port, sizes[i]), size);
        }
    }
}

void ft_abandon(struct ft_device* device) {
    device->enabled = false;
    for (unsigned port = 0; port < FLASHTRAIN_PORTS; ++port) {
        for (unsigned slot = 0; slot < FT_MOST_QUEUE_ENTRIES; ++slot) {
            struct ft_request* request = device->queues[port].slots[slot];
            if (request) {
                request->error = FT_ERR_DISABLED;
                request->done = true;
            }
            device->queues[port].slots[slot] = NULL;
        }
    }
}

/* A field that is 0 keeps the bits of other fields in its place. */
static void put(uint8_t* entry, unsigned low, unsigned width, uint64_t value) {
    if (value) flashtrain_put(entry, low, width, value);
}

static void encode(uint8_t* entry, const struct ft_command* command, uint16_t cid) {
    ft_zero(entry, FLASHTRAIN_SUBMISSION_BYTES);
    put(entry, FLASHTRAIN_SUBMISSION_OPCODE, command->opcode);
    put(entry, FLASHTRAIN_SUBMISSION_CID, cid);
    put(entry, FLASHTRAIN_SUBMISSION_NSID, command->nsid);
    put(entry, FLASHTRAIN_SUBMISSION_SLBA, command->slba);
    put(entry, FLASHTRAIN_SUBMISSION_ACTION, command->action);
    put(entry, FLASHTRAIN_SUBMISSION_PAGES, command->pages);
    put(entry, FLASHTRAIN_SUBMISSION_COPIES, command->copies);
    put(entry, FLASHTRAIN_SUBMISSION_ROWS, command->rows);
    put(entry, FLASHTRAIN_SUBMISSION_SOURCE, command->source);
    put(entry, FLASHTRAIN_SUBMISSION_SOURCE_PAGE, command->source_page);
    put(entry, FLASHTRAIN_SUBMISSION_PHYSICAL, command->physical);
    put(entry, FLASHTRAIN_SUBMISSION_WEAR, command->wear);
    put(entry, FLASHTRAIN_SUBMISSION_RESTORED_STATE, command->restored_state);
    put(entry, FLASHTRAIN_SUBMISSION_UNSURE, command->unsure);
    put(entry, FLASHTRAIN_SUBMISSION_SEQUENCE, command->sequence);
    put(entry, FLASHTRAIN_SUBMISSION_GENERATION, command->generation);
    put(entry, FLASHTRAIN_SUBMISSION_TIME, command->time);
    put(entry, FLASHTRAIN_SUBMISSION_CHANNEL, command->channel);
    put(entry, FLASHTRAIN_SUBMISSION_DIE, command->die);
    put(entry, FLASHTRAIN_SUBMISSION_PLANE, command->plane);
    put(entry, FLASHTRAIN_SUBMISSION_SPARE, command->spare);
    if (command->length) {
        put(entry, FLASHTRAIN_SUBMISSION_PSDT, FLASHTRAIN_SUBMISSION_PSDT_SGL);
        put(entry, FLASHTRAIN_SUBMISSION_ADDRESS, command->address);
        put(entry, FLASHTRAIN_SUBMISSION_LENGTH, command->length);
    }
    if (command->opcode == FLASHTRAIN_OPCODE_ZONE_MANAGEMENT_RECEIVE)
        put(entry, FLASHTRAIN_SUBMISSION_DWORDS, command->length / 4 - 1);
    else if (command->blocks)
        put(entry, FLASHTRAIN_SUBMISSION_NLB, command->blocks - 1);
}

/* Returns a slot without a request; the queue's length without one. */
static unsigned free_slot(const struct ft_device* device, const struct ft_queue* queue) {
    unsigned slot = 0;
    while (slot < device->config.queue_entries && queue->slots[slot]) ++slot;
    return slot;
}

enum ft_error ft_submit(struct ft_device* device, struct ft_request* request, uint8_t port,
                        const struct ft_command* command) {
    if (!device->enabled) return FT_ERR_DISABLED;
    struct ft_queue* queue = &device->queues[port];
    const unsigned entries = device->config.queue_entries, slot = free_slot(device, queue);
    const uint16_t next = (uint16_t)((queue->tail + 1u) % entries);
    if (next == queue->sq_head || slot == entries) return FT_ERR_BUSY;

    *request = (struct ft_request){.port = port};
    queue->slots[slot] = request;
    encode(ft_pointer(device, queue->sq_address + queue->tail * (uint64_t)FLASHTRAIN_SUBMISSION_BYTES),
           command, (uint16_t)slot);
    queue->tail = next;
    ft_barrier(device);
    ft_write_register(device, FLASHTRAIN_SQ_TAIL_DOORBELL((uint32_t)port), queue->tail);
    return FT_OK;
}

static enum ft_error error_of(uint16_t status) {
    switch (status) {
        case FLASHTRAIN_STATUS_SUCCESS: return FT_OK;
        case FLASHTRAIN_STATUS_INTERNAL_ERROR: return FT_ERR_SPARES;
        default: return FT_ERR_STATUS;
    }
}

static void finish(struct ft_device* device, struct ft_request* request, const uint8_t* completion) {
    request->status = (uint16_t)flashtrain_get(completion, FLASHTRAIN_COMPLETION_STATUS);
    request->result = flashtrain_get(completion, FLASHTRAIN_COMPLETION_RESULT);
    request->error = error_of(request->status);
    if (request->error != FT_OK && request != &device->orphan) device->last_status = request->status;
    request->done = true;
}

/* Reads the byte with the phase anew each time, whatever the compiler knows of memory. */
static bool is_posted(const uint8_t* entry, uint8_t phase, unsigned low, unsigned width) {
    const volatile uint8_t* byte = entry + low / 8;
    return (*byte >> low % 8 & ((1u << width) - 1)) == phase;
}

static enum ft_error poll_queue(struct ft_device* device, unsigned port) {
    struct ft_queue* queue = &device->queues[port];
    const uint16_t first = queue->cq_head;
    enum ft_error error = FT_OK;
    for (unsigned taken = 0; taken < device->config.queue_entries && error == FT_OK; ++taken) {
        const uint8_t* entry =
            ft_pointer(device, queue->cq_address + queue->cq_head * (uint64_t)FLASHTRAIN_COMPLETION_BYTES);
        if (!is_posted(entry, queue->phase, FLASHTRAIN_COMPLETION_PHASE)) break;
        ft_barrier(device); /* the rest of the entry, and the data, are read after the phase */
        const unsigned slot = (unsigned)flashtrain_get(entry, FLASHTRAIN_COMPLETION_CID);
        queue->sq_head = (uint16_t)flashtrain_get(entry, FLASHTRAIN_COMPLETION_SQ_HEAD);
        if (slot < device->config.queue_entries && queue->slots[slot]) {
            finish(device, queue->slots[slot], entry);
            queue->slots[slot] = NULL;
        } else {
            error = FT_ERR_PROTOCOL;
        }
        if (++queue->cq_head == device->config.queue_entries) {
            queue->cq_head = 0;
            queue->phase ^= 1;
        }
    }
    if (queue->cq_head != first) {
        ft_barrier(device);
        ft_write_register(device, FLASHTRAIN_CQ_HEAD_DOORBELL(port), queue->cq_head);
    }
    return error;
}

enum ft_error ft_poll(struct ft_device* device) {
    if (!device) return FT_ERR_ARGUMENT;
    if (!device->enabled) return FT_ERR_DISABLED;
    for (unsigned port = 0; port < FLASHTRAIN_PORTS; ++port) {
        const enum ft_error error = poll_queue(device, port);
        if (error != FT_OK) return error;
    }
    return FT_OK;
}

/* Why the device does not answer. */
static enum ft_error silence(const struct ft_device* device) {
    const uint32_t state = ft_read_register(device, FLASHTRAIN_REGISTER_STATE);
    return state & FLASHTRAIN_STATE_FATAL ? FT_ERR_FATAL : FT_ERR_TIMEOUT;
}

enum ft_error ft_wait(struct ft_device* device, const struct ft_request* request) {
    if (!device || !request) return FT_ERR_ARGUMENT;
    for (uint32_t poll = 0; poll < device->config.command_polls; ++poll) {
        if (request->done) return request->error;
        const enum ft_error error = ft_poll(device);
        if (error != FT_OK) return error;
        if (!request->done) ft_pause(device);
    }
    return request->done ? request->error : silence(device);
}

static bool in_flight(const struct ft_device* device) {
    for (unsigned port = 0; port < FLASHTRAIN_PORTS; ++port)
        for (unsigned slot = 0; slot < device->config.queue_entries; ++slot)
            if (device->queues[port].slots[slot]) return true;
    return false;
}

enum ft_error ft_drain(struct ft_device* device) {
    if (!device) return FT_ERR_ARGUMENT;
    for (uint32_t poll = 0; poll < device->config.command_polls; ++poll) {
        const enum ft_error error = ft_poll(device);
        if (error != FT_OK || !in_flight(device)) return error;
        ft_pause(device);
    }
    return silence(device);
}

/* Hand the slot of a request that is not awaited any longer to one that outlives the call. */
static void orphan(struct ft_device* device, const struct ft_request* request) {
    for (unsigned slot = 0; slot < FT_MOST_QUEUE_ENTRIES; ++slot)
        if (device->queues[request->port].slots[slot] == request)
            device->queues[request->port].slots[slot] = &device->orphan;
}

enum ft_error ft_execute(struct ft_device* device, uint8_t port, const struct ft_command* command,
                         uint64_t* result) {
    struct ft_request request;
    enum ft_error error = ft_submit(device, &request, port, command);
    for (uint32_t poll = 0; error == FT_ERR_BUSY && poll < device->config.command_polls; ++poll) {
        ft_pause(device);
        error = ft_poll(device);
        if (error == FT_OK) error = ft_submit(device, &request, port, command);
    }
    if (error != FT_OK) return error == FT_ERR_BUSY ? silence(device) : error;
    error = ft_wait(device, &request);
    if (!request.done) orphan(device, &request);
    if (error == FT_OK && result) *result = request.result;
    return error;
}

uint16_t ft_last_status(const struct ft_device* device) { return device->last_status; }
