/* Polling C driver of a flashtrain device: freestanding C11, no dynamic memory, no recursion, bounded waits.
 *
 * Use, in this order:
 *
 *     ft_probe                        geometry and limits of the device
 *     ft_requirements                 memory that the driver needs for them
 *     ft_init                         checks the configuration; the device is untouched
 *     ft_format or ft_recover         enables the controller, empty or with its content
 *     ft_append, ft_read, ...         one command at a time, or ft_submit_..., ft_poll and ft_wait
 *     ft_shutdown                     records an orderly end; zones take appends again after ft_recover
 *
 * One thread uses a device at a time. Sizes are in logical blocks (pages of the flash) unless said. `lba`
 * counts blocks from the start of a stream; zone z of a stream begins at lba z * info.zone_size. `address` is
 * a byte address in the tensor buffer, which the device and `ft_platform.memory` share.
 */
#ifndef FLASHTRAIN_DRIVER_H
#define FLASHTRAIN_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flashtrain.h"

/* Most entries of a queue; a queue of n entries has at most n - 1 commands in flight. */
#define FT_MOST_QUEUE_ENTRIES 64

enum ft_error {
    FT_OK = 0,
    FT_ERR_ARGUMENT,         /* a parameter is out of range; nothing was done */
    FT_ERR_MISMATCH,         /* ID or VERSION of the device are not those of flashtrain.h */
    FT_ERR_MEMORY,           /* the tensor buffer or the work memory is too small */
    FT_ERR_DISABLED,         /* the controller is disabled, or was before the command was answered */
    FT_ERR_ENABLED,          /* the controller is enabled, and the call needs a disabled one */
    FT_ERR_BUSY,             /* the submission queue is full: ft_poll, then submit again */
    FT_ERR_TIMEOUT,          /* no answer within the configured number of polls */
    FT_ERR_FATAL,            /* the controller reports a fatal fault: only a reset clears it */
    FT_ERR_PROTOCOL,         /* a completion names a command that is not in flight */
    FT_ERR_STATUS,           /* the device answered with a status other than success: ft_last_status */
    FT_ERR_NO_JOURNAL,       /* the node has no journal, or does not record this stream */
    FT_ERR_NOTE_TOO_LONG,    /* the notes of all streams exceed `note_bytes`, or the room of a record */
    FT_ERR_FOREIGN_CONTENT,  /* the flash was written with another table of streams */
    FT_ERR_JOURNAL_DAMAGED,  /* the newest record of the journal is corrupt */
    FT_ERR_JOURNAL_TOO_LONG, /* the newest record has more notes than the configured memory holds */
    FT_ERR_SPARES /* bad blocks have used up the spare blocks: no physical zone is left for an append */
};

/* A short description of an error, in English. */
const char* ft_error_text(enum ft_error error);

/* Access to the device and to time. Functions get `context` as their first argument.
 *
 * - read32, write32: a register at a byte offset of the controller's register map.
 * - barrier: orders accesses to `memory` and to registers, as the device sees them; NULL where the processor
 *   keeps that order.
 * - pause: called between two polls: a delay, a watchdog, another task; NULL for none.
 * - seconds: the time in seconds since any fixed start, for the age of data; NULL: data have no age.
 * - memory: the processor's address of the tensor buffer's byte 0; memory_bytes: its size. Caches between
 *   processor and device must be coherent.
 */
struct ft_platform {
    uint32_t (*read32)(void* context, uint32_t offset);
    void (*write32)(void* context, uint32_t offset, uint32_t value);
    void (*barrier)(void* context);
    void (*pause)(void* context);
    uint32_t (*seconds)(void* context);
    void* context;
    uint8_t* memory;
    uint64_t memory_bytes;
};

