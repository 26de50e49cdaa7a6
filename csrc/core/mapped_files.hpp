// Mapped files that become shorter while they are read.
//
// Reading a page that the file no longer has raises SIGBUS. The handler here looks the address up
// among the mappings that were registered. If it is in one of them, pages of zeros take the place
// of what is missing, the mapping is marked as lost, and the read goes on. Nothing jumps out of a
// handler, so no destructor is skipped and no lock stays taken. Callers look at the mark before a
// result is used. Any other SIGBUS goes to the handler that was there before.
//
// Zeros may contradict what was checked when a model was opened. So once a mapping is lost, a
// later crash ends the process with a sentence and exit code 2.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__unix__) || defined(__APPLE__)
#define KARAT_HAS_SIGBUS 1
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace karat {

// A registered mapping; `begin` is 0 while the entry is free. Entries are never freed, so that a
// handler can walk over them at any time.
struct MappedFile {
    std::atomic<uintptr_t> begin{0};
    std::atomic<uintptr_t> end{0};
    std::atomic<bool> lost{false};
    char name[512] = {};
    MappedFile* next = nullptr;
};

inline std::atomic<MappedFile*> mapped_files{nullptr};

#ifdef KARAT_HAS_SIGBUS

inline struct sigaction earlier_sigbus;
inline std::atomic<MappedFile*> first_lost{nullptr};

inline void write_all(const char* text, size_t size) {
    while (size) {
        const ssize_t done = write(STDERR_FILENO, text, size);
        if (done <= 0) return;
        text += done;
        size -= static_cast<size_t>(done);
    }
}

// The end of a process that could not go on with zeros.
inline void end_with_sentence(int) {
    static const char sentence[] =
        " became shorter while it was read; wait until nothing writes to it, and start again\n";
    const MappedFile* file = first_lost.load();
    write_all("karat: ", 7);
    if (file) write_all(file->name, std::strlen(file->name));
    write_all(sentence, sizeof sentence - 1);
    _exit(2);
}

inline void expect_crashes() {
    struct sigaction action = {};
    action.sa_handler = end_with_sentence;
    sigemptyset(&action.sa_mask);
    for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
}

// Zeros from the page of an address to the end of its mapping.
inline bool fill_with_zeros(MappedFile& file, uintptr_t at, uintptr_t end) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t from = at - at % page;
    void* place = reinterpret_cast<void*>(from);  // NOLINT: an address that the kernel gave
    file.lost.store(true);
    MappedFile* none = nullptr;
    if (first_lost.compare_exchange_strong(none, &file)) expect_crashes();
    return mmap(place, end - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

inline bool recover(uintptr_t at) {
    for (MappedFile* file = mapped_files.load(); file; file = file->next) {
        const uintptr_t begin = file->begin.load(), end = file->end.load();
        if (begin && begin <= at && at < end) return fill_with_zeros(*file, at, end);
    }
    return false;
}

// A fault that is ignored would only come again: it ends the process, as without any handler.
inline void pass_on(int number, siginfo_t* info, void* context, bool is_fault) {
    const bool has_info = earlier_sigbus.sa_flags & SA_SIGINFO;
    if (has_info) return earlier_sigbus.sa_sigaction(number, info, context);
    const auto handler = earlier_sigbus.sa_handler;
    if (handler == SIG_IGN && !is_fault) return;
    if (handler != SIG_IGN && handler != SIG_DFL) return handler(number);
    signal(number, SIG_DFL);
    raise(number);
}

inline void on_sigbus(int number, siginfo_t* info, void* context) {
    const bool is_fault = info->si_code > 0;  // and not sent by a process
    if (is_fault && recover(reinterpret_cast<uintptr_t>(info->si_addr))) return;
    pass_on(number, info, context, is_fault);
}

inline void install_sigbus() {
    static const bool installed = [] {
        struct sigaction action = {};
        action.sa_sigaction = on_sigbus;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        return sigaction(SIGBUS, &action, &earlier_sigbus) == 0;
    }();
    (void)installed;
}

#else

inline void install_sigbus() {}

#endif

// Whether to end a search in a hash table: one that was mapped and has lost its empty places would
// be gone through for every word. Asked once in 64 steps, which a sound table hardly ever takes.
inline bool is_lost(size_t tried) {
#ifdef KARAT_HAS_SIGBUS
    return (tried & 63) == 63 && first_lost.load(std::memory_order_relaxed);
#else
    (void)tried;
    return false;
#endif
}

// An entry for a mapping. Callers hold a lock (the GIL).
inline MappedFile* register_mapping(const char* data, size_t size, std::string_view name) {
    install_sigbus();
    MappedFile* file = mapped_files.load();
    while (file && file->begin.load()) file = file->next;
    if (!file) {
        file = new MappedFile;
        file->next = mapped_files.load();
        mapped_files.store(file);
    }
    const size_t length = name.size() < sizeof file->name ? name.size() : sizeof file->name - 1;
    std::memcpy(file->name, name.data(), length);
    file->name[length] = 0;
    file->lost.store(false);
    const auto begin = reinterpret_cast<uintptr_t>(data);
    file->end.store(begin + size);
    file->begin.store(begin);
    return file;
}

inline void forget_mapping(MappedFile* file) {
    file->begin.store(0);
    file->end.store(0);
}

}  // namespace karat
