// Protection against mapped files that are truncated while they are read.
//
// Reading a page that the file no longer has raises SIGBUS. The handler here looks up the address
// among the registered mappings. If it belongs to one of them, pages of zeros replace the missing
// pages, the mapping is marked as lost, and the read continues. The handler always returns
// normally, so no destructor is skipped and no lock stays held. Callers check the mark before they
// use a result. Any other SIGBUS goes to the previous handler.
//
// Zeros may violate invariants that were checked when a model was opened. So once a mapping is
// lost, a later crash ends the process with an error message and exit code 2.
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

// A registered mapping; `begin` is 0 while the entry is free. The memory of entries is never freed,
// so that the handler can iterate over them at any time.
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

// Ends a process that crashed after a mapping was replaced by zeros.
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

// Maps zeros from the page of an address to the end of its mapping.
inline bool fill_with_zeros(MappedFile& file, uintptr_t at, uintptr_t end) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t from = at - at % page;
    void* place = reinterpret_cast<void*>(from);  // NOLINT: an address from the kernel
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

// An ignored fault would only recur, so it ends the process, as without a handler.
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
    const bool is_fault = info->si_code > 0;  // not sent by another process
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

// Whether to stop a search in a hash table: a mapped table that has lost its empty slots would be
// scanned completely for every word. Checked every 64 steps, a length that searches in an intact
// table rarely reach.
inline bool is_lost(size_t tried) {
#ifdef KARAT_HAS_SIGBUS
    return (tried & 63) == 63 && first_lost.load(std::memory_order_relaxed);
#else
    (void)tried;
    return false;
#endif
}

// Returns an entry for a new mapping. Callers must hold a lock (the GIL).
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
