"""What a netCDF-4 file holds, by libnetcdf itself: for tests, as the system's
Python has no reader. read(path) is {group: {variable: (dimensions, values)}},
values flat; attribute(path, group, name) the text of a group's attribute, "" if
it has none."""
import ctypes
import ctypes.util

lib = ctypes.CDLL(ctypes.util.find_library("netcdf") or "libnetcdf.so.19")
NAME, DIMS = 257, 1024


def ask(name, *args):
    code = getattr(lib, name)(*args)
    assert code == 0, (name, code)


def text(buffer):
    return buffer.value.decode()


def variable(group, number):
    name, kind = ctypes.create_string_buffer(NAME), ctypes.c_int()
    n, dims = ctypes.c_int(), (ctypes.c_int * DIMS)()
    ask("nc_inq_var", group, number, name, ctypes.byref(kind), ctypes.byref(n),
        dims, None)
    shape, length = {}, 1
    for d in dims[:n.value]:
        label, size = ctypes.create_string_buffer(NAME), ctypes.c_size_t()
        ask("nc_inq_dim", group, d, label, ctypes.byref(size))
        shape[text(label)] = size.value
        length *= size.value
    if kind.value == 12:  # NC_STRING
        strings = (ctypes.c_char_p * length)()
        ask("nc_get_var_string", group, number, strings)
        return text(name), (shape, [s.decode() for s in strings])
    values = (ctypes.c_double * max(length, 1))()
    ask("nc_get_var_double", group, number, values)
    return text(name), (shape, list(values)[:length])


def group(number):
    n = ctypes.c_int()
    ask("nc_inq_varids", number, ctypes.byref(n), None)
    ids = (ctypes.c_int * max(n.value, 1))()
    ask("nc_inq_varids", number, ctypes.byref(n), ids)
    return dict(variable(number, i) for i in ids[:n.value])


def read(path):
    root, n = ctypes.c_int(), ctypes.c_int()
    ask("nc_open", path.encode(), 0, ctypes.byref(root))
    ask("nc_inq_grps", root, ctypes.byref(n), None)
    ids = (ctypes.c_int * max(n.value, 1))()
    ask("nc_inq_grps", root, ctypes.byref(n), ids)
    out = {}
    for i in ids[:n.value]:
        name = ctypes.create_string_buffer(NAME)
        ask("nc_inq_grpname", i, name)
        out[text(name)] = group(i)
    ask("nc_close", root)
    return out


def attribute(path, group_name, name):
    root, at, length = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    ask("nc_open", path.encode(), 0, ctypes.byref(root))
    ask("nc_inq_grp_ncid", root, group_name.encode(), ctypes.byref(at))
    value = b""
    if lib.nc_inq_attlen(at, -1, name.encode(), ctypes.byref(length)) == 0:
        buffer = ctypes.create_string_buffer(length.value + 1)
        ask("nc_get_att_text", at, -1, name.encode(), buffer)
        value = buffer.value
    ask("nc_close", root)
    return value.decode()
