/* Features, by their rows in the tables. */
#include "internal.h"

#define SAVE 0x80000000u

/* DULBE: whether reads of unwritten blocks of a namespace are errors. */
static void set_fails(const struct ft_firmware* firmware, uint32_t nsid) {
    const uint32_t word = ft_fw_word(firmware, FLASHTRAIN_TABLE_NAMESPACES + nsid - 1);
    const bool fails = firmware->recovery[nsid - 1] & FLASHTRAIN_DULBE;
    ft_fw_write(firmware, FLASHTRAIN_NAMESPACES + 4 * (nsid - 1),
                word | ft_fw_field(FLASHTRAIN_NAMESPACE_WORD_FAILS_ON_UNWRITTEN, fails));
}

/* The values after a reset, which the table of namespaces follows. */
void ft_fw_reset_features(struct ft_firmware* firmware) {
    for (unsigned i = 0; i < FLASHTRAIN_FIRMWARE_FEATURES; ++i) firmware->stored[i] = 0;
    for (uint32_t nsid = 1; nsid <= FLASHTRAIN_MAX_STREAMS; ++nsid) {
        firmware->recovery[nsid - 1] = 0;
        set_fails(firmware, nsid);
    }
    for (unsigned i = 0; i < sizeof firmware->vectors / sizeof firmware->vectors[0]; ++i)
        firmware->vectors[i] = 0;
}

/* A row of the table. */
struct feature {
    bool known;
    uint32_t index, flags, mask, value, result;
    uint16_t refusal;
};

static struct feature feature_of(const struct ft_firmware* firmware, uint32_t code) {
    struct feature feature = {0};
    const uint8_t* row;
    for (uint32_t i = 0; (row = ft_fw_row(firmware, FLASHTRAIN_TABLE_FEATURES, i, FLASHTRAIN_FEATURE_ROW_WORDS));
         ++i) {
        if (row[0] != code) continue;
        feature.known = true;
        feature.index = i;
        feature.flags = row[1];
        feature.mask = ft_fw_get32(row + 4);
        feature.value = ft_fw_get32(row + 8);
        feature.refusal = (uint16_t)ft_fw_get32(row + 12);
        feature.result = ft_fw_get32(row + 16);
    }
    return feature;
}

/* The temperature threshold of the kind in dword 11: the upper one of the composite temperature. */
static uint32_t threshold(const struct feature* feature, uint32_t dword) {
    return (dword >> 20 & 3) || (dword >> 16 & 15) ? 0 : feature->result;
}

static uint16_t set_recovery(struct ft_firmware* firmware, uint32_t nsid, uint32_t value) {
    if (nsid != FT_FW_EVERY_NAMESPACE && !ft_fw_is_namespace(firmware, nsid))
        return ft_fw_refusal_of(firmware, nsid);
    for (uint32_t one = 1; one <= FLASHTRAIN_MAX_STREAMS; ++one) {
        if (nsid != one && nsid != FT_FW_EVERY_NAMESPACE) continue;
        firmware->recovery[one - 1] = value;
        set_fails(firmware, one);
    }
    return FLASHTRAIN_TARGET_STATUS_SUCCESS;
}

static uint16_t set_vector(struct ft_firmware* firmware, uint32_t value, uint32_t mask) {
    const uint32_t vector = value & 0xffff, bit = 1u << vector % 32;
    if (vector > ft_fw_word(firmware, FLASHTRAIN_TABLE_QUEUES)) return FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
    firmware->vectors[vector / 32] =
        (firmware->vectors[vector / 32] & ~bit) | (value & mask ? bit : 0);
    ft_fw_write(firmware, FLASHTRAIN_MAILBOX_VECTOR, vector | (value & mask));
    return FLASHTRAIN_TARGET_STATUS_SUCCESS;
}

static struct ft_fw_reply granted(const struct ft_firmware* firmware) {
    const uint32_t most = ft_fw_word(firmware, FLASHTRAIN_TABLE_QUEUES) - 1;
    const struct ft_fw_reply reply = {.result = most | most << 16};
    return reply;
}

