"""A small matrix product and a minimum in registers, written with explicit SIMD vectors."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16  # single-precision numbers that are worked on together
WIDTH = 2 * LANES  # rows of one tile
HEIGHT = 4  # forms of one tile

emitted: Any = intrinsic  # its calls lack the first argument that its definition has

_SIZE = ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)
_REORDER = ("contract", "nsz")


def _spread_over_lanes(builder: Any, value: Any) -> Any:
    """Return a vector that holds one number in all lanes."""
    nothing, index = ir.Constant(_VECTOR, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(nothing, value, ir.Constant(index, 0))
    lanes = ir.Constant(ir.VectorType(index, LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, lanes)


def _vector_at(builder: Any, data: Any, offset: Any) -> Any:
    return builder.bitcast(builder.gep(data, [offset]), _VECTOR.as_pointer())


@emitted
def tile(typing: Any, rows: Any, forms: Any, out: Any, g: Any, r: Any) -> Any:
    """Fill ``out[g:g+HEIGHT, r:r+WIDTH]`` with the product of `forms` and `rows` there.

    The sums stay in registers during the loop over the columns, which the compiler does not
    achieve by itself; LLVM splits the vectors into the widths that the machine has.

    Parameters
    ----------
    rows : ndarray of shape (D, n), C-ordered float32, D > 0
        One row of data per column.
    forms : ndarray of shape (F, D), C-ordered float32
        One linear form per row.
    out : ndarray of shape (F, n), C-ordered float32
        Receives the values.
    g, r : int
        First form and first row of the tile, which must lie inside the arrays.
    """
    return types.void(rows, forms, out, types.int64, types.int64), _emit_tile


def _emit_tile(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    rows, forms, out = (
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(signature.args[:3], args[:3], strict=True)
    )
    g, r = args[3:]
    columns, n = (builder.extract_value(rows.shape, axis) for axis in (0, 1))
    lines = [builder.add(g, ir.Constant(_SIZE, q)) for q in range(HEIGHT)]
    weights = [builder.gep(forms.data, [builder.mul(line, columns)]) for line in lines]
    before, loop = builder.basic_block, builder.append_basic_block("columns")
    after = builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    f = builder.phi(_SIZE)
    f.add_incoming(ir.Constant(_SIZE, 0), before)
    sums = [builder.phi(_VECTOR) for _ in range(2 * HEIGHT)]
    place = builder.add(builder.mul(f, n), r)
    pair = (place, builder.add(place, ir.Constant(_SIZE, LANES)))
    x = [builder.load(_vector_at(builder, rows.data, offset), align=4) for offset in pair]
    grown = []
    for q, weight in enumerate(weights):
        value = _spread_over_lanes(builder, builder.load(builder.gep(weight, [f])))
        for h in range(2):
            term = builder.fmul(x[h], value, flags=_REORDER)
            grown.append(builder.fadd(sums[2 * q + h], term, flags=_REORDER))
    for old, new in zip(sums, grown, strict=True):
        old.add_incoming(_ZEROS, before)
        old.add_incoming(new, loop)
    following = builder.add(f, ir.Constant(_SIZE, 1))
    f.add_incoming(following, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, columns), loop, after)
    builder.position_at_end(after)
    for q, line in enumerate(lines):
        start = builder.add(builder.mul(line, n), r)
        for h in range(2):
            half = builder.add(start, ir.Constant(_SIZE, h * LANES))
            builder.store(grown[2 * q + h], _vector_at(builder, out.data, half), align=4)
    return context.get_dummy_value()


@emitted
def least(typing: Any, values: Any) -> Any:
    """Return the minimum of a float32 array without NaN whose length is a multiple of `LANES`."""
    return types.float32(values), _emit_least


def _emit_least(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    values = context.make_array(signature.args[0])(context, builder, args[0])
    n = builder.extract_value(values.shape, 0)
    before, loop = builder.basic_block, builder.append_basic_block("values")
    after = builder.append_basic_block("reduced")
    builder.branch(loop)
    builder.position_at_end(loop)
    f, minimum = builder.phi(_SIZE), builder.phi(_VECTOR)
    here = builder.load(_vector_at(builder, values.data, f), align=4)
    lower = builder.select(builder.fcmp_ordered("<", here, minimum), here, minimum)
    following = builder.add(f, ir.Constant(_SIZE, LANES))
    for phi, start, step in (
        (f, ir.Constant(_SIZE, 0), following),
        (minimum, ir.Constant(_VECTOR, [float("inf")] * LANES), lower),
    ):
        phi.add_incoming(start, before)
        phi.add_incoming(step, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, n), loop, after)
    builder.position_at_end(after)
    kind = ir.FunctionType(ir.FloatType(), [_VECTOR])
    name = f"llvm.vector.reduce.fmin.v{LANES}f32"
    reduce = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.call(reduce, [lower], fastmath=("nnan", "nsz"))


@emitted
def prefetch(typing: Any, rows: Any, i: Any) -> Any:
    """Prefetch row i of a C-ordered float64 array into the processor's cache."""
    return types.void(rows, types.int64), _emit_fetch


def _emit_fetch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    rows = context.make_array(signature.args[0])(context, builder, args[0])
    columns = builder.extract_value(rows.shape, 1)
    start = builder.gep(rows.data, [builder.mul(args[1], columns)])
    place, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [place, flag, flag, flag])
    name = "llvm.prefetch.p0"
    ask = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    read, keep, data = (ir.Constant(flag, value) for value in (0, 3, 1))
    with cgutils.for_range_slice(
        builder, ir.Constant(_SIZE, 0), columns, ir.Constant(_SIZE, 8), _SIZE
    ) as (f, _):
        builder.call(ask, [builder.bitcast(builder.gep(start, [f]), place), read, keep, data])
    return context.get_dummy_value()
