// The program of a sanitized run: reads arrays and launches from a file, runs them, writes the arrays to a file.
//
//     driver                      prints a line for each kernel: its name, then (pointer, constant, kind, size) of each
//                                 parameter
//     driver PLAN RESULT          exit status 0, or 3 with the simulator's error on stderr; the sanitizers have theirs
//
// A plan is a sequence of 64-bit words and of bytes, in the order in which `main` reads them; check.py writes it.
#include <memory>
#include <vector>

#include "runtime.h"

extern "C" const transkern_sim::Kernel transkern_kernels[];
extern "C" const char* transkern_sim_error();
extern "C" int transkern_sim_launch(const transkern_sim::Kernel*, const unsigned*, size_t, int, void**);

static void read_bytes(FILE* file, void* target, size_t bytes) {
    if (fread(target, 1, bytes, file) != bytes) {
        fputs("the plan is too short\n", stderr);
        exit(4);
    }
}

static uint64_t read_word(FILE* file) {
    uint64_t word;
    read_bytes(file, &word, sizeof word);
    return word;
}

static void list_kernels() {
    for (const transkern_sim::Kernel* kernel = transkern_kernels; kernel->name; kernel++) {
        printf("%s", kernel->name);
        for (unsigned i = 0; i < kernel->count; i++) {
            const transkern_sim::Parameter& p = kernel->parameters[i];
            printf(" %d,%d,%c,%u", p.pointer, p.constant, p.kind, p.size);
        }
        printf("\n");
    }
}

int main(int count, char** names) {
    if (count != 3) {
        list_kernels();
        return 0;
    }
    FILE* plan = fopen(names[1], "rb");
    if (!plan) return 4;
    // Each array is an allocation of its own of exactly its size: AddressSanitizer watches both ends.
    std::vector<std::pair<void*, size_t>> arrays(read_word(plan));
    for (auto& [address, bytes] : arrays) {
        bytes = read_word(plan);
        if (posix_memalign(&address, 256, bytes)) return 4;
        read_bytes(plan, address, bytes);
    }
    for (uint64_t launches = read_word(plan); launches; launches--) {
        const transkern_sim::Kernel& kernel = transkern_kernels[read_word(plan)];
        unsigned sizes[6];
        for (unsigned& size : sizes) size = static_cast<unsigned>(read_word(plan));
        const uint64_t shared_bytes = read_word(plan), cooperative = read_word(plan);
        std::vector<std::unique_ptr<char[]>> cells(kernel.count);
        std::vector<void*> arguments(kernel.count);
        for (unsigned i = 0; i < kernel.count; i++) {
            const bool is_array = read_word(plan);
            const uint64_t word = read_word(plan);  // an array's number, or a scalar's size
            cells[i] = std::make_unique<char[]>(is_array ? sizeof(void*) : word);
            if (is_array) memcpy(cells[i].get(), &arrays[word].first, sizeof(void*));
            else read_bytes(plan, cells[i].get(), word);
            arguments[i] = cells[i].get();
        }
        if (transkern_sim_launch(&kernel, sizes, shared_bytes, static_cast<int>(cooperative), arguments.data())) {
            fprintf(stderr, "%s: %s\n", kernel.name, transkern_sim_error());
            _Exit(3);
        }
    }
    FILE* result = fopen(names[2], "wb");
    if (!result) return 4;
    for (const auto& [address, bytes] : arrays) fwrite(address, 1, bytes, result);
    return fclose(result) ? 4 : 0;
}
