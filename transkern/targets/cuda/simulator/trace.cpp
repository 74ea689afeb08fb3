// What a kernel's threads ask of memory, access by access: the functions that -fsanitize=thread puts before each load and
// store of the kernel's file, without ThreadSanitizer behind them (trace.py).
//
// A site is a place in the machine code of the CPU. Lanes of a warp that come by a site in the same iteration of the loops
// around it (paths.py) make one request; of several times within it, each k-th time.
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <vector>

#include "runtime.h"

extern "C" uint64_t transkern_sim_barriers;

namespace {

constexpr unsigned LANES = 32;
constexpr unsigned SAMPLED = 24;  // of each site, so many accesses of a thread are kept with their addresses
constexpr unsigned DEPTH = 4;     // loops around an access, of which the iteration is known
constexpr uint64_t SECTOR = 32;

using Place = std::array<uint32_t, DEPTH + 1>;  // iterations, and how often before in these

struct Region {
    uint64_t low, high;
};

struct Site {
    uint64_t region, size, write;
    uint64_t lanes;     // accesses of threads
    uint64_t requests;  // of warps
    uint64_t sampled, sectors, asked;  // of the sampled requests: how many, sectors, bytes that lanes asked for
    uint64_t least;  // requests that these would be if lanes waited for each other's k-th time
};

struct Access {
    uint32_t site, thread, turn, size;
    uint64_t address;  // from the array's start, which a device puts at a sector's
    Place place;
};

struct Bits {
    std::vector<uint64_t> words;
    uint64_t count() const {
        uint64_t found = 0;
        for (const uint64_t word : words) found += static_cast<uint64_t>(__builtin_popcountll(word));
        return found;
    }
};

bool active;
std::vector<Region> regions;
std::vector<Bits> bits[2];  // by region, of what is read and written since the last time that all blocks met
std::vector<uint64_t> moved[2];
std::vector<Site> sites;
std::vector<std::vector<uint32_t>> turns;  // by site, by thread of those that run at once
std::unordered_map<uint64_t, uint32_t> numbers;  // of sites, by address and region
std::vector<Access> kept;
std::vector<Place> places;  // by thread
std::set<uint32_t> entered;  // blocks of the text, by their lines
std::vector<uint32_t> accesses;  // by thread
bool together;                   // all blocks at once
const volatile unsigned* arrived;  // where the blocks of a grid count how often they came to meet
uint64_t threads, block_threads, seen_block, met, meeting, longest, busy;

uint64_t meetings() { return arrived ? *arrived / meeting : 0; }

uint64_t block_number() {
    return blockIdx.x + uint64_t(gridDim.x) * (blockIdx.y + uint64_t(gridDim.y) * blockIdx.z);
}

// Among those that run at once.
uint64_t thread_number(const uint64_t block) {
    const uint64_t in_block =
        threadIdx.x + uint64_t(blockDim.x) * (threadIdx.y + uint64_t(blockDim.y) * threadIdx.z);
    return in_block + (together ? block * block_threads : 0);
}

bool is_sampled(uint64_t block) {
    const uint64_t blocks = uint64_t(gridDim.x) * gridDim.y * gridDim.z;
    return block < 2 || block == blocks / 2;
}

// All blocks have met, or the launch has ended: what is touched from now on comes from memory again.
void meet() {
    for (int write = 0; write < 2; write++)
        for (size_t r = 0; r < regions.size(); r++) {
            moved[write][r] += SECTOR * bits[write][r].count();
            std::fill(bits[write][r].words.begin(), bits[write][r].words.end(), 0);
        }
}

// The requests among the accesses of a warp by a site, which are sorted by thread.
void count_requests(const size_t first, const size_t end, const Place& upto) {
    Site& site = sites[kept[first].site];
    std::vector<uint64_t> touched;
    uint64_t most = 0, mine = 0;
    for (size_t k = first; k < end; k++) {
        mine = k > first && kept[k].thread == kept[k - 1].thread ? mine : 0;
        most = std::max(most, mine += kept[k].place <= upto);
    }
    site.least += most;
    std::sort(kept.begin() + first, kept.begin() + end,
              [](const Access& a, const Access& b) { return a.place < b.place; });
    for (size_t k = first; k < end && kept[k].place <= upto;) {
        const Place here = kept[k].place;
        touched.clear();
        for (; k < end && kept[k].place == here; k++) {
            for (uint64_t s = kept[k].address / SECTOR; s <= (kept[k].address + kept[k].size - 1) / SECTOR; s++)
                touched.push_back(s);
            site.asked += kept[k].size;
        }
        std::sort(touched.begin(), touched.end());
        site.sampled++;
        site.sectors += static_cast<uint64_t>(std::unique(touched.begin(), touched.end()) - touched.begin());
    }
}

// The threads that ran have ended.
void settle() {
    for (size_t s = 0; s < sites.size(); s++) {
        std::vector<uint32_t>& mine = turns[s];
        for (size_t block = 0; block < threads; block += block_threads)
            for (size_t warp = 0; warp < block_threads; warp += LANES) {
                uint32_t most = 0;
                const size_t first = block + warp, last = block + std::min<size_t>(warp + LANES, block_threads);
                for (size_t t = first; t < last; t++) most = std::max(most, mine[t]), sites[s].lanes += mine[t];
                sites[s].requests += most;
            }
        std::fill(mine.begin(), mine.end(), 0);
    }
    for (uint32_t& count : accesses) {
        longest = std::max<uint64_t>(longest, count);
        busy += count > 0;
        count = 0;
    }
    for (Place& place : places) place.fill(0);
    std::sort(kept.begin(), kept.end(), [](const Access& a, const Access& b) {
        if (a.site != b.site) return a.site < b.site;
        return a.thread != b.thread ? a.thread < b.thread : a.turn < b.turn;
    });
    // What a thread did beyond the accesses that are kept is not known: iterations count up to the first such.
    for (size_t first = 0; first < kept.size();) {
        size_t end = first;
        Place upto;
        upto.fill(~0u);
        while (end < kept.size() && kept[end].site == kept[first].site &&
               kept[end].thread / LANES == kept[first].thread / LANES) {
            const bool again = end > first && kept[end].thread == kept[end - 1].thread;
            Place& place = kept[end].place;
            place[DEPTH] = 0;
            if (again && std::equal(place.begin(), place.begin() + DEPTH, kept[end - 1].place.begin()))
                place[DEPTH] = kept[end - 1].place[DEPTH] + 1;
            if (kept[end].turn == SAMPLED - 1) upto = std::min(upto, place);
            end++;
        }
        count_requests(first, end, upto);
        first = end;
    }
    kept.clear();
}

uint32_t site_number(uint64_t place, size_t region, uint64_t size, bool write) {
    const uint64_t key = place * 64 + region;
    const auto found = numbers.find(key);
    if (found != numbers.end()) return found->second;
    const uint32_t number = static_cast<uint32_t>(sites.size());
    sites.push_back(Site{region, size, write, 0, 0, 0, 0, 0, 0});
    turns.emplace_back(threads, 0);
    return numbers[key] = number;
}

// Which block runs; where it is another than before, that has ended.
uint64_t begin_block() {
    const uint64_t block = block_number();
    if (block != seen_block) {
        if (!together) settle();
        seen_block = block;
    }
    return block;
}

void note(uint64_t address, uint64_t size, bool write, uint64_t place) {
    if (!active) return;
    size_t region = 0;
    while (region < regions.size() && !(address >= regions[region].low && address < regions[region].high)) region++;
    if (region == regions.size()) return;
    const uint64_t block = begin_block();
    if (const uint64_t now = meetings(); now > met) {  // once all have left it is none again
        meet();
        met = now;
    }
    const uint64_t thread = thread_number(block);
    const uint32_t site = site_number(place, region, size, write);
    const uint32_t turn = turns[site][thread]++;
    accesses[thread]++;
    const uint64_t low = (address - regions[region].low) / SECTOR, high = (address + size - 1 - regions[region].low) / SECTOR;
    std::vector<uint64_t>& words = bits[write][region].words;
    for (uint64_t s = low; s <= high && s / 64 < words.size(); s++) words[s / 64] |= 1ull << s % 64;
    if (turn < SAMPLED && is_sampled(block))
        kept.push_back(Access{site, static_cast<uint32_t>(thread), turn, static_cast<uint32_t>(size),
                              address - regions[region].low, places[thread]});
}

}  // namespace