struct ft_fw_reply ft_fw_set_feature(struct ft_firmware* firmware) {
    const uint32_t* entry = firmware->entry;
    const uint32_t code = entry[FT_FW_CDW10] & 0xff, nsid = entry[FT_FW_NSID], value = entry[FT_FW_CDW11];
    const struct feature feature = feature_of(firmware, code);
    struct ft_fw_reply reply = {.status = FLASHTRAIN_TARGET_STATUS_SUCCESS};
    if (entry[FT_FW_CDW10] & SAVE) {
        reply.status = FLASHTRAIN_TARGET_STATUS_FEATURE_NOT_SAVEABLE;
        return reply;
    }
    if (feature.known && nsid && nsid != FT_FW_EVERY_NAMESPACE) {
        reply.status = ft_fw_refusal_of(firmware, nsid);
        if (reply.status == FLASHTRAIN_TARGET_STATUS_INVALID_NAMESPACE) return reply;
        reply.status = FLASHTRAIN_TARGET_STATUS_FEATURE_NOT_OF_A_NAMESPACE;
        if (!(feature.flags & FLASHTRAIN_FEATURE_FLAG_OF_NAMESPACES)) return reply;
        reply.status = FLASHTRAIN_TARGET_STATUS_SUCCESS;
    }
    if (!(feature.flags & FLASHTRAIN_FEATURE_FLAG_SUPPORTED)) {
        reply.status = FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
        return reply;
    }
    if (feature.flags & FLASHTRAIN_FEATURE_FLAG_FIXED) {
        if ((value & feature.mask) != feature.value) reply.status = feature.refusal;
        return reply;
    }
    switch (code) {
        case FLASHTRAIN_ADMIN_FEATURE_QUEUES:
            if (!ft_fw_in_use(firmware) && (value & 0xffff) != 0xffff && value >> 16 != 0xffff)
                return granted(firmware);
            reply.status = ft_fw_in_use(firmware) ? FLASHTRAIN_TARGET_STATUS_COMMAND_SEQUENCE_ERROR
                                                  : FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
            break;
        case FLASHTRAIN_ADMIN_FEATURE_INTERRUPT_VECTOR:
            reply.status = set_vector(firmware, value, feature.mask);
            break;
        case FLASHTRAIN_ADMIN_FEATURE_ERROR_RECOVERY:
            reply.status = set_recovery(firmware, nsid, value & feature.mask);
            break;
        case FLASHTRAIN_ADMIN_FEATURE_TEMPERATURE_THRESHOLD:
            if ((value & 0xffff) != threshold(&feature, value))
                reply.status = FLASHTRAIN_TARGET_STATUS_FEATURE_NOT_CHANGEABLE;
            break;
        case FLASHTRAIN_ADMIN_FEATURE_ARBITRATION:
            ft_fw_write(firmware, FLASHTRAIN_MAILBOX_ARBITRATION, value & feature.mask);
            firmware->stored[feature.index] = value & feature.mask;
            break;
        case FLASHTRAIN_ADMIN_FEATURE_INTERRUPT_COALESCING:
            ft_fw_write(firmware, FLASHTRAIN_MAILBOX_AGGREGATION, value & feature.mask);
            firmware->stored[feature.index] = value & feature.mask;
            break;
        default: firmware->stored[feature.index] = value & feature.mask;
    }
    return reply;
}

struct ft_fw_reply ft_fw_get_feature(const struct ft_firmware* firmware) {
    const uint32_t* entry = firmware->entry;
    const uint32_t code = entry[FT_FW_CDW10] & 0xff, select = entry[FT_FW_CDW10] >> 8 & 7;
    const uint32_t nsid = entry[FT_FW_NSID], vector = entry[FT_FW_CDW11] & 0xffff;
    const struct feature feature = feature_of(firmware, code);
    const bool current = select == FLASHTRAIN_SELECT_CURRENT;
    struct ft_fw_reply reply = {.result = feature.result};
    if (!(feature.flags & FLASHTRAIN_FEATURE_FLAG_SUPPORTED) || select > FLASHTRAIN_SELECT_CAPABILITIES) {
        reply.status = FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
        return reply;
    }
    if (select == FLASHTRAIN_SELECT_CAPABILITIES) {
        reply.result = (feature.flags & FLASHTRAIN_FEATURE_FLAG_OF_NAMESPACES ? 2u : 0u) |
                       (feature.flags & FLASHTRAIN_FEATURE_FLAG_CHANGEABLE ? 4u : 0u);
        return reply;
    }
    if (feature.flags & FLASHTRAIN_FEATURE_FLAG_FIXED) return reply;
    switch (code) {
        case FLASHTRAIN_ADMIN_FEATURE_QUEUES: return granted(firmware);
        case FLASHTRAIN_ADMIN_FEATURE_INTERRUPT_VECTOR:
            reply.result = vector;
            if (vector > ft_fw_word(firmware, FLASHTRAIN_TABLE_QUEUES))
                reply.status = FLASHTRAIN_TARGET_STATUS_INVALID_FIELD;
            else if (current && (firmware->vectors[vector / 32] >> vector % 32 & 1))
                reply.result |= feature.mask;
            break;
        case FLASHTRAIN_ADMIN_FEATURE_ERROR_RECOVERY:
            if (nsid == FT_FW_EVERY_NAMESPACE) /* namespaces may differ */
                reply.status = FLASHTRAIN_TARGET_STATUS_INVALID_NAMESPACE;
            else if (!ft_fw_is_namespace(firmware, nsid))
                reply.status = ft_fw_refusal_of(firmware, nsid);
            else if (current)
                reply.result = firmware->recovery[nsid - 1];
            break;
        case FLASHTRAIN_ADMIN_FEATURE_TEMPERATURE_THRESHOLD:
            reply.result = threshold(&feature, entry[FT_FW_CDW11]);
            break;
        default: reply.result = current ? firmware->stored[feature.index] : 0;
    }
    return reply;
}
