// What Python calls of the waves.

#include "system.h"

extern "C" {
void flashtrain_waves(const char* path, uint64_t begin, uint64_t end, uint64_t mhz) {
    flashtrain::System::the_only->open_waves(path, begin, end, mhz);
}
uint64_t flashtrain_end_waves() {
    flashtrain::System::the_only->waves.close();
    return flashtrain::System::the_only->waves.cycles();
}
}