// `given`: the low and high ends of each array; `counter`: of the blocks that meet, or null; `blocks`: how many these are,
// where not all of them.
extern "C" void transkern_trace_begin(const uint64_t* given, uint64_t count, const unsigned* sizes, int cooperative,
                                      const unsigned* counter, uint64_t blocks) {
    regions.clear();
    for (uint64_t k = 0; k < count; k++)
        regions.push_back(Region{given[2 * k], given[2 * k + 1]});
    for (int write = 0; write < 2; write++) {
        bits[write].assign(count, Bits());
        moved[write].assign(count, 0);
        for (uint64_t k = 0; k < count; k++)
            bits[write][k].words.assign((regions[k].high - regions[k].low) / SECTOR / 64 + 1, 0);
    }
    block_threads = uint64_t(sizes[3]) * sizes[4] * sizes[5];
    together = cooperative != 0;
    threads = block_threads * (together ? uint64_t(sizes[0]) * sizes[1] * sizes[2] : 1);
    sites.clear();
    turns.clear();
    numbers.clear();
    kept.clear();
    accesses.assign(threads, 0);
    places.assign(threads, Place{});
    entered.clear();
    seen_block = ~0ull;
    longest = busy = met = 0;
    arrived = counter, meeting = blocks ? blocks : uint64_t(sizes[0]) * sizes[1] * sizes[2];
    transkern_sim_barriers = 0;
    active = true;
}

