// Python bindings of arithmetic with the same results on every processor (karat/arithmetic.py), and
// of mapped files that may be truncated while they are read (karat/storage/mapping.py).
#include "core/bind.hpp"

#include <cerrno>
#include <system_error>

#include "core/elementary_functions.hpp"
#include "core/exact_sums.hpp"
#include "core/fixed_order.hpp"
#include "core/mapped_files.hpp"

namespace karat {
namespace {

using Stack = nb::ndarray<const double, nb::ndim<3>, nb::device::cpu>;
using Whole = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <double (*f)(double)>
Array<double> apply_each(Numbers x) {
    const size_t n = x.shape(0);
    std::vector<double> values(n);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < n; ++i) values[i] = f(x.data()[i]);
    }
    return give(std::move(values), {n});
}

template <double (*f)(double)>
void bind_function(nb::module_& m, const char* name) {
    m.def(name, f, "x"_a);
    m.def(name, &apply_each<f>, "x"_a);
}

// A separate loop without branches, so that compilers can vectorize it.
Array<double> quick_exps(Numbers x) {
    const size_t n = x.shape(0);
    std::vector<double> exps(n);
    {
        nb::gil_scoped_release release;
        const double* const from = x.data();
        for (size_t i = 0; i < n; ++i) exps[i] = quick_exp_inside(from[i]);
        for (size_t i = 0; i < n; ++i)
            if (!(from[i] >= -708 && from[i] <= 709)) exps[i] = exp_of(from[i]);
    }
    return give(std::move(exps), {n});
}

double exp_of_float(double x) { return exp_of(static_cast<float>(x)); }

Array<double> powers(Numbers x, Numbers y) {
    const size_t n = x.shape(0);
    if (y.shape(0) != n) throw nb::value_error("expected as many exponents as numbers");
    std::vector<double> values(n);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < n; ++i) values[i] = power_of(x.data()[i], y.data()[i]);
    }
    return give(std::move(values), {n});
}

void check_range(double x) {
    if (!can_be_exact(x)) throw nb::value_error("out of range");
}

void check_groups(const Ids& groups, size_t rows, size_t count) {
    if (groups.shape(0) != rows) throw nb::value_error("expected a group for each row");
    for (size_t i = 0; i < rows; ++i)
        if (groups(i) < 0 || static_cast<size_t>(groups(i)) >= count)
            throw nb::index_error("no such group");
}

// 3 x columns: sums of whole, middle and low limbs, carried.
Array<int64_t> limb_sums(nb::ndarray<const double, nb::ndim<2>, nb::device::cpu> rows) {
    const size_t n = rows.shape(0), columns = rows.shape(1);
    std::vector<ExactSum> sums(columns);
    for (size_t i = 0; i < n; ++i) {
        const double* row = rows.data() + static_cast<int64_t>(i) * rows.stride(0);
        for (size_t j = 0; j < columns; ++j) {
            const double x = row[static_cast<int64_t>(j) * rows.stride(1)];
            check_range(x);
            sums[j].add(x);
        }
        if ((i & 0xfffffff) == 0xfffffff)
            for (ExactSum& sum : sums) sum.carry();
    }
    std::vector<int64_t> limbs(3 * columns);
    for (size_t j = 0; j < columns; ++j) {
        sums[j].carry();
        limbs[j] = sums[j].integer;
        limbs[columns + j] = sums[j].middle;
        limbs[2 * columns + j] = sums[j].low;
    }
    return give(std::move(limbs), {3, columns});
}

// 3 x rows x columns: whole, middle and low limbs.
Array<double> limbs(Table rows) {
    const size_t size = rows.size();
    std::vector<double> limb_table(3 * size);
    for (size_t i = 0; i < size; ++i) {
        check_range(rows.data()[i]);
        const Limbs limbs = limbs_of(rows.data()[i]);
        limb_table[i] = limbs.integer;
        limb_table[size + i] = limbs.middle;
        limb_table[2 * size + i] = limbs.low;
    }
    return give(std::move(limb_table), {3, rows.shape(0), rows.shape(1)});
}