/* A stream of the node: the columns of FLASHTRAIN_NODE_... in flashtrain.h. */
struct ft_stream {
    uint8_t nsid;
    uint8_t persistency; /* FLASHTRAIN_PERSISTENCY_... */
    uint8_t retention;   /* FLASHTRAIN_RETENTION_... */
    uint8_t host, core;  /* FLASHTRAIN_ACCESS_... of each port */
    uint8_t codec;       /* FLASHTRAIN_CODEC_... */
    uint16_t share;      /* of the zones, relative to the other streams; 0: exactly two zones */
    bool refuses;        /* data past their class of retention are not read */
    bool journal;        /* the stream of the driver's journal */
};

/* The streams of a node: const struct ft_stream streams[] = {FLASHTRAIN_NODE_UPDATE(FT_STREAM)}; */
#define FT_STREAM(nsid, name, persistency, retention, host, core, share, codec, expired, journal) \
    {(nsid), (persistency), (retention), (host), (core), (codec), (share), (expired) != 0, (journal) != 0}

struct ft_config {
    const struct ft_stream* streams; /* in the order of their zones; must live as long as the device */
    unsigned stream_count;
    unsigned queue_entries; /* of each queue, 2 to FT_MOST_QUEUE_ENTRIES */
    uint32_t
        scratch_bytes;   /* of the tensor buffer for the driver; 0: the least. More makes recovery faster */
    uint32_t note_bytes; /* of the notes of all streams together */
    uint32_t command_polls; /* polls until a command counts as unanswered */
    uint32_t state_polls;   /* polls until an enable, a disable or the erases of a format count as stuck */
    bool corrects_errors;   /* the device has a code (`code_strength` of its configuration is not 0) */
    bool randomizes;        /* the device has a randomizer (`randomizer` of its configuration) */
    bool keeps_fp8;         /* its dies may keep moments in FP8 (`fp8_state` of its configuration) */
};

/* Properties of the device. */
struct ft_info {
    uint32_t version;
    uint16_t channels, dies, planes; /* of the device, of a channel, of a die */
    uint16_t zones;                  /* of the device */
    uint16_t spare_blocks, pages;    /* of a plane, of a block */
    uint32_t page_bytes;             /* of a logical block */
    uint16_t commands;               /* in flight at most */
    uint16_t max_blocks;             /* of one command */
    uint16_t max_open, max_active;   /* zones of a stream */
    uint32_t clock_mhz;
    uint32_t zone_capacity; /* blocks of a zone */
    uint32_t zone_size;     /* blocks from the start of one zone to the next */
    uint32_t superpage;     /* blocks of one page on every plane of the device */
};

/* Memory for the driver: `work_bytes` of the processor's, and the first `memory_bytes` of the tensor buffer.
 */
struct ft_requirements {
    size_t work_bytes;
    uint64_t memory_bytes;
};

/* A command in flight. The caller owns it and leaves it alone until `done` or until the device is disabled.
 */
struct ft_request {
    bool done;
    uint8_t port;
    enum ft_error error; /* FT_OK, FT_ERR_STATUS, FT_ERR_SPARES or FT_ERR_DISABLED */
    uint16_t status;     /* FLASHTRAIN_STATUS_... */
    uint64_t result;     /* append, update: the lba of the first block */
};

/* A zone, as the device reports it. */
struct ft_zone {
    uint8_t state;     /* FLASHTRAIN_ZONE_STATE_... */
    bool old;          /* the device recommends to save the data elsewhere */
    uint32_t start;    /* lba of its first block */
    uint32_t room;     /* blocks that can still be appended */
    uint32_t capacity; /* in blocks */
    uint32_t time;     /* of the oldest data, seconds; FLASHTRAIN_ZONE_DESCRIPTOR_NO_TIME without data */
    uint32_t written;  /* blocks below the write pointer */
    uint32_t sequence; /* of the data's allocation; FLASHTRAIN_ZONE_DESCRIPTOR_NO_SEQUENCE without data */
    bool unsure;       /* blocks behind the write pointer may have been written and lost */
};

/* An optimizer step on the dies. A rounding key of its own for each step makes the same random bits again when
 * the step is repeated.
 */