// `totals`: the most accesses of a thread, threads that have any, barriers of blocks and of the grid. Returns how many sites.
extern "C" uint64_t transkern_trace_end(uint64_t* totals, uint64_t* read, uint64_t* written) {
    active = false;
    settle();
    meet();
    totals[0] = longest;
    totals[1] = busy;
    totals[2] = transkern_sim_barriers;
    totals[3] = std::max(met, meetings());
    for (size_t r = 0; r < regions.size(); r++) read[r] = moved[0][r], written[r] = moved[1][r];
    for (Site& site : sites)  // lanes that part, and meet again elsewhere, make more requests than each k-th time
        if (site.least) site.requests = site.requests * site.sampled / site.least;
    return sites.size();
}

// The blocks of the text that were entered; returns how many.
extern "C" uint64_t transkern_trace_entered(uint32_t* found) {
    if (found) std::copy(entered.begin(), entered.end(), found);
    return entered.size();
}

// An iteration of the loop of this depth begins; it has ended.
extern "C" void transkern_trace_turn(unsigned depth) {
    if (!active || depth >= DEPTH) return;
    begin_block();
    Place& place = places[thread_number(block_number())];
    place[depth]++;
    std::fill(place.begin() + depth + 1, place.end(), 0);
}
extern "C" void transkern_trace_leave(unsigned depth) {
    if (!active || depth >= DEPTH) return;
    Place& place = places[thread_number(block_number())];
    std::fill(place.begin() + depth, place.end(), 0);
}
extern "C" void transkern_trace_enter(unsigned line) {
    static uint32_t last = 0;
    if (!active || (last == line && !entered.empty())) return;
    entered.insert(last = line);
}

extern "C" void transkern_trace_sites(uint64_t* found) { memcpy(found, sites.data(), sites.size() * sizeof(Site)); }

#define TRANSKERN_NOTED(name, size, write)                                                       \
    extern "C" void __tsan_##name(void* address) {                                               \
        note(reinterpret_cast<uint64_t>(address), size, write,                                   \
             reinterpret_cast<uint64_t>(__builtin_return_address(0)));                           \
    }
#define TRANSKERN_NOTED_BOTH(size)                  \
    TRANSKERN_NOTED(read##size, size, false)        \
    TRANSKERN_NOTED(write##size, size, true)        \
    TRANSKERN_NOTED(unaligned_read##size, size, false) \
    TRANSKERN_NOTED(unaligned_write##size, size, true)
TRANSKERN_NOTED_BOTH(1)
TRANSKERN_NOTED_BOTH(2)
TRANSKERN_NOTED_BOTH(4)
TRANSKERN_NOTED_BOTH(8)
TRANSKERN_NOTED_BOTH(16)

extern "C" void __tsan_read_range(void* address, size_t size) {
    note(reinterpret_cast<uint64_t>(address), size, false, reinterpret_cast<uint64_t>(__builtin_return_address(0)));
}
extern "C" void __tsan_write_range(void* address, size_t size) {
    note(reinterpret_cast<uint64_t>(address), size, true, reinterpret_cast<uint64_t>(__builtin_return_address(0)));
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
