"""A cut component as a C++ class over the models of its parts (`parts.h`)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from flashtrain.sim.partition.edge_enable import EDGE_ENABLE
from flashtrain.sim.partition.model_facts import ModelFacts
from flashtrain.sim.partition.options import FittedPlan
from flashtrain.sim.partition.split import Cut, Part, Wire

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

    `plan` claims what the parts do (`Plan`). `silent` inputs have an effect only at `apply_silent_inputs`.
    """

    def __init__(self, name: str, cut: Cut, facts: Mapping[str, ModelFacts], plan: FittedPlan) -> None:
        self._name, self._cut, self._facts = name, cut, facts
        self._parts = {part.name: part for part in cut.parts}
        self._restless, self._silent = plan.restless, plan.silent
        self._prompt = {part for part in plan.prompt if not facts[self._parts[part].module].memories}
        self._busy, self._enables = plan.busy, plan.enables
        self._reports, self._guards, self._observed = plan.reports, plan.guards, plan.observed

    @property
    def _masks(self) -> list[str]:
        return ["changed", *sorted(set(self._reports.values()) - {""})]

    @property
    def silent_ports(self) -> set[tuple[str, str]]:
        """Modules and their ports whose changes wake no part."""
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
        yield "    // All parts follow their inputs. Returns the instances with changed outputs."
        yield "    uint64_t settle() {"
        yield f"        while ({_any(parts, 'dirty')}) {{"
        for part in parts:
            yield from (f"            {line}" for line in self._settle(part))
        yield "        }"
        yield "        return std::exchange(changed_, 0);"
        yield "    }"
        for report in self._masks[1:]:
            yield f"    uint64_t changed_{report}() {{ return std::exchange({report}_, 0); }}"
        yield "    // The instances in which the next edge may change something."
        yield f"    uint64_t awake() const {{ return {_any(clocked, 'awake')}; }}"
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
        yield from (f"        {mask}_ = {parts[0].name}.moved;" for mask in self._masks)
        yield "    }"
        yield from (line for wire in self._cut.wires if not wire.part for line in self._input(wire))
        silent = sorted(
            {part for wire in self._cut.wires if wire.port in self._silent for part, _ in wire.to}
        )
        yield "    // Silent inputs have an effect now."
        yield "    void apply_silent_inputs([[maybe_unused]] int i) {"
        yield from (f"        {part}.mark_input_changed(i, true);" for part in silent)
        yield "    }"
        yield from (line for wire in self._cut.wires if wire.part for line in self._outputs(wire))
        for (part, port), called in self._observed.items():
            source = f"{part}[i].{member(port)}"
            yield f"    const auto& observed_{part}_{called}(int i = 0) const {{ return {source}; }}"
        yield ""
        yield "  private:"
        for part in parts:
            yield f"    void carry_from_{part.name}(int i) {{"
            yield from (f"        {line}" for line in self._carry(part))
            yield "    }"
        yield from (f"    uint64_t {mask}_ = 0;" for mask in self._masks)
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
            yield f"    {self._set_awake(name)}"
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
            yield f"    {self._set_awake(name)}"
            yield "}"
            return
        yield f"for (const int i : flashtrain::Each({name}.moved)) flashtrain::rising_edge({name}[i]);"
        if name in self._prompt:
            yield f"{name}.compare_after_edge();"
        elif name not in self._restless:
            yield f"{name}.compare_in_intervals(clock);"

    def _set_awake(self, name: str) -> str:
        if name in self._busy:
            return f"{name}.set_awake(i, {name}[i].{member(self._busy[name])});"
        return f"{name}.set_awake(i, {name}[i].rst | {name}[i].{member(EDGE_ENABLE)});"

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
                yield f"if ({part.name}.word_changed(i, {number})) {{"
                yield from (f"    {line}" for line in lines)
                yield "}"
        # Wide ones; and guarded ones, which may have changed while their guards were low.
        yield from self._carry_wires(part, list(wires.values()))
        # Guarded ones of other parts, whose guards may have risen here.
        for wire in self._cut.wires:
            late = tuple(to for to in wire.to if self._guard_rises(part, wire, to))
            if late:
                yield from self._carry_wires(self._parts[wire.part], [replace(wire, to=late)])

    def _guard_rises(self, part: Part, wire: Wire, to: tuple[str, str]) -> bool:
        """Whether `part` drives a guard of this port, and another part drives the port."""
        return wire.part not in ("", part.name) and any(
            (to[0], guard) in guarding.to
            for guard in self._guards.get(to, ())
            for guarding in self._cut.wires
            if guarding.part == part.name
        )

    def _carry_wires(self, part: Part, wires: list[Wire]) -> Iterator[str]:
        carried: dict[str, list[tuple[str, str]]] = {}
        for wire in wires:
            for to, port in wire.to:
                carried.setdefault(to, []).append((port, wire.port))
        for mask in sorted(
            {self._reports.get(port, "changed") for port, _from in carried.pop("", [])} - {""}
        ):
            yield f"{mask}_ |= uint64_t{{1}} << i;"
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
                noted = f"{kinds[port]} |= " if kinds[port] else ""
                yield f"    {test}{noted}flashtrain::carry({values});"
            for kind in sorted(set(kinds.values()) - {""}):
                yield f"    {to}.{kind}(i, {kind});"
            yield "}"

    def _test(self, model: str, part: str, port: str) -> str:
        guards = self._guards.get((part, port), ())
        return f"if ({' | '.join(f'{model}.{member(guard)}' for guard in guards)}) " if guards else ""

    def _consequence(self, part: str, port: str) -> str:
        """The function of `Part` for a change of this input, if any.

        An input that only registers read needs no settling. It has no effect on the schedule of a part with
        an edge enable.
        """
        facts = self._facts[self._parts[part].module]
        sampled = facts.clocked and not self._parts[part].gated and member(port) not in facts.follows_inputs
        if sampled and part in self._enables:
            return ""
        return "wake_if_changed" if sampled else "mark_input_changed"

    def _input(self, wire: Wire) -> Iterator[str]:
        yield "    template <typename Value>"
        yield f"    void {wire.port}([[maybe_unused]] const Value& value, [[maybe_unused]] int i = 0) {{"
        for to, port in wire.to:
            target = f"{to}[i].{member(port)}"
            test = self._test(f"{to}[i]", to, port)
            if wire.port in self._silent:
                yield f"        {target} = value;"
            else:
                noted = self._consequence(to, port)
                carried = f"flashtrain::carry({target}, value)"
                yield f"        {test}{f'{to}.{noted}(i, {carried})' if noted else carried};"
        yield "    }"

    def _outputs(self, wire: Wire) -> Iterator[str]:
        for to, port in wire.to:
            if not to:
                source = f"{wire.part}[i].{member(wire.port)}"
                yield f"    const auto& {port}(int i = 0) const {{ return {source}; }}"


def _any(parts: Iterable[Part], mask: str) -> str:
    """The instances of which the mask of one of these parts has the bit."""
    return " | ".join(f"{part.name}.{mask}" for part in parts) or "uint64_t{0}"
