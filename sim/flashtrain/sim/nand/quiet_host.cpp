// A host that does not listen to the NAND models. Violations are on the output and on the models' ports all the same.

extern "C" {
void flashtrain_violation(const char* /*message*/) {}
void flashtrain_trace(int /*kind*/, int /*channel*/, int /*die*/, long long /*start*/, long long /*stop*/,
                      int /*detail*/) {}
}