Array<double> from_limbs(Whole integer, Whole middle, Whole low) {
    const size_t n = integer.shape(0);
    if (middle.shape(0) != n || low.shape(0) != n)
        throw nb::value_error("expected as many limbs of each kind");
    std::vector<double> values(n);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < n; ++i)
            values[i] = ExactSum{integer.data()[i], middle.data()[i], low.data()[i]}.value();
    }
    return give(std::move(values), {n});
}

// Draws x columns: counts (draws x rows, whole numbers) times rows, each sum rounded once.
Array<double> exact_product(Table counts, Table rows) {
    const size_t draws = counts.shape(0), n = rows.shape(0), columns = rows.shape(1);
    if (counts.shape(1) != n) throw nb::value_error("counts and rows differ in number");
    for (size_t i = 0; i < rows.size(); ++i) check_range(rows.data()[i]);
    std::vector<double> totals(draws * columns);
    {
        nb::gil_scoped_release release;
        ExactProduct product(rows.data(), n, columns);
        for (size_t d = 0; d < draws; ++d)
            product.sums(counts.data() + d * n, totals.data() + d * columns);
    }
    return give(std::move(totals), {draws, columns});
}

Strided matrix(const Stack& stack, size_t at) {
    return {stack.data() + static_cast<int64_t>(at) * stack.stride(0),
            static_cast<int64_t>(stack.shape(1)), static_cast<int64_t>(stack.shape(2)),
            stack.stride(1), stack.stride(2)};
}

Array<double> products(Stack a, Stack b) {
    const size_t count = a.shape(0), m = a.shape(1), n = b.shape(2);
    if (b.shape(0) != count || b.shape(1) != a.shape(2))
        throw nb::value_error("the matrices do not fit each other");
    if (b.size() && n > 1 && b.stride(2) != 1) throw nb::value_error("expected contiguous rows");
    std::vector<double> elements(count * m * n);
    {
        nb::gil_scoped_release release;
        if (!elements.empty())  // an empty array has no valid data pointer
            for (size_t i = 0; i < count; ++i)
                product(matrix(a, i), matrix(b, i), &elements[i * m * n]);
    }
    return give(std::move(elements), {count, m, n});
}

Array<double> symmetric_solutions(Stack a, Stack b) {
    const size_t count = a.shape(0), n = a.shape(1), columns = b.shape(2);
    if (a.shape(2) != n || b.shape(0) != count || b.shape(1) != n)
        throw nb::value_error("the matrices do not fit each other");
    std::vector<double> solutions(count * n * columns);
    bool solved = true;
    {
        nb::gil_scoped_release release;
        std::vector<double> work(n * n);
        for (size_t at = 0; at < count && !solutions.empty(); ++at) {
            const Strided left = matrix(a, at), right = matrix(b, at);
            double* const x = &solutions[at * n * columns];
            for (size_t i = 0; i < n; ++i) {
                for (size_t j = i; j < n; ++j) work[i * n + j] = left(i, j);
                for (size_t j = 0; j < columns; ++j) x[i * columns + j] = right(i, j);
            }
            solved &= solve_symmetric(work, static_cast<int64_t>(n), x,
                                      static_cast<int64_t>(columns));
        }
    }
    if (!solved) throw nb::value_error("the matrix is singular");
    return give(std::move(solutions), {count, n, columns});
}

// The sum of all rows, added in row order.
Array<int64_t> sum_rows(nb::ndarray<const int64_t, nb::ndim<2>, nb::device::cpu> rows) {
    const size_t n = rows.shape(0), columns = rows.shape(1);
    const int64_t down = rows.stride(0), across = rows.stride(1);
    std::vector<int64_t> sums(columns, 0);
    const int64_t* row = rows.data();
    for (size_t i = 0; i < n; ++i, row += down)
        for (size_t j = 0; j < columns; ++j) sums[j] += row[static_cast<int64_t>(j) * across];
    return give(std::move(sums), {columns});
}