struct ft_step {
    uint8_t code;                         /* FLASHTRAIN_OPTIMIZER_... */
    uint8_t gradient_format, copy_format; /* FLASHTRAIN_GRADIENT_FORMAT_..., FLASHTRAIN_COPY_FORMAT_... */
    uint8_t weight_format, moment_format; /* FLASHTRAIN_STATE_FORMAT_... of w, and of m and v */
    uint8_t rounding;                     /* FLASHTRAIN_ROUNDING_... */
    uint64_t rounding_key;                /* of stochastic rounding: 48 bits */
    uint16_t page;                        /* of the zone, where the new generation begins */
    uint32_t constants[8];                /* binary32, by FLASHTRAIN_..._CONSTANT_... */
};

/* The layout of a tile, the state on one page of every plane of a die. */
struct ft_tile {
    uint32_t parameters;
    uint16_t gradient_pages, copy_pages;
};

/* The gradients of all tiles on one die since its constants were set; floats as binary32. */
struct ft_statistics {
    uint32_t nans, infinities, largest, tiles;
    uint32_t squares[8];
};

/* A stream's entry in the journal. */
struct ft_entry {
    uint16_t generation;
    uint16_t page; /* of its first zone, where the committed generation begins */
    bool pinned;
    uint32_t commit;  /* number of the record that committed the generation; 0: not committed */
    uint32_t updates; /* that led to the committed generation */
    uint32_t note_bytes;
};

/* A commit of updated tiles. */
struct ft_commit {
    uint32_t updates;    /* recorded: the number of updates that led to the tiles */
    const uint8_t* note; /* recorded: any bytes; NULL for none */
    uint32_t note_bytes;
    uint16_t page;   /* recorded: of the first zone, where the tiles begin */
    bool pin;        /* pin the new generation */
    uint8_t release; /* NSID of a pinned stream to release and reset; 0 for none */
    bool keep;       /* reset neither the source nor the released one: tiles follow behind what they have */
};

/* The result of a recovery. */
struct ft_recovery {
    bool clean;                              /* after ft_shutdown */
    uint32_t records;                        /* of the journal that were read */
    uint32_t erased;                         /* physical zones that were not kept */
    uint32_t retired;                        /* zones out of service */
    uint32_t spares;                         /* spare blocks with pages of kept zones */
    uint32_t bad;                            /* blocks with a factory mark: ft_bad_blocks */
    uint32_t unusable;                       /* physical zones with such a block, and no spare for it */
    bool refreshing;                         /* a refresh could not end: the next recovery tries again */
    uint64_t blocks[FLASHTRAIN_MAX_STREAMS]; /* by NSID - 1, recovered blocks of non-volatile streams */
};

#define FT_NO_BLOCK 0xffffu

/* A block with a factory mark, which is never erased. */
struct ft_bad_block {
    uint8_t channel, die, plane;
    uint16_t block;
    uint16_t replacement; /* the spare in its place; FT_NO_BLOCK for a marked spare, and if none is left */
};

/* The driver's state. Its members are private. */
struct ft_queue {
    uint64_t sq_address, cq_address;
    uint16_t tail, sq_head, cq_head, rung;
    uint8_t phase;
    struct ft_request* slots[FT_MOST_QUEUE_ENTRIES];
};

struct ft_moment {
    uint32_t sequence, time;
};

struct ft_journal {
    struct ft_entry entries[FLASHTRAIN_MAX_STREAMS], entries_before[FLASHTRAIN_MAX_STREAMS];
    struct ft_moment moments[FLASHTRAIN_RECORD_MOMENTS];
    uint32_t number, offset, moment_count;
    uint8_t nsid, zone;
    uint16_t copy_zone, copy_spare; /* of a refresh, device-wide */
    bool full, broken, with_floors, clean, replaced, copied, copy_whole;
};

