// Memory for tables with random access: uses large pages where the system supports them, to reduce
// TLB misses. Affects speed only.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace karat {

template <class T>
struct LargePages {
    using value_type = T;
    static constexpr size_t page = size_t{1} << 21;

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(size_t n) {
        const size_t bytes = (n * sizeof(T) + page - 1) / page * page;
        void* memory = ::operator new(bytes, std::align_val_t{page});
#ifdef __linux__
        madvise(memory, bytes, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t{page}); }

    template <class U>
    bool operator==(const LargePages<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const LargePages<U>&) const {
        return false;
    }
};

template <class T>
using LargeTable = std::vector<T, LargePages<T>>;

}  // namespace karat
