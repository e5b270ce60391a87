"""Says in a sentence what is wrong with settings, and what is allowed."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import inspect

from pinfold.closest import listed, nearest, shown, suggestion


def complaint(given: Mapping[str, Any], settings: type[msgspec.Struct]) -> str | None:
    """The first error in `given`, which comes from a file or is text; None if there is none."""
    return _of_struct(given, settings, ())


def _wrong(value: Any, kind: Any, path: tuple[str, ...]) -> str | None:
    """The error of the value at `path`, which should be of this type."""
    info = inspect.type_info(kind)
    match info:
        case inspect.StructType(cls=struct):
            within = partial(_of_struct, struct=struct, path=path)
        case inspect.DictType(value_type=inspect.StructType(cls=struct)):
            within = partial(_of_each, struct=struct, path=path)
        case inspect.VarTupleType(item_type=inspect.StructType(cls=struct)):
            return _of_list(value, struct, path)
        case _:
            return _of_value(value, kind, info, path)
    if not isinstance(value, Mapping):
        said = f"{_named(path)} must be a section, [{_named(path)}], not {_quoted(value)}"
        return f"{said}{_key_meant(info, path)}"
    return within(value)


def _of_each(
    given: Mapping[str, Any], struct: type[msgspec.Struct], path: tuple[str, ...]
) -> str | None:
    wrong = (_wrong(value, struct, (*path, name)) for name, value in given.items())
    return next(filter(None, wrong), None)


def _of_list(value: Any, struct: type[msgspec.Struct], path: tuple[str, ...]) -> str | None:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        return (
            f"{_named(path)} must be a list of sections, [[{_named(path)}]], not {_quoted(value)}"
        )
    return next(filter(None, (_of_struct(one, struct, path) for one in value)), None)


def _of_struct(
    given: Mapping[str, Any], struct: type[msgspec.Struct], path: tuple[str, ...]
) -> str | None:
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    for name, value in given.items():
        if name not in fields:
            return _unknown(name, fields, path)
        if wrong := _wrong(value, fields[name].type, (*path, name)):
            return wrong
    missing = [name for name, field in fields.items() if field.required and name not in given]
    return f"{_named(path)} needs {' and '.join(missing)}" if missing else None


def _key_meant(info: inspect.Type, path: tuple[str, ...]) -> str:
    """The main key of a section, which is its first, and what that allows."""
    if not isinstance(info, inspect.StructType):
        return ""
    first = msgspec.structs.fields(info.cls)[0]
    allowed = _described(inspect.type_info(first.type))[2]
    return f"; did you mean {_named((*path, first.name))}? allowed: {allowed}"


def _unknown(name: str, known: Mapping[str, object], path: tuple[str, ...]) -> str:
    if not path:
        hint = suggestion(name, known)
        return f"{shown(name)} is not a section of settings{hint}"
    near = nearest(name, known)
    hint = f"did you mean {_named((*path, near))}?" if near else f"there are {listed(known)}"
    return f"{_named((*path, name))} is not a setting; {hint}"


def _of_value(value: Any, kind: Any, info: inspect.Type, path: tuple[str, ...]) -> str | None:
    try:
        msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        name, fits, allowed = _described(info)
        must = "can't be" if fits(value) else f"must be {name}, not"
        return f"{_named(path)} {must} {_quoted(value)}; allowed: {allowed}"
    return None


def _described(info: inspect.Type) -> tuple[str, Callable[[Any], bool], str]:
    """What a type is called, a test for values of its kind, and what is allowed."""
    match info:
        case inspect.UnionType(types=types):
            return _described(next(option for option in types if option != inspect.NoneType()))
        case inspect.LiteralType(values=values):
            return "a word", lambda value: isinstance(value, str), ", ".join(map(str, values))
        case inspect.IntType(ge=at_least):
            return "a number", _is_number, f"whole numbers from {at_least}"
        case inspect.FloatType():
            return "a number", _is_number, f"numbers{_range(info)}"
        case inspect.BoolType():
            return "true or false", lambda _: False, "true, false"
        case inspect.VarTupleType(item_type=item):
            return (
                "a list",
                lambda value: isinstance(value, list),
                f"a list of {_described(item)[2]}",
            )
        case inspect.StrType(pattern=str(pattern)):
            return "text", lambda value: isinstance(value, str), f"text that fits {pattern}"
        case inspect.DictType(value_type=item):
            return (
                "a table",
                lambda value: isinstance(value, Mapping),
                f"{_described(item)[2]} by name",
            )
        case _:
            return "text", lambda _: False, "text in quotes"


def _range(info: inspect.FloatType) -> str:
    least = f" above {info.gt:g}" if info.gt is not None else f" from {info.ge:g}"
    return least + (f" to {info.le:g}" if info.le is not None else "")


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, bool)


def _named(path: tuple[str, ...]) -> str:
    return ".".join(map(shown, path))


def _quoted(value: Any) -> str:
    return shown(str(value).lower() if isinstance(value, bool) else repr(value))