struct ft_device {
    struct ft_platform platform;
    struct ft_config config;
    struct ft_info info;
    struct ft_queue queues[FLASHTRAIN_PORTS];
    struct ft_request orphan;
    struct ft_journal journal;
    struct ft_owner* owners;
    struct ft_spare* spares;
    uint32_t *floors, *wear, *pointers;
    uint16_t* newest;
    uint8_t *retired, *uses, *marked, *columns, *notes, *notes_before;
    uint64_t scratch, data;
    uint32_t scratch_blocks, owner_count, spares_used;
    uint16_t first_zone[FLASHTRAIN_MAX_STREAMS], zone_count[FLASHTRAIN_MAX_STREAMS];
    bool pinned[FLASHTRAIN_MAX_STREAMS];
    uint16_t last_status;
    bool enabled;
};

/* ---- Set-up ---- */

/* Read the device's properties. FT_ERR_MISMATCH for another device or version. */
enum ft_error ft_probe(const struct ft_platform* platform, struct ft_info* info);

/* The memory that the driver needs. FT_ERR_ARGUMENT for an impossible configuration. */
enum ft_error ft_requirements(const struct ft_info* info, const struct ft_config* config,
                              struct ft_requirements* needed);

/* Begin to use a device. `work`, aligned as any object, belongs to the driver from here on.
 *
 * FT_ERR_MISMATCH, FT_ERR_ARGUMENT and FT_ERR_MEMORY as above. The device is only read.
 */
enum ft_error ft_init(struct ft_device* device, const struct ft_platform* platform,
                      const struct ft_config* config, void* work, size_t work_bytes);

/* Enable the controller with all streams empty.
 *
 * factory: assume that all blocks are erased and good, as simulated arrays are. Otherwise the controller
 * erases them, and in a node with a journal the call waits for that. On a device with spare blocks the driver
 * first finds the factory marks; marked blocks are never erased. After an error the controller is disabled.
 */
enum ft_error ft_format(struct ft_device* device, bool factory);

/* Enable the controller with the content that non-volatile streams had when the power failed.
 *
 * A refresh of old data by the Python driver, which a loss of power has interrupted, ends here, too.
 *
 * FT_ERR_ENABLED for an enabled controller; FT_ERR_FOREIGN_CONTENT, FT_ERR_JOURNAL_DAMAGED,
 * FT_ERR_JOURNAL_TOO_LONG: the controller is disabled again, and the flash unchanged. After another error,
 * repeat the call once the controller is disabled. `report` may be NULL.
 */
enum ft_error ft_recover(struct ft_device* device, struct ft_recovery* report);

/* The number of blocks with a factory mark that the last ft_format or ft_recover has found.
 *
 * `blocks` gets the first `room` of them, by block. A physical zone with a marked block and no spare for it
 * takes no appends.
 */
uint32_t ft_bad_blocks(const struct ft_device* device, struct ft_bad_block* blocks, uint32_t room);

/* Wait for all commands, record an orderly end, and disable the controller. */
enum ft_error ft_shutdown(struct ft_device* device);

/* Disable the controller at once; requests in flight are done with FT_ERR_DISABLED. */
enum ft_error ft_disable(struct ft_device* device);

/* ---- The tensor buffer ---- */

/* Address of the first byte that the driver does not use itself, a multiple of the block. */
uint64_t ft_data_address(const struct ft_device* device);

/* The processor's pointer to an address of the tensor buffer. */
uint8_t* ft_pointer(const struct ft_device* device, uint64_t address);

/* ---- Commands, one at a time ----
 *
 * All return FT_ERR_STATUS when the device refuses the command, FT_ERR_SPARES for an append or an update
 * without a physical zone for its empty zone, and FT_ERR_TIMEOUT or FT_ERR_FATAL when it does not answer.
 * After FT_ERR_TIMEOUT the device may still access the data until ft_disable.
 */

/* The status of the last command that returned FT_ERR_STATUS or FT_ERR_SPARES, FLASHTRAIN_STATUS_... */
uint16_t ft_last_status(const struct ft_device* device);

