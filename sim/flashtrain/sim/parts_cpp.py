"""A cut component as a C++ class over the models of its parts (`parts.h` says how it works)."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from flashtrain.sim.model_facts import ModelFacts
from flashtrain.sim.parts import Apart, Cut, Part, Wire, bare_name, kind_of, kind_of_module

_C_FUNCTIONS = ("abort",)
"""Names of ports that Verilator changes because C has functions of these names."""


def member(name: str) -> str:
    """The member of a model's root that stands for port `name`."""
    return f"__SYM__{name}" if name in _C_FUNCTIONS else name.replace("__", "___05F")


def prefix_of(part: Part) -> str:
    """The name of the class of a part's model."""
    return f"V{part.module}"


class PartsClass:
    """The text of class `name`, which holds many instances of the component.

    `restless` parts never sleep. Those of components in `prompt` are looked at after each edge, if they have
    no large memories. Of those in `busy` an output is named: if it is low after an edge, nothing changes
    before an input does. `silent` inputs of the whole wake nobody, until `rouse`; its `polled` outputs, by
    patterns of their names, are no news, and those of `reports`, by name, are other news. Of a part in
    `enables` the port that is named says whether an edge changes anything. A port in `guards`, by part and
    name, counts only while one of others of its part is high, which come from where it comes from. So does an
    output, with outputs. Ports of guards are named with or without what the cut has put before the names of
    their signals.
    """

    def __init__(
        self,
        name: str,
        cut: Cut,
        facts: Mapping[str, ModelFacts],
        *,
        restless: tuple[str, ...] = (),
        prompt: tuple[type | Apart, ...] = (),
        busy: Mapping[type | Apart, str] | None = None,
        silent: tuple[str, ...] = (),
        polled: tuple[str, ...] = (),
        reports: Mapping[str, tuple[str, ...]] | None = None,
        enables: Mapping[str, str] | None = None,
        guards: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
    ) -> None:
        self._name, self._cut, self._facts = name, cut, facts
        self._restless, self._silent = restless, silent
        kinds = {kind_of(part) for part in prompt}
        outputs = {kind_of(part): output for part, output in (busy or {}).items()}
        self._prompt = {
            part.name
            for part in cut.parts
            if kind_of_module(part.module) in kinds and not facts[part.module].memories
        }
        self._reports = {port: report for report, ports in (reports or {}).items() for port in ports}
        for wire in cut.wires:
            for part, port in wire.to:
                if not part and any(fnmatchcase(port, pattern) for pattern in polled):
                    self._reports[port] = ""
        self._enables, self._guards = enables or {}, self._found(guards or {})
        self._parts = {part.name: part for part in cut.parts}
        self._busy = {
            wire.part: wire.port
            for wire in cut.wires
            if wire.part
            and bare_name(wire.port) == outputs.get(kind_of_module(self._parts[wire.part].module))
        }

    def _found(
        self, guards: Mapping[tuple[str, str], tuple[str, ...]]
    ) -> dict[tuple[str, str], tuple[str, ...]]:
        """The same with the ports that there are, by their own names."""
        ends = {end for wire in self._cut.wires for end in ((wire.part, wire.port), *wire.to)}
        names: dict[tuple[str, str], list[str]] = {}
        for part, port in sorted(ends):
            for name in {port, bare_name(port)}:
                names.setdefault((part, name), []).append(port)
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for (part, name), others in guards.items():
            there = tuple(port for other in others for port in names.get((part, other), []))
            # What leads nowhere is not among them.
            found |= {(part, port): there or others for port in names.get((part, name), [])}
        return found

    @property
    def _kinds_of_news(self) -> list[str]:
        return ["news", *sorted(set(self._reports.values()) - {""})]

    @property
    def unheard(self) -> set[tuple[str, str]]:
        """Modules and their ports that wake nobody."""
        return {
            (self._parts[part].module, port)
            for wire in self._cut.wires
            if not wire.part and wire.port in self._silent
            for part, port in wire.to
        }

    def lines(self) -> Iterator[str]:
        name, parts = self._name, self._cut.parts
        clocked = [part for part in parts if self._facts[part.module].clocked and not part.gated]
        initialisers = ", ".join(f"{part.name}{{context, count}}" for part in parts)
        yield f"class {name} {{"
        yield "  public:"
        yield f"    {name}(VerilatedContext& context, int count) : {initialisers} {{}}"
        yield "    // All parts follow their inputs. Instances that drive anything new since the last time."
        yield "    uint64_t settle() {"
        yield f"        while ({_any(parts, 'dirty')}) {{"
        for part in parts:
            yield from (f"            {line}" for line in self._settle(part))
        yield "        }"
        yield "        return std::exchange(news_, 0);"
        yield "    }"
        for report in self._kinds_of_news[1:]:
            yield f"    uint64_t new_{report}() {{ return std::exchange({report}_, 0); }}"
        yield "    // The clock of these instances rises; settled before."
        yield "    void edge(uint64_t clock, uint64_t instances = ~uint64_t{0}) {"
        for part in clocked:
            yield from (f"        {line}" for line in self._edge(part))
        for part in clocked:
            moved = f"flashtrain::Each({part.name}.moved)"
            yield f"        for (const int i : {moved}) carry_from_{part.name}(i);"
        yield "    }"
        yield "    template <typename Action>"
        yield "    void for_each_model(Action action) {"
        for part in parts:
            yield f"        {part.name}.for_each_model(action);"
            yield f"        {part.name}.wake_all({'true' if part in clocked else 'false'});"
        yield from (f"        {news}_ = {parts[0].name}.moved;" for news in self._kinds_of_news)
        yield "    }"
        yield from (line for wire in self._cut.wires if not wire.part for line in self._input(wire))
        heard = sorted({part for wire in self._cut.wires if wire.port in self._silent for part, _ in wire.to})
        yield "    // What silent inputs say is heard now."
        yield "    void rouse([[maybe_unused]] int i) {"
        yield from (f"        {part}.soil(i, true);" for part in heard)
        yield "    }"
        yield from (line for wire in self._cut.wires if wire.part for line in self._outputs(wire))
        yield ""
        yield "  private:"
        for part in parts:
            yield f"    void carry_from_{part.name}(int i) {{"
            yield from (f"        {line}" for line in self._carry(part))
            yield "    }"
        yield from (f"    uint64_t {news}_ = 0;" for news in self._kinds_of_news)
        yield from (f"    flashtrain::Part<{prefix_of(part)}> {part.name};" for part in parts)
        yield "};"

    def _settle(self, part: Part) -> Iterator[str]:
        name = part.name
        if part.gated or not self._facts[part.module].clocked:
            yield f"for (const int i : flashtrain::Each({name}.follow())) {{"
            yield f"    {name}.model(i).eval();"
            yield f"    carry_from_{name}(i);"
            yield "}"
        elif name in self._enables:
            yield f"for (const int i : flashtrain::Each({name}.follow())) {{"
            yield f"    flashtrain::settle({name}[i]);"
            yield f"    {self._heed(name)}"
            yield f"    carry_from_{name}(i);"
            yield "}"
        elif self._facts[part.module].has_input_logic:
            yield f"for (const int i : flashtrain::Each({name}.wake_dirty())) {{"
            yield f"    flashtrain::settle({name}[i]);"
            yield f"    carry_from_{name}(i);"
            yield "}"
        else:
            yield f"{name}.wake_dirty();"

    def _edge(self, part: Part) -> Iterator[str]:
        name = part.name
        yield f"{name}.moved = {name}.awake & instances;"
        if name in self._enables or name in self._busy:
            yield f"for (const int i : flashtrain::Each({name}.moved)) {{"
            yield f"    flashtrain::rising_edge({name}[i]);"
            yield f"    {self._heed(name)}"
            yield "}"
            return
        yield f"for (const int i : flashtrain::Each({name}.moved)) flashtrain::rising_edge({name}[i]);"
        if name in self._prompt:
            yield f"{name}.rest_at_once();"
        elif name not in self._restless:
            yield f"{name}.rest(clock);"

    def _heed(self, name: str) -> str:
        if name in self._busy:
            return f"{name}.heed(i, {name}[i].{member(self._busy[name])});"
        return f"{name}.heed(i, {name}[i].rst | {name}[i].{member(self._enables[name])});"

    def _carry(self, part: Part) -> Iterator[str]:
        """To the parts that a part drives, and what the whole drives."""
        wires = {member(wire.port): wire for wire in self._cut.wires if wire.part == part.name}
        guarded = {
            port
            for port, wire in wires.items()
            if not self._guards.keys().isdisjoint([(part.name, wire.port), *wire.to])
        }
        for number, word in enumerate(self._facts[part.module].words):
            there = [port for port in word if port in wires and port not in guarded]
            lines = list(self._carry_wires(part, [wires.pop(port) for port in there]))
            if lines:
                yield f"if ({part.name}.news<{number}>(i)) {{"
                yield from (f"    {line}" for line in lines)
                yield "}"
        # Wide ones; and guarded ones, which may be new since they counted last.
        yield from self._carry_wires(part, list(wires.values()))

    def _carry_wires(self, part: Part, wires: list[Wire]) -> Iterator[str]:
        carried: dict[str, list[tuple[str, str]]] = {}
        for wire in wires:
            for to, port in wire.to:
                carried.setdefault(to, []).append((port, wire.port))
        for news in sorted({self._reports.get(port, "news") for port, _from in carried.pop("", [])} - {""}):
            yield f"{news}_ |= uint64_t{{1}} << i;"
        for to, ports in sorted(carried.items()):
            yield "{"
            yield f"    const auto& from = {part.name}[i];"
            yield f"    auto& to = {to}[i];"
            ports.sort(key=lambda wire: (to, wire[0]) in self._guards)
            kinds = {port: self._consequence(to, port) for port, _from in ports}
            for kind in sorted(set(kinds.values()) - {""}):
                yield f"    bool {kind} = false;"
            for port, source in ports:
                values = f"to.{member(port)}, from.{member(source)}"
                test = self._test("to", to, port) or self._test("from", part.name, source)
                heard = f"{kinds[port]} |= " if kinds[port] else ""
                yield f"    {test}{heard}flashtrain::carry({values});"
            for kind in sorted(set(kinds.values()) - {""}):
                yield f"    {to}.{kind}(i, {kind});"
            yield "}"

    def _test(self, model: str, part: str, port: str) -> str:
        guards = self._guards.get((part, port), ())
        return f"if ({' | '.join(f'{model}.{member(guard)}' for guard in guards)}) " if guards else ""

    def _consequence(self, part: str, port: str) -> str:
        """What a change of this input means.

        What registers take at the edge needs no settling before, and means nothing to a part that says itself
        when there is such an edge.
        """
        facts = self._facts[self._parts[part].module]
        sampled = facts.clocked and not self._parts[part].gated and member(port) not in facts.follows_inputs
        if sampled and part in self._enables:
            return ""
        return "stir" if sampled else "soil"

    def _input(self, wire: Wire) -> Iterator[str]:
        yield "    template <typename Value>"
        yield f"    void {wire.port}([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {{"
        for to, port in wire.to:
            target = f"{to}[i].{member(port)}"
            test = self._test(f"{to}[i]", to, port)
            if wire.port in self._silent:
                yield f"        {target} = value;"
            else:
                heard = self._consequence(to, port)
                carried = f"flashtrain::carry({target}, value)"
                yield f"        {test}{f'{to}.{heard}(i, {carried})' if heard else carried};"
        yield "    }"

    def _outputs(self, wire: Wire) -> Iterator[str]:
        for to, port in wire.to:
            if not to:
                source = f"{wire.part}[i].{member(wire.port)}"
                yield f"    const auto& {port}(int i = 0) const {{ return {source}; }}"


def _any(parts: Iterable[Part], mask: str) -> str:
    """The instances of which the mask of one of these parts has the bit."""
    return " | ".join(f"{part.name}.{mask}" for part in parts) or "uint64_t{0}"
