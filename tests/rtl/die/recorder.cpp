// The host of the NAND models in the benches: writes what they report into files in the current folder.

#include <cstdio>

namespace {

FILE* opened(const char* name) { return std::fopen(name, "a"); }

}  // namespace

extern "C" {

void flashtrain_violation(const char* message) {
    static FILE* const file = opened("violations.txt");
    std::fprintf(file, "%s\n", message);
    std::fflush(file);
}

void flashtrain_trace(int kind, int channel, int die, long long start, long long stop, int detail) {
    static FILE* const file = opened("trace.txt");
    std::fprintf(file, "%d %d %d %lld %lld %d\n", kind, channel, die, start, stop, detail);
    std::fflush(file);
}
}
