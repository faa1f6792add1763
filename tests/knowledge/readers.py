"""The processes that read documents just now."""

import psutil


def readers(worker: int | None = None) -> list[psutil.Process]:
    """Of one process, by its number, or of this one."""
    children = psutil.Process(worker).children(recursive=True)
    return [child for child in children if "knowledge.conversion.child" in child.cmdline()]
