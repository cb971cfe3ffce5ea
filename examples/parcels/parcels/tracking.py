"""Where a parcel is: generators, coroutines, a loop that mutants make endless."""

import asyncio


def stops(names):
    for name in names:
        if name:
            yield name


async def scan(code):
    await asyncio.sleep(0)
    return code.upper()


async def scans(codes):
    for code in codes:
        yield await scan(code)


async def all_scans(codes):
    return [code async for code in scans(codes)]


def days_left(hours):
    days = 0
    while hours > 0:
        hours -= 24
        days += 1
    return days
