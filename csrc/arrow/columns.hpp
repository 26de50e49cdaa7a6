// Columns of an Arrow record batch as the kernel sees text and keys: views into its buffers.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arrow/c_data.hpp"
#include "text/utf8.hpp"

namespace karat::arrow {

// Whether slot i, counted from the offset of its array, is null.
inline bool is_null(const ArrowArray& array, int64_t i) {
    const auto* bits = array.n_buffers ? static_cast<const uint8_t*>(array.buffers[0]) : nullptr;
    const int64_t at = array.offset + i;
    return bits && array.null_count != 0 && !(bits[at >> 3] >> (at & 7) & 1);
}

// Integers and booleans of any width as stored, widened to 64 bits.
class Codes {
  public:
    static bool reads(std::string_view format) {
        return format.size() == 1 && std::string_view("bcCsSiIlL").find(format[0]) < 9;
    }
    Codes(const ArrowSchema& schema, const ArrowArray& array)
        : kind_(schema.format[0]), array_(array), data_(array.buffers[1]) {}

    bool null(int64_t i) const { return is_null(array_, i); }
    int64_t at(int64_t i) const {
        const int64_t k = array_.offset + i;
        switch (kind_) {
            case 'b': return static_cast<const uint8_t*>(data_)[k >> 3] >> (k & 7) & 1;
            case 'c': return static_cast<const int8_t*>(data_)[k];
            case 'C': return static_cast<const uint8_t*>(data_)[k];
            case 's': return static_cast<const int16_t*>(data_)[k];
            case 'S': return static_cast<const uint16_t*>(data_)[k];
            case 'i': return static_cast<const int32_t*>(data_)[k];
            case 'I': return static_cast<const uint32_t*>(data_)[k];
            default: return static_cast<const int64_t*>(data_)[k];  // unsigned: the same bits
        }
    }

  private:
    char kind_;
    const ArrowArray& array_;
    const void* data_;
};

// The index in a dictionary that a code refers to.
inline int64_t place_of(const Codes& codes, const ArrowArray& dictionary, int64_t i) {
    const int64_t index = codes.at(i);
    if (index < 0 || index >= dictionary.length)
        throw std::out_of_range("a code outside its dictionary");
    return index;
}

// Integers and booleans of an array or of its dictionary.
class Integers {
  public:
    static bool reads(const ArrowSchema& schema) {
        return Codes::reads(schema.dictionary ? schema.dictionary->format : schema.format);
    }
    Integers(const ArrowSchema& schema, const ArrowArray& array)
        : coded_(schema.dictionary != nullptr), codes_(schema, array),
          dictionary_(coded_ ? *array.dictionary : array),
          values_(coded_ ? *schema.dictionary : schema, dictionary_) {}

    bool null(int64_t i) const {
        if (codes_.null(i)) return true;
        return coded_ && values_.null(place_of(codes_, dictionary_, i));
    }
    int64_t at(int64_t i) const {
        return values_.at(coded_ ? place_of(codes_, dictionary_, i) : i);
    }

  private:
    bool coded_;
    Codes codes_;
    const ArrowArray& dictionary_;
    Codes values_;
};

// Strings: with 32- or 64-bit offsets, or as views; of an array or of its dictionary.
class Strings {
  public:
    static bool reads(const ArrowSchema& schema) {
        const std::string_view format =
            schema.dictionary ? schema.dictionary->format : schema.format;
        return format == "u" || format == "U" || format == "vu";
    }
    Strings(const ArrowSchema& schema, const ArrowArray& array)
        : places_(array), coded_(schema.dictionary != nullptr), codes_(schema, array),
          array_(coded_ ? *array.dictionary : array),
          kind_((coded_ ? schema.dictionary : &schema)->format[0]) {}

    bool null(int64_t i) const {
        return is_null(places_, i) || (coded_ && is_null(array_, code(i)));
    }
    std::string_view at(int64_t i) const {
        const int64_t k = array_.offset + (coded_ ? code(i) : i);
        if (kind_ == 'u') return between<int32_t>(k);
        return kind_ == 'U' ? between<int64_t>(k) : viewed(k);
    }

  private:
    int64_t code(int64_t i) const { return place_of(codes_, array_, i); }
    template <class Offset>
    std::string_view between(int64_t k) const {
        const auto* offsets = static_cast<const Offset*>(array_.buffers[1]);
        const Offset begin = offsets[k], end = offsets[k + 1];
        if (begin < 0 || end < begin) throw std::out_of_range("offsets out of order");
        return {static_cast<const char*>(array_.buffers[2]) + begin,
                static_cast<size_t>(end - begin)};
    }
    // 16 bytes: a length, then either up to 12 inline bytes, or a prefix, a buffer number and an
    // offset.
    std::string_view viewed(int64_t k) const {
        const char* const view = static_cast<const char*>(array_.buffers[1]) + 16 * k;
        int32_t parts[4];
        std::memcpy(parts, view, 16);
        if (parts[0] < 0) throw std::out_of_range("a view of negative length");
        const auto size = static_cast<size_t>(parts[0]);
        if (size <= 12) return {view + 4, size};
        const auto* sizes = static_cast<const int64_t*>(array_.buffers[array_.n_buffers - 1]);
        if (parts[2] < 0 || parts[3] < 0 || parts[2] >= array_.n_buffers - 3 ||
            parts[3] + int64_t{parts[0]} > sizes[parts[2]])
            throw std::out_of_range("a view outside its buffer");
        return {static_cast<const char*>(array_.buffers[2 + parts[2]]) + parts[3], size};
    }

