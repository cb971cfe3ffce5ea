"""A code object as a short text that is the same for the same behaviour, wherever it was written.

Counts: instructions, constants with their types, names, variables, flags, numbers of arguments, handlers of
exceptions. Does not: file, lines, columns, how deep the stack gets, and constants that no instruction loads.
Some versions compile code with other line breaks to other instructions; indentation, comments and place never
matter. `co_code` shows instructions as they were compiled, not as the interpreter specialised them since.
"""

import dis
import hashlib
import struct
import types

_CONSTANT = frozenset(dis.hasconst)
_EXTENDED = dis.EXTENDED_ARG
_VISIBLE = (
    "co_name",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
)


def digest(code):
    """Thirty-two hexadecimal digits."""
    return _code(code).hex()


def _hashed(*parts):
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        # Lengths keep ("ab", "c") and ("a", "bc") apart.
        whole.update(struct.pack("<Q", len(part)))
        whole.update(part)
    return whole.digest()


def _code(code):
    constants = code.co_consts
    parts = [_value(getattr(code, name)) for name in _VISIBLE]
    parts.append(code.co_code)
    parts.append(getattr(code, "co_exceptiontable", b""))
    # The docstring is no instruction's: functions take it from here.
    parts.append(_value(constants[0]) if constants and type(constants[0]) is str else b"")
    loaded = _loaded(code.co_code)
    if loaded and max(loaded) < len(constants):
        parts.extend(b"%d " % index + _value(constants[index]) for index in loaded)
    else:
        parts.extend(map(_value, constants))
    return _hashed(*parts)


def _loaded(instructions):
    """Indexes of the constants that are used, in order."""
    found = set()
    argument = 0
    for at in range(0, len(instructions) - 1, 2):
        operation = instructions[at]
        argument |= instructions[at + 1]
        if operation == _EXTENDED:
            argument <<= 8
            continue
        if operation in _CONSTANT:
            found.add(argument)
        argument = 0
    return sorted(found)


def _value(value):
    """Type and content: 1, True and 1.0 are equal and yet not the same, nor are 0.0 and -0.0; a nan does not even
    equal itself."""
    kind = type(value)
    name = kind.__name__.encode()
    if kind is types.CodeType:
        return name + _code(value)
    if kind is tuple:
        return name + _hashed(*map(_value, value))
    if kind is frozenset:
        return name + _hashed(*sorted(map(_value, value)))
    if kind is slice:
        return name + _hashed(*map(_value, (value.start, value.stop, value.step)))
    if kind is float:
        return name + struct.pack("<d", value)
    if kind is complex:
        return name + struct.pack("<dd", value.real, value.imag)
    if kind is str:
        return name + b" " + value.encode("utf-8", "surrogatepass")
    if kind is bytes:
        return name + b" " + value
    if kind is int:
        return name + b" %x" % value
    # None, True, False and Ellipsis are all that is left.
    return name + b" " + repr(value).encode()
