// A host that lets blocks fail when a bench says so: lines "channel die plane block" of a file `faults.txt`, which is taken away.

#include <cstdio>

extern "C" {
void flashtrain_array_add_fault(int channel, int die, int plane, int block);

void flashtrain_violation(const char* /*message*/) {}

void flashtrain_trace(int /*kind*/, int /*channel*/, int /*die*/, long long /*start*/, long long /*stop*/, int /*detail*/) {
    constexpr char kFaults[] = "faults.txt";
    if (FILE* file = std::fopen(kFaults, "r")) {
        int channel, die, plane, block;
        while (std::fscanf(file, "%d %d %d %d", &channel, &die, &plane, &block) == 4) {
            flashtrain_array_add_fault(channel, die, plane, block);
        }
        std::fclose(file);
        std::remove(kFaults);
    }
}
}