    const ArrowArray& places_;
    bool coded_;
    Codes codes_;
    const ArrowArray& array_;
    char kind_;
};

// Lists: the range of the items of row i in the only child.
class Lists {
  public:
    static bool reads(std::string_view format) {
        return format == "+l" || format == "+L" || format == "+vl" || format == "+vL" ||
               format.substr(0, 3) == "+w:";
    }
    Lists(const ArrowSchema& schema, const ArrowArray& array)
        : format_(schema.format), array_(array), items_(array.children[0]->length),
          width_(format_[1] == 'w' ? std::stoll(std::string(format_.substr(3))) : 0) {}

    bool null(int64_t i) const { return is_null(array_, i); }
    std::pair<int64_t, int64_t> at(int64_t i) const {
        const int64_t k = array_.offset + i;
        std::pair<int64_t, int64_t> range;
        if (width_ || format_[1] == 'w')
            range = {k * width_, (k + 1) * width_};
        else if (format_[1] == 'v')
            range = format_[2] == 'l' ? sized<int32_t>(k) : sized<int64_t>(k);
        else
            range = format_[1] == 'l' ? between<int32_t>(k) : between<int64_t>(k);
        if (range.first < 0 || range.second < range.first || range.second > items_)
            throw std::out_of_range("a list outside its items");
        return range;
    }

  private:
    template <class Offset>
    std::pair<int64_t, int64_t> between(int64_t k) const {
        const auto* offsets = static_cast<const Offset*>(array_.buffers[1]);
        return {offsets[k], offsets[k + 1]};
    }
    template <class Offset>
    std::pair<int64_t, int64_t> sized(int64_t k) const {
        const int64_t begin = static_cast<const Offset*>(array_.buffers[1])[k];
        const int64_t size = static_cast<const Offset*>(array_.buffers[2])[k];
        if (begin < 0 || size < 0 || size > items_ - begin) return {-1, -1};
        return {begin, begin + size};
    }

    std::string_view format_;
    const ArrowArray& array_;
    int64_t items_, width_;
};

// The first unusable row, and the reason.
struct Problem {
    int64_t row = -1;
    std::string reason;

    bool exists() const { return row >= 0; }
};

// Adds the string in slot `at`, which belongs to row `row`; false if there is a problem.
inline bool take(const Strings& strings, int64_t at, int64_t row,
                 std::vector<std::string_view>& items, Problem& problem) {
    if (strings.null(at)) {
        problem = {row, "null"};
        return false;
    }
    const std::string_view text = strings.at(at);
    if (find_invalid(text.data(), text.data() + text.size()) != text.data() + text.size()) {
        problem = {row, "not valid UTF-8"};
        return false;
    }
    items.push_back(text);
    return true;
}

// The strings of rows `first` to `last` of a column of strings or of lists of strings; for lists,
// also the start of each row.
inline Problem read_texts(const ArrowSchema& schema, const ArrowArray& array, int64_t first,
                          int64_t last, std::vector<std::string_view>& items,
                          std::vector<int64_t>& starts) {
    Problem problem;
    if (!Lists::reads(schema.format)) {
        const Strings strings(schema, array);
        items.reserve(static_cast<size_t>(last - first));
        for (int64_t i = first; i < last; ++i)
            if (!take(strings, i, i - first, items, problem)) return problem;
        return problem;
    }
    const Lists lists(schema, array);
    const Strings strings(*schema.children[0], *array.children[0]);
    starts.assign(1, 0);
    for (int64_t i = first; i < last; ++i) {
        if (lists.null(i)) return {i - first, "null"};
        const auto [begin, end] = lists.at(i);
        if (begin == end) return {i - first, "an empty list"};
        for (int64_t k = begin; k < end; ++k)
            if (!take(strings, k, i - first, items, problem)) return problem;
        starts.push_back(static_cast<int64_t>(items.size()));
    }
    return problem;
}

// Sebastiano Vigna's splitmix64, one step: every bit of the result depends on every bit of x.
inline uint64_t splitmix64(uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

// Hash of a string: mixes its length, then eight bytes at a time.
inline uint64_t hash_text(std::string_view text) {
    uint64_t hash = splitmix64(text.size());
    for (size_t at = 0; at < text.size(); at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, text.data() + at, text.size() - at < 8 ? text.size() - at : 8);
        hash = splitmix64(hash ^ word);
    }
    return hash;
}

// The distinct strings of a column in order of first occurrence, and the index of each row's
// string.
struct Groups {
    std::vector<std::string_view> names;
    std::vector<int32_t> codes;

    void add(std::string_view name) {
        if (codes.empty() || names[static_cast<size_t>(codes.back())] != name) {
            const auto number = static_cast<int32_t>(names.size());
            const auto [place, is_new] = numbers_.emplace(name, number);
            if (is_new) names.push_back(name);
            codes.push_back(place->second);
        } else {
            codes.push_back(codes.back());
        }
    }

  private:
    std::unordered_map<std::string_view, int32_t> numbers_;
};

}  // namespace karat::arrow
