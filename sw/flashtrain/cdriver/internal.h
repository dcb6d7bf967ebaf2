/* Functions and types that the files of the driver share. */
#ifndef FLASHTRAIN_DRIVER_INTERNAL_H
#define FLASHTRAIN_DRIVER_INTERNAL_H

#include "flashtrain_driver.h"

/* The logical zone of a physical zone, by the identities of its pages; zones count device-wide. */
struct ft_owner {
    uint32_t sequence, wear, pointer;
    uint16_t physical, zone, generation;
    uint8_t nsid;
    uint8_t state; /* of a kept zone, FLASHTRAIN_ZONE_STATE_... */
    bool valid;    /* there is an identity */
    bool updates;  /* pages that updates wrote belong to it */
    bool kept;
    bool unsure; /* blocks behind the pointer may have been written and lost */
    bool whole; /* every block of it has a page; known only on a device with spare blocks */
};

#define FT_NO_OWNER 0xffffu

/* A spare block. */
struct ft_spare {
    struct ft_owner page; /* its first page with an identity */
    uint16_t owner;       /* to which its pages belong, FT_NO_OWNER if they do not count */
    uint16_t place;       /* the number of the block in whose place it is, or FT_NO_BLOCK */
    bool claimed;         /* some owner has its allocation */
    bool used;            /* it has pages of a kept zone, and is in their place */
};

/* What a physical zone is for. */
enum ft_use { FT_FREE, FT_NEEDED, FT_UNUSABLE };

/* The place of a block within a physical zone. */
struct ft_place {
    uint32_t channel, plane, die, page;
};

/* Blocks of a physical zone, one by one; the scratch memory belongs to the walk meanwhile. */
struct ft_walk {
    uint32_t physical, next, end, first, fetched;
};

/* Fields of a submission entry; those that are 0 are left out. */
struct ft_command {
    uint64_t slba, address;
    uint32_t blocks, length, wear, sequence, time;
    uint16_t rows, source_page, physical, generation, spare;
    uint8_t opcode, nsid, action, pages, copies, source, restored_state, channel, die, plane;
    bool unsure;
};

/* The newest record of the journal. */
struct ft_found {
    const struct ft_owner*
        owner;        /* of the journal's zone that holds it, or else of the newest; NULL without one */
    uint32_t end;     /* block after the record, if appends go on there */
    uint32_t records; /* that were read */
    bool record;      /* there is one; it is in `ft_device.journal` */
    bool last;        /* nothing was appended to the journal after it */
    bool goes_on;     /* the zone that holds it takes the next one at `end` */
};

/* memory.c */
void ft_copy(uint8_t* to, const uint8_t* from, size_t bytes);
void ft_zero(uint8_t* to, size_t bytes);
uint32_t ft_get32(const uint8_t* bytes);
void ft_put32(uint8_t* bytes, uint32_t value);
size_t ft_bitmap_bytes(uint32_t bits);
bool ft_bit(const uint8_t* bitmap, uint32_t bit);
void ft_set_bit(uint8_t* bitmap, uint32_t bit, bool value);

/* checksums.c */
uint16_t ft_crc16(const uint8_t* bytes, size_t count);
uint32_t ft_crc32(const uint8_t* bytes, size_t count);

/* controller.c */
uint32_t ft_read_register(const struct ft_device* device, uint32_t offset);
void ft_write_register(const struct ft_device* device, uint32_t offset, uint32_t value);
void ft_barrier(const struct ft_device* device);
void ft_pause(const struct ft_device* device);
enum ft_error ft_await_state(struct ft_device* device, uint32_t bit, bool value);
enum ft_error ft_enable(struct ft_device* device, uint32_t how);

/* geometry.c */
uint32_t ft_blocks(const struct ft_info* info);
uint32_t ft_spare_count(const struct ft_info* info);
struct ft_place ft_place_of(const struct ft_info* info, uint32_t offset);

/* layout.c */
const struct ft_stream* ft_stream_of(const struct ft_device* device, uint8_t nsid);
const struct ft_stream* ft_journal_stream(const struct ft_device* device);
bool ft_is_recorded(const struct ft_device* device, const struct ft_stream* stream);
bool ft_may_append(const struct ft_device* device, uint8_t port, uint8_t nsid);
bool ft_appending_port(const struct ft_stream* stream, uint8_t* port);
bool ft_holds_zone(const struct ft_device* device, uint8_t nsid, uint32_t zone);

/* queues.c */
void ft_reset_queues(struct ft_device* device);
void ft_configure_queues(struct ft_device* device);
void ft_abandon(struct ft_device* device);
enum ft_error ft_submit(struct ft_device* device, struct ft_request* request, uint8_t port,
                        const struct ft_command* command);
enum ft_error ft_execute(struct ft_device* device, uint8_t port, const struct ft_command* command,
                         uint64_t* result);

/* streams.c */
enum ft_error ft_check_data(const struct ft_device* device, uint64_t address, uint32_t blocks);
enum ft_error ft_check_user(const struct ft_device* device, uint8_t port, uint8_t nsid);

