/* For tests: sizes of the driver's types, which ctypes must agree with. */
#include "flashtrain_driver.h"

static const struct ft_stream update_streams[] = {FLASHTRAIN_NODE_UPDATE(FT_STREAM)};

const struct ft_stream* shim_update_streams(unsigned* count) {
    *count = sizeof update_streams / sizeof update_streams[0];
    return update_streams;
}

size_t shim_size(unsigned which) {
    const size_t sizes[] = {
        sizeof(struct ft_device),  sizeof(struct ft_platform),   sizeof(struct ft_stream),
        sizeof(struct ft_config),  sizeof(struct ft_info),       sizeof(struct ft_requirements),
        sizeof(struct ft_request), sizeof(struct ft_zone),       sizeof(struct ft_step),
        sizeof(struct ft_tile),    sizeof(struct ft_statistics), sizeof(struct ft_entry),
        sizeof(struct ft_commit),  sizeof(struct ft_recovery),   sizeof(struct ft_bad_block),
        sizeof(struct ft_port),    sizeof(struct ft_chip),
        sizeof(struct ft_chip_options)};
    return which < sizeof sizes / sizeof sizes[0] ? sizes[which] : 0;
}