/* Append blocks to a zone of a stream; *lba is where they lie. In a non-volatile stream they are durable. */
enum ft_error ft_append(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone, uint64_t address,
                        uint32_t blocks, uint64_t* lba);

/* Write blocks at the write pointer `lba` of a zone. */
enum ft_error ft_write(struct ft_device* device, uint8_t port, uint8_t nsid, uint64_t lba, uint64_t address,
                       uint32_t blocks);

/* Read blocks of one zone. */
enum ft_error ft_read(struct ft_device* device, uint8_t port, uint8_t nsid, uint64_t lba, uint64_t address,
                      uint32_t blocks);

/* Wait until all appended data of a stream are programmed. */
enum ft_error ft_flush(struct ft_device* device, uint8_t port, uint8_t nsid);

/* Empty a stream in O(1); the reset survives a loss of power if the journal records the stream. */
enum ft_error ft_stream_reset(struct ft_device* device, uint8_t port, uint8_t nsid);

/* Empty one zone, likewise. Waits for all commands in flight. */
enum ft_error ft_zone_reset(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone);

/* Open, close or finish a zone: `action` is FLASHTRAIN_ZONE_ACTION_OPEN, _CLOSE or _FINISH. */
enum ft_error ft_zone_manage(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone,
                             uint8_t action);

/* Take a zone out of service: `state` is FLASHTRAIN_ZONE_STATE_READ_ONLY or _OFFLINE. */
enum ft_error ft_zone_retire(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone,
                             uint8_t state);

/* Report `count` zones of a stream from `first` on. Zones found out of service are recorded in the journal.
 */
enum ft_error ft_report(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t first,
                        struct ft_zone* zones, uint32_t count);

/* The number of zones of a stream; 0 for an unknown one. */
uint32_t ft_zones(const struct ft_device* device, uint8_t nsid);

/* ---- Commands, several in flight ----
 *
 * FT_ERR_BUSY when the port's queue is full. Commands of one port to one stream take effect in the order of
 * submission. After FLASHTRAIN_STATUS_WRITE_FAULT call ft_report, which records the zone's new state.
 */

enum ft_error ft_submit_append(struct ft_device* device, struct ft_request* request, uint8_t port,
                               uint8_t nsid, uint32_t zone, uint64_t address, uint32_t blocks);
enum ft_error ft_submit_write(struct ft_device* device, struct ft_request* request, uint8_t port,
                              uint8_t nsid, uint64_t lba, uint64_t address, uint32_t blocks);
enum ft_error ft_submit_read(struct ft_device* device, struct ft_request* request, uint8_t port, uint8_t nsid,
                             uint64_t lba, uint64_t address, uint32_t blocks);
enum ft_error ft_submit_flush(struct ft_device* device, struct ft_request* request, uint8_t port,
                              uint8_t nsid);

/* Collect posted completions without a wait. */
enum ft_error ft_poll(struct ft_device* device);

/* Wait until a request is done; its error. */
enum ft_error ft_wait(struct ft_device* device, const struct ft_request* request);

/* Wait until no command is in flight. Errors of requests stay in the requests. */
enum ft_error ft_drain(struct ft_device* device);

/* ---- Chips, by the command port ----
 *
 * For devices with `command_port` in their configuration: no register shows it. Before ft_init, or on a device
 * that is idle. In this order: ft_port_open, ft_port_select, cycles, ft_port_close.
 */

/* A user of the command ports. Its members are private. */
struct ft_port {
    const struct ft_platform* platform;
    uint32_t channels, dies, polls;
    uint8_t channel, die, luns, row_bits; /* of a LUN's row address, without its number */
    bool enabled_here, open;
};

/* Pause all engines, and choose timing mode 0. `polls`: of each wait of a call.
 *
 * A disabled controller is enabled, so that it erases nothing, and the chips get no cycle but the caller's.
 * FT_ERR_MISMATCH for another device or version.
 */
enum ft_error ft_port_open(struct ft_port* port, const struct ft_platform* platform, uint32_t polls);

