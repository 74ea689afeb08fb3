// A suspended flow of control: its stack, and the registers that a call preserves.
//
// On x86-64 a switch is a few instructions; elsewhere it is ucontext's, which asks the kernel twice (TRANSKERN_UCONTEXT
// chooses it everywhere).
#pragma once

#include <stddef.h>
#include <stdint.h>

#if !defined(__x86_64__) || defined(TRANSKERN_UCONTEXT)
#include <ucontext.h>
#endif

namespace transkern_sim {

#if defined(__x86_64__) && !defined(TRANSKERN_UCONTEXT)
struct Context {
    void* stack_pointer;

    void prepare(char* stack, size_t bytes, void (*entry)()) {
        auto top = reinterpret_cast<uint64_t*>((reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t(15));
        *--top = 0;  // where a return address would be: aligns the stack as a call does
        *--top = reinterpret_cast<uint64_t>(entry);
        *--top = 0;  // the frame pointer: debuggers and sanitizers stop unwinding here
        stack_pointer = top;
    }
    void prefetch() const {
        __builtin_prefetch(stack_pointer);
        __builtin_prefetch(static_cast<char*>(stack_pointer) + 64);
        __builtin_prefetch(static_cast<char*>(stack_pointer) + 128);
        __builtin_prefetch(static_cast<char*>(stack_pointer) + 192);
    }
};

// In line, and left by a jump: return addresses stay paired with their calls, as the branch predictor expects.
inline __attribute__((always_inline)) void exchange(Context& from, Context& to) {
    void *save = &from.stack_pointer, *load = to.stack_pointer;
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\t"  // past the red zone
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "pushq %%rbp\n\t"
        "movq %%rsp, (%%rdi)\n\t"
        "movq %%rsi, %%rsp\n\t"
        "popq %%rbp\n\t"
        "popq %%rax\n\t"
        "jmpq *%%rax\n"
        "1:\n\t"
        "leaq 128(%%rsp), %%rsp\n"
        : "+D"(save), "+S"(load)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
          "xmm14", "xmm15");
}
#else
struct Context {
    ucontext_t registers;

    void prepare(char* stack, size_t bytes, void (*entry)()) {
        getcontext(&registers);
        registers.uc_stack.ss_sp = stack;
        registers.uc_stack.ss_size = bytes;
        registers.uc_link = nullptr;
        makecontext(&registers, entry, 0);
    }
    void prefetch() const {}
};

inline void exchange(Context& from, Context& to) { swapcontext(&from.registers, &to.registers); }
#endif

}  // namespace transkern_sim
