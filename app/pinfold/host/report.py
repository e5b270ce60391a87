"""The doctor's report: every section, gathered."""

from pinfold import paths
from pinfold.adopt.foreign_list import files, tool_folders
from pinfold.host import doctor
from pinfold.host.app_context import AppContext, config_files
from pinfold.host.doctor import Finding, Section
from pinfold.host.sandbox import OFF
from pinfold.tools.sandbox.confine import find


async def report(ctx: AppContext) -> str:
    """What was found and what is missing, for people."""
    from pinfold.host.models import choice_of
    from pinfold.providers.local_setup import status

    choice = await choice_of(ctx)
    model = [
        Finding("chosen", choice.why, ok=choice.kind in ("endpoint", "embedded")),
        Finding("", choice.how_to_change),
    ]
    if info := choice.model:
        model.append(
            Finding("window", f"{info.context_window:,} tokens (from: {info.window_source})")
        )
    embedded = tuple(Finding(name, text, ok=ok) for name, ok, text in status())
    sessions = len(ctx.store.list())
    return doctor.as_text(
        [
            doctor.versions(),
            Section("Model", tuple(model)),
            Section("Embedded model", embedded),
            doctor.configuration(ctx.loaded, config_files(ctx.cwd)),
            doctor.storage(ctx.home, sessions),
            _foreign(),
            doctor.terminal(),
            _sandbox(ctx),
            doctor.programs(),
        ]
    )


def _sandbox(ctx: AppContext) -> Section:
    if not ctx.settings.sandbox.enabled:
        return Section("Sandbox", (Finding("", OFF),))
    found = find()
    lines = [Finding("commands", found.text, ok=found.kind is not None)]
    network = "allowed by [sandbox] network" if ctx.settings.sandbox.network else "none"
    if found.kind is not None:
        lines += [Finding("network", network)]
        lines += [Finding("writable", name) for name in ctx.settings.sandbox.writable]
    return Section("Sandbox", tuple(lines))


def _foreign() -> Section:
    lines = []
    for place in tool_folders():
        count = len(files(place))
        sessions = f"{count} session{'s' if count != 1 else ''}"
        lines.append(Finding(place.tool, f"{sessions} in {paths.shown(place.folder)}"))
    lines.append(Finding("", "List them, and continue one: pinfold adopt"))
    return Section("Other tools", tuple(lines))