/* End the pauses; a controller that was disabled is so again. FT_ERR_TIMEOUT: it is not. */
enum ft_error ft_port_close(struct ft_port* port);

/* Choose a chip. FT_ERR_TIMEOUT: the engine of the channel does not pause, or there is no command port. */
enum ft_error ft_port_select(struct ft_port* port, uint8_t channel, uint8_t die);

/* The SDR timing mode of all cycles from now on, 0 to 5. */
enum ft_error ft_port_mode(struct ft_port* port, uint8_t mode);

/* One cycle, or several of data. FT_ERR_TIMEOUT: the port does not answer. */
enum ft_error ft_port_command(struct ft_port* port, uint8_t command);
enum ft_error ft_port_address(struct ft_port* port, uint8_t address);
enum ft_error ft_port_write(struct ft_port* port, const uint8_t* bytes, uint32_t count);
enum ft_error ft_port_read(struct ft_port* port, uint8_t* bytes, uint32_t count);

/* R/B# of the chip. */
enum ft_error ft_port_ready(struct ft_port* port, bool* ready);

/* Whether R/B# of the chip has been low since the last such call; for a device with `chips.ready_busy`. */
enum ft_error ft_port_was_busy(struct ft_port* port, bool* was_busy);

/* Wait until R/B# is high: FT_ERR_TIMEOUT after as many polls. */
enum ft_error ft_port_wait(struct ft_port* port, uint32_t polls);

/* The data interface of the engines once the port is closed, and the timing mode that they set; for a device with
 * `chips.sdr` in its configuration. Without `sdr` it is NV-DDR3.
 */
enum ft_error ft_port_interface(struct ft_port* port, uint8_t mode, bool sdr);

/* Why a chip has not been brought up. */
enum ft_chip_failure {
    FT_CHIP_SOUND = 0,
    FT_CHIP_BUSY,            /* R/B# stays low */
    FT_CHIP_MISSING,         /* READ ID gives one level alone */
    FT_CHIP_LINE_DEAD,       /* a data line alone spoils the signature */
    FT_CHIP_WRONG,           /* no ONFI, or another geometry than the device has */
    FT_CHIP_PAGE_DAMAGED,    /* neither a copy of the parameter page nor the majority has a right CRC */
    FT_CHIP_FEATURE_REFUSED, /* a feature does not read back, or the chip does not answer in its timing mode */
    FT_CHIP_NOT_DECLARED,    /* the options ask for what the parameter page does not declare */
    FT_CHIP_NOT_CALIBRATED,  /* ZQ calibration has failed */
    FT_CHIP_READY_LINE_STUCK /* R/B# stays low while the status is ready, or high during a reset */
};

/* What the configuration of the device says of its chips, in [chips]; no register shows it. */
struct ft_chip_options {
    uint8_t fastest;    /* no faster SDR timing mode is set */
    uint8_t drive_ohms; /* 0: the drive strength stays */
    bool zq_calibration;
    bool sdr;        /* the engines may have SDR */
    bool ready_busy; /* R/B# is wired */
    uint8_t luns;    /* behind a chip enable; 0 is 1 */
};

/* The facts of a chip, as its parameter page states them; zeros before that. */
struct ft_chip {
    uint8_t failure;   /* enum ft_chip_failure */
    uint8_t mode;      /* the SDR timing mode that was set */
    uint8_t sdr_modes; /* a bit for each */
    uint8_t luns, drive; /* the byte of drive strengths */
    uint16_t planes, spare_bytes, optional_commands;
    uint32_t page_bytes, pages, blocks; /* of a page, a block, a LUN */
    char maker[13], model[21];
};

/* Bring all chips up by an open port, in the steps of flashtrain.host.bringup and with the same cycles: reset,
 * identity, parameter page, comparison, drive strength and ZQ calibration by the options, and the fastest SDR mode
 * that all sound chips have, which the engines have afterwards. Nothing is programmed and nothing erased.
 *
 * `chips`: one for each of the `count` chip enables of the device, those of channel 0 first. A chip with a failure is no
 * error of the call. Each wait for a chip ends after the polls of ft_port_open: the first reset may take 10 ms. The
 * spare bytes, which no register has, are for the caller to compare. Needs 1 kB of stack.
 */
