/* What the files of the firmware share. */
#ifndef FLASHTRAIN_FIRMWARE_INTERNAL_H
#define FLASHTRAIN_FIRMWARE_INTERNAL_H

#include "flashtrain_firmware.h"

/* Dwords of the command that was taken. */
#define FT_FW_CDW0 0
#define FT_FW_NSID 1
#define FT_FW_PRP1 6
#define FT_FW_PRP2 8
#define FT_FW_CDW10 10
#define FT_FW_CDW11 11
#define FT_FW_CDW12 12
#define FT_FW_CDW13 13
#define FT_FW_CDW14 14

#define FT_FW_EVERY_NAMESPACE 0xffffffffu

/* Data for the host: `length` bytes, of which those from `stored` on are zeros; or the error log. */
struct ft_fw_data {
    const uint8_t* bytes;
    uint32_t stored, length;
    bool errors;
};

/* An answer. `noted`: a refusal that the error log has. `later`: none yet. */
struct ft_fw_reply {
    uint16_t status;
    bool noted, later;
    uint32_t result;
    struct ft_fw_data data;
    uint32_t offset; /* of the first byte for the host */
};

/* A row of the table of pages: its answer. */
struct ft_fw_page {
    bool found, list;
    uint16_t status;
    struct ft_fw_data data;
};

/* mailbox.c */
uint32_t ft_fw_read(const struct ft_firmware* firmware, uint32_t offset);
void ft_fw_write(const struct ft_firmware* firmware, uint32_t offset, uint32_t value);
void ft_fw_pause(const struct ft_firmware* firmware);
uint32_t ft_fw_field(unsigned low, unsigned width, uint32_t value);
uint32_t ft_fw_rest(struct ft_firmware* firmware);
void ft_fw_answer(struct ft_firmware* firmware, uint16_t cid, uint16_t status, uint32_t result);
void ft_fw_change(struct ft_firmware* firmware, uint32_t kind, uint32_t queue, uint32_t partner,
                  uint32_t others);

/* tables.c */
uint32_t ft_fw_get32(const uint8_t* bytes);
void ft_fw_put32(uint8_t* bytes, uint32_t value);
uint32_t ft_fw_word(const struct ft_firmware* firmware, uint32_t word);
const uint8_t* ft_fw_row(const struct ft_firmware* firmware, uint32_t section, uint32_t row, uint32_t words);
bool ft_fw_takes(const struct ft_firmware* firmware, uint8_t opcode);
bool ft_fw_is_namespace(const struct ft_firmware* firmware, uint32_t nsid);
uint16_t ft_fw_refusal_of(const struct ft_firmware* firmware, uint32_t nsid);
struct ft_fw_page ft_fw_page_of(const struct ft_firmware* firmware, uint32_t kind, uint32_t code,
                                uint32_t command_set, uint32_t nsid);

/* transfers.c */
uint16_t ft_fw_find_pages(struct ft_firmware* firmware, uint32_t length, uint32_t page_bytes);
bool ft_fw_send(struct ft_firmware* firmware, const struct ft_fw_data* data, uint32_t offset, uint32_t length,
                uint32_t page_bytes);

/* events.c */
void ft_fw_note_refusal(struct ft_firmware* firmware, uint16_t status);
uint32_t ft_fw_refusal_dword(const struct ft_firmware* firmware, uint32_t offset);
void ft_fw_raise(struct ft_firmware* firmware, uint32_t state);
void ft_fw_clear_events(struct ft_firmware* firmware, uint32_t log_page);
bool ft_fw_request_event(struct ft_firmware* firmware, uint16_t cid);

/* queues.c */
bool ft_fw_in_use(const struct ft_firmware* firmware);
bool ft_fw_any_open(struct ft_firmware* firmware);
bool ft_fw_deletes(const struct ft_firmware* firmware, uint16_t cid);
bool ft_fw_end_deletions(struct ft_firmware* firmware);
struct ft_fw_reply ft_fw_create_completions(struct ft_firmware* firmware, uint32_t page_bytes);
struct ft_fw_reply ft_fw_create_submissions(struct ft_firmware* firmware, uint32_t page_bytes);
struct ft_fw_reply ft_fw_delete_completions(struct ft_firmware* firmware);
struct ft_fw_reply ft_fw_delete_submissions(struct ft_firmware* firmware);

/* pages.c */
struct ft_fw_reply ft_fw_identify(struct ft_firmware* firmware);
struct ft_fw_reply ft_fw_log_page(struct ft_firmware* firmware);

/* health.c */
void ft_fw_fill_health(struct ft_firmware* firmware, const struct ft_fw_data* template);

/* features.c */
void ft_fw_reset_features(struct ft_firmware* firmware);
struct ft_fw_reply ft_fw_set_feature(struct ft_firmware* firmware);
struct ft_fw_reply ft_fw_get_feature(const struct ft_firmware* firmware);

/* admin.c */
void ft_fw_execute(struct ft_firmware* firmware, uint32_t page_bytes);
void ft_fw_stop(struct ft_firmware* firmware, uint32_t state);

#endif