// Sums of each group of rows: groups x columns of integers.
Array<int64_t> grouped_sums(nb::ndarray<const int64_t, nb::ndim<2>, nb::device::cpu> rows,
                            Ids groups, size_t count) {
    const size_t n = rows.shape(0), columns = rows.shape(1);
    check_groups(groups, n, count);
    std::vector<int64_t> sums(count * columns, 0);
    for (size_t i = 0; i < n; ++i) {
        const int64_t* row = rows.data() + static_cast<int64_t>(i) * rows.stride(0);
        int64_t* const sum = &sums[static_cast<size_t>(groups(i)) * columns];
        for (size_t j = 0; j < columns; ++j)
            sum[j] += row[static_cast<int64_t>(j) * rows.stride(1)];
    }
    return give(std::move(sums), {count, columns});
}

// Groups x 3 x columns: sums of limbs, carried. A group has fewer than 2^30 rows.
Array<int64_t> grouped_limb_sums(nb::ndarray<const double, nb::ndim<2>, nb::device::cpu> rows,
                                 Ids groups, size_t count) {
    const size_t n = rows.shape(0), columns = rows.shape(1);
    check_groups(groups, n, count);
    std::vector<ExactSum> sums(count * columns);
    for (size_t i = 0; i < n; ++i) {
        const double* row = rows.data() + static_cast<int64_t>(i) * rows.stride(0);
        for (size_t j = 0; j < columns; ++j) {
            const double x = row[static_cast<int64_t>(j) * rows.stride(1)];
            check_range(x);
            sums[static_cast<size_t>(groups(i)) * columns + j].add(x);
        }
    }
    std::vector<int64_t> limbs(3 * count * columns);
    for (size_t g = 0; g < count; ++g)
        for (size_t j = 0; j < columns; ++j) {
            ExactSum& sum = sums[g * columns + j];
            sum.carry();
            int64_t* const place = &limbs[3 * g * columns + j];
            place[0] = sum.integer;
            place[columns] = sum.middle;
            place[2 * columns] = sum.low;
        }
    return give(std::move(limbs), {count, 3, columns});
}

// A mapping that stays registered for the lifetime of its Python object.
class Watched {
  public:
    Watched(nb::object mapped, std::string_view name) {
        const Buffer buffer(mapped);
        file_ = register_mapping(buffer.data(), static_cast<size_t>(buffer.size()), name);
    }
    ~Watched() { forget_mapping(file_); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    bool lost() const { return file_->lost.load(); }

  private:
    MappedFile* file_;
};

}  // namespace

void bind_core(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
        try {
            std::rethrow_exception(raised);
        } catch (const std::system_error& error) {  // files that cannot be read or written
            errno = error.code().value();
            PyErr_SetFromErrno(PyExc_OSError);
        }
    });
    bind_function<exp_of>(m, "exp");
    m.def("quick_exp", &quick_exp_of, "x"_a);
    m.def("quick_exp", &quick_exps, "x"_a);
    bind_function<exp_of_float>(m, "exp_of_float");
    bind_function<log_of>(m, "log");
    bind_function<quick_log_of>(m, "quick_log");
    bind_function<log10_of>(m, "log10");
    bind_function<log1p_of>(m, "log1p");
    bind_function<sigmoid_of>(m, "sigmoid");
    bind_function<log_gamma_of>(m, "log_gamma");
    bind_function<erfc_of>(m, "erfc");
    m.def("power", &power_of, "x"_a, "y"_a);
    m.def("power", &powers, "x"_a, "y"_a);
    m.def("limb_sums", &limb_sums, "rows"_a);
    m.def("limbs", &limbs, "rows"_a);
    m.def("exact_product", &exact_product, "counts"_a, "rows"_a);
    m.def("from_limbs", &from_limbs, "whole"_a, "middle"_a, "low"_a);
    m.def("products", &products, "a"_a, "b"_a);
    m.def("symmetric_solutions", &symmetric_solutions, "a"_a, "b"_a);
    m.def("sum_rows", &sum_rows, "rows"_a.noconvert());
    m.def("grouped_sums", &grouped_sums, "rows"_a, "groups"_a, "count"_a);
    m.def("grouped_limb_sums", &grouped_limb_sums, "rows"_a, "groups"_a, "count"_a);
    nb::class_<Watched>(m, "Watched")
        .def("__init__", [](Watched* self, nb::object mapped, const std::string& name) {
            new (self) Watched(mapped, name);
        }, "mapped"_a, "name"_a)
        .def_prop_ro("lost", &Watched::lost);
}

}  // namespace karat
