/* Texts of errors. */
#include "internal.h"

const char* ft_error_text(enum ft_error error) {
    switch (error) {
        case FT_OK: return "success";
        case FT_ERR_ARGUMENT: return "a parameter is out of range";
        case FT_ERR_MISMATCH: return "the device has another ID or version";
        case FT_ERR_MEMORY: return "the tensor buffer or the work memory is too small";
        case FT_ERR_DISABLED: return "the controller is disabled";
        case FT_ERR_ENABLED: return "the controller is enabled";
        case FT_ERR_BUSY: return "the submission queue is full";
        case FT_ERR_TIMEOUT: return "the device does not answer in time";
        case FT_ERR_FATAL: return "the controller reports a fatal fault";
        case FT_ERR_PROTOCOL: return "the device answered a command that is not in flight";
        case FT_ERR_STATUS: return "the device refused the command";
        case FT_ERR_NO_JOURNAL: return "no journal records the stream";
        case FT_ERR_NOTE_TOO_LONG: return "the notes are too long for a record of the journal";
        case FT_ERR_FOREIGN_CONTENT: return "the flash was written with another table of streams";
        case FT_ERR_JOURNAL_DAMAGED: return "the newest record of the journal is corrupt";
        case FT_ERR_JOURNAL_TOO_LONG: return "the newest record of the journal exceeds the driver's memory";
        case FT_ERR_SPARES: return "bad blocks have used up the spare blocks: no physical zone is left";
    }
    return "unknown error";
}
