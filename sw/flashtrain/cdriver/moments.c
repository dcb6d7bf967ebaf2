/* Allocation times of physical zones, from which recovery derives the age of data. */
#include "internal.h"

/* The moment that is closest to the one before, the last of several such ones reading backwards first. */
static uint32_t closest(const struct ft_moment* moments, uint32_t count) {
    uint32_t best = count - 1;
    for (uint32_t i = count - 1; i > 0; --i)
        if (moments[i].time - moments[i - 1].time <= moments[best].time - moments[best - 1].time) best = i;
    return best;
}

static void remove_moment(struct ft_moment* moments, uint32_t* count, uint32_t index) {
    for (uint32_t i = index + 1; i < *count; ++i) moments[i - 1] = moments[i];
    --*count;
}

void ft_note_moment(struct ft_journal* journal, struct ft_moment now) {
    struct ft_moment moments[FLASHTRAIN_RECORD_MOMENTS + 1];
    uint32_t count = journal->moment_count;
    for (uint32_t i = 0; i < count; ++i) {
        moments[i] = journal->moments[i];
        if (moments[i].time > now.time) moments[i].time = now.time; /* the clock was set back */
    }
    if (!count || moments[count - 1].time != now.time) {
        if (count && moments[count - 1].sequence == now.sequence) --count; /* nothing was allocated since */
        moments[count++] = now;
        if (count > FLASHTRAIN_RECORD_MOMENTS) remove_moment(moments, &count, closest(moments, count));
    }
    for (uint32_t i = 0; i < count; ++i) journal->moments[i] = moments[i];
    journal->moment_count = count;
}

uint32_t ft_time_of(const struct ft_journal* journal, uint32_t sequence) {
    uint32_t time = 0;
    for (uint32_t i = 0; i < journal->moment_count; ++i)
        if (journal->moments[i].sequence <= sequence && journal->moments[i].time > time)
            time = journal->moments[i].time;
    return time;
}