enum ft_error ft_bring_up(struct ft_port* port, const struct ft_chip_options* options, struct ft_chip* chips,
                          uint32_t count);

/* ---- Optimizer steps on the dies ---- */

/* The layout of a tile of this step. FT_ERR_ARGUMENT for an unknown code or format; for copies in FP16 of
 * weights in BF16 or SPLIT; and if the gradients of a tile take more pages than a die has planes.
 */
enum ft_error ft_tile_of(const struct ft_device* device, const struct ft_step* step, struct ft_tile* tile);

/* Send the step to all dies, and reset their statistics. `address`: room for a block per die. */
enum ft_error ft_set_constants(struct ft_device* device, uint8_t port, uint8_t nsid,
                               const struct ft_step* step, uint64_t address);

/* Update `rows` rows of tiles: read them from the zone of `source` with the same number, and append the new
 * ones to the zone of `destination`. The first tile is read from page `page`, on the die of the write pointer.
 * A row is a tile on each channel. At `address` lie the gradients, channels * gradient_pages blocks per row;
 * the first copy_pages * channels blocks of each row become the copies.
 */
enum ft_error ft_update(struct ft_device* device, uint8_t port, uint8_t destination, uint8_t source,
                        uint32_t zone, uint32_t page, const struct ft_tile* tile, uint32_t rows,
                        uint64_t address, uint64_t* lba);
enum ft_error ft_submit_update(struct ft_device* device, struct ft_request* request, uint8_t port,
                               uint8_t destination, uint8_t source, uint32_t zone, uint32_t page,
                               const struct ft_tile* tile, uint32_t rows, uint64_t address);

/* The statistics of `dies` dies: number i is of die i / channels of channel i mod channels.
 *
 * `address`: room for a block per die of the device, whatever `dies` is.
 */
enum ft_error ft_get_statistics(struct ft_device* device, uint8_t port, uint8_t nsid, uint64_t address,
                                struct ft_statistics* statistics, uint32_t dies);

/* Make the updated tiles the stream's generation, and drop that of `source` unless it is pinned.
 *
 * `source` is reset, unless the commit says `keep`. One record of the journal has all of it: after a loss of
 * power all of it has happened, or nothing. To skip an update instead, reset the destination, or let the next
 * update append behind it.
 */
enum ft_error ft_commit(struct ft_device* device, uint8_t port, uint8_t destination, uint8_t source,
                        const struct ft_commit* commit);

/* Record appended tiles as committed, without an update: so state begins. */
enum ft_error ft_declare_committed(struct ft_device* device, uint8_t nsid, const struct ft_commit* commit);

/* Pin a stream, or release it: while pinned, commands that change its content are refused. */
enum ft_error ft_pin(struct ft_device* device, uint8_t port, uint8_t nsid, bool pinned);

/* Record a note of a stream, in place of the one before. */
enum ft_error ft_annotate(struct ft_device* device, uint8_t nsid, const uint8_t* note, uint32_t note_bytes);

/* The journal's entry of a stream. `note`, unless NULL, gets at most `room` bytes of the note. */
enum ft_error ft_entry_of(const struct ft_device* device, uint8_t nsid, struct ft_entry* entry, uint8_t* note,
                          uint32_t room);

/* ---- Counters ---- */

/* A counter of the front end, FLASHTRAIN_COUNTER_... */
uint64_t ft_counter(struct ft_device* device, uint32_t counter);

/* A counter of a channel, FLASHTRAIN_CHANNEL_COUNTER_... */
uint64_t ft_channel_counter(struct ft_device* device, uint32_t channel, uint32_t counter);

/* The erases of a physical zone. */
uint32_t ft_zone_wear(struct ft_device* device, uint32_t physical);

#endif
