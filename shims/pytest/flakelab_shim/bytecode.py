def digest(code):
    import hashlib
    def one(c):
        if hasattr(c, "co_code"):
            return (c.co_code, tuple(one(x) for x in c.co_consts), c.co_names, c.co_varnames, c.co_freevars, c.co_cellvars, c.co_flags, c.co_argcount, getattr(c, "co_exceptiontable", b""))
        if isinstance(c, tuple):
            return tuple(one(x) for x in c)
        return (type(c).__name__, repr(c))
    return hashlib.sha256(repr(one(code)).encode()).hexdigest()[:32]