/* reports.c */
enum ft_error ft_report_zones(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t first,
                              struct ft_zone* zones, uint32_t count);
void ft_note_failure(struct ft_device* device, uint8_t port, uint8_t nsid, uint32_t zone);

/* record.c */
uint32_t ft_payload(uint32_t page_bytes);
uint32_t ft_record_bytes(uint32_t zones);
uint32_t ft_record_blocks(const struct ft_device* device);
uint32_t ft_notes_bytes(const struct ft_device* device);
uint32_t ft_written_word(uint32_t blocks, bool full);
uint32_t ft_written_blocks(uint32_t word);
bool ft_written_full(uint32_t word);
void ft_pack_record(struct ft_device* device, uint32_t number, bool clean, bool replaced);
bool ft_parse_place(const uint8_t* block, uint32_t place[3]);
bool ft_is_whole_record(const struct ft_device* device, uint32_t blocks);
enum ft_error ft_parse_record(struct ft_device* device);

/* moments.c */
void ft_note_moment(struct ft_journal* journal, struct ft_moment now);
uint32_t ft_time_of(const struct ft_journal* journal, uint32_t sequence);

/* journal.c */
void ft_clear_record(struct ft_device* device);
void ft_start_journal(struct ft_device* device, uint8_t zone, uint32_t offset, bool full);
enum ft_error ft_write_record(struct ft_device* device);
enum ft_error ft_end_journal(struct ft_device* device);
void ft_save_entries(struct ft_device* device);
void ft_undo_entries(struct ft_device* device);
enum ft_error ft_set_note(struct ft_device* device, uint8_t nsid, const uint8_t* note, uint32_t bytes);
void ft_next_generation(struct ft_device* device, uint8_t nsid);
void ft_raise_floor(struct ft_device* device, uint32_t zone);

/* inspection.c */
enum ft_error ft_inspect(struct ft_device* device, uint32_t physical, uint32_t offset, uint32_t blocks);
void ft_inspect_raw(struct ft_device* device, bool raw);
struct ft_walk ft_walk_of(uint32_t physical, uint32_t offset, uint32_t blocks);
enum ft_error ft_next_record(struct ft_device* device, struct ft_walk* walk, const uint8_t** record);
enum ft_error ft_next_page(struct ft_device* device, struct ft_walk* walk, struct ft_owner* page);
bool ft_is_same_allocation(const struct ft_owner* one, const struct ft_owner* other);
bool ft_owns(const struct ft_owner* owner, const struct ft_owner* page);
enum ft_error ft_identify(struct ft_device* device, uint32_t physical, uint32_t offset, uint32_t blocks,
                          const struct ft_owner* owner, uint32_t* last_own, uint32_t* own);
enum ft_error ft_first_page(struct ft_device* device, uint32_t physical, uint32_t offset, uint32_t blocks,
                            struct ft_owner* first);

/* ownership.c */
enum ft_error ft_find_owners(struct ft_device* device);
enum ft_error ft_check_owners(const struct ft_device* device);

/* spares.c */
struct ft_spare* ft_spare_at(const struct ft_device* device, uint32_t block, uint32_t column);
enum ft_error ft_claim_spares(struct ft_device* device, struct ft_owner* owner, const uint8_t* columns);
enum ft_error ft_find_owners_with_spares(struct ft_device* device);

/* spare_zones.c */
enum ft_error ft_place_spare_zones(struct ft_device* device);

/* randomizer.c */
void ft_identity_key(const struct ft_info* info, const struct ft_place* place, uint8_t* key);

/* marks.c */
bool ft_is_marked(const struct ft_device* device, uint32_t block, uint32_t column);
bool ft_has_mark(const struct ft_device* device, uint32_t block);
enum ft_error ft_find_marks(struct ft_device* device);

/* block_table.c */
void ft_clear_blocks(struct ft_device* device);
enum ft_error ft_use_spares(struct ft_device* device, const struct ft_owner* owner);
enum ft_error ft_replace_marked(struct ft_device* device);
bool ft_has_stale_pages(const struct ft_device* device, uint32_t block);

/* write_pointers.c */
enum ft_error ft_find_pointer(struct ft_device* device, struct ft_owner* owner, uint32_t guess);
enum ft_error ft_has_last_pages(struct ft_device* device, const struct ft_owner* owner, bool* all);

/* allocations.c */
void ft_estimate_wear(struct ft_device* device);
uint32_t ft_next_sequence(const struct ft_device* device);

/* restore.c */
enum ft_error ft_restore(struct ft_device* device, struct ft_command command);
enum ft_error ft_restore_streams(struct ft_device* device);
enum ft_error ft_restore_zones(struct ft_device* device);
enum ft_error ft_release_zones(struct ft_device* device, uint32_t* released);
enum ft_error ft_release_spares(struct ft_device* device, bool all);
enum ft_error ft_end_restore(struct ft_device* device, uint32_t sequence);

/* refresh.c */
enum ft_error ft_check_refresh(const struct ft_device* device);
enum ft_error ft_end_refresh(struct ft_device* device);

/* record_reader.c */
enum ft_error ft_find_record(struct ft_device* device, struct ft_found* found);

#endif
