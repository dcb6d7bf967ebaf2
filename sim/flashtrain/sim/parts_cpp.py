"""A cut component as a C++ class over the models of its parts (`parts.h` says how it works)."""

from collections.abc import Iterator, Mapping

from flashtrain.sim.model_facts import ModelFacts
from flashtrain.sim.parts import Cut, Part, Wire

_C_FUNCTIONS = ("abort",)
"""Names of ports that Verilator changes because C has functions of these names."""


def member(name: str) -> str:
    """The member of a model's class that stands for port `name`."""
    return f"__SYM__{name}" if name in _C_FUNCTIONS else name.replace("__", "___05F")


def prefix_of(part: Part) -> str:
    """The name of the class of a part's model."""
    return f"V{part.module}"


class PartsClass:
    """The text of class `name`.

    `restless` parts never sleep; `silent` inputs of the whole wake nobody; `settle` does not report changes
    of its `polled` outputs.
    """

    def __init__(
        self,
        name: str,
        cut: Cut,
        facts: Mapping[str, ModelFacts],
        *,
        restless: tuple[str, ...] = (),
        silent: tuple[str, ...] = (),
        polled: tuple[str, ...] = (),
    ) -> None:
        self._name, self._cut, self._facts = name, cut, facts
        self._restless, self._silent, self._polled = restless, silent, polled
        self._numbers = {part.name: number for number, part in enumerate(cut.parts)}
        self._parts = {part.name: part for part in cut.parts}

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
        yield f"class {name} {{"
        yield "  public:"
        initialisers = ", ".join(f"{part.name}{{context}}" for part in parts)
        yield f"    explicit {name}(VerilatedContext& context) : {initialisers} {{}}"
        yield "    // All parts follow their inputs. True if what the whole drives may have changed."
        yield "    bool settle() {"
        yield "        const uint32_t before = moved_ | dirty_;"
        yield from self._switch("dirty_", parts, lambda part: self._settle(part))
        yield "        return (before | awake_) & kAnswering;"
        yield "    }"
        yield "    // The clock rises; settled before."
        yield "    void edge(uint64_t clock) {"
        yield "        moved_ = awake_;"
        yield from self._switch("moved_", clocked, lambda part: self._edge(part), copy=True)
        yield from self._switch("moved_", clocked, lambda part: [f"carry_from_{part.name}();"], copy=True)
        yield "    }"
        yield "    // Whether what comes from registers may have changed at the last edge."
        yield "    bool moved() const { return moved_ & kAnswering; }"
        yield "    template <typename Action>"
        yield "    void for_each_model(Action action) {"
        yield from (f"        action({part.name}.model);" for part in parts)
        yield "        dirty_ = moved_ = kAll, awake_ = kClocked;"
        yield "    }"
        yield from (line for wire in self._cut.wires if not wire.part for line in self._input(wire))
        yield from (line for wire in self._cut.wires if wire.part for line in self._outputs(wire))
        yield ""
        yield "  private:"
        for part in parts:
            yield f"    void carry_from_{part.name}() {{"
            yield from (f"        {line}" for line in self._carry(part, following=False))
            yield "    }"
            yield f"    void carry_following_{part.name}() {{"
            yield from (f"        {line}" for line in self._carry(part, following=True))
            yield "    }"
        yield from (f"    flashtrain::Part<{prefix_of(part)}> {part.name};" for part in parts)
        masks = {"kAll": parts, "kClocked": clocked, "kAnswering": self._answering()}
        for mask, members in masks.items():
            bits = sum(self._bit(part.name) for part in members)
            yield f"    static constexpr uint32_t {mask} = {bits:#x};"
        yield "    uint32_t dirty_ = kAll, awake_ = kClocked, moved_ = kAll;  // a bit for each part"
        yield "};"

    def _answering(self) -> list[Part]:
        """Parts that drive outputs of the whole."""
        return [
            part
            for part in self._cut.parts
            if any(
                wire.part == part.name and not to and port not in self._polled
                for wire in self._cut.wires
                for to, port in wire.to
            )
        ]

    def _switch(self, mask, parts, body, *, copy: bool = False) -> Iterator[str]:
        """Do `body` for each part whose bit is set; without `copy` this takes the bits from the mask."""
        if copy:
            yield f"        for (uint32_t left = {mask}; left; left &= left - 1) {{"
            yield "            switch (__builtin_ctz(left)) {"
        else:
            yield f"        while ({mask}) {{"
            yield f"            const int part = __builtin_ctz({mask});"
            yield f"            {mask} &= {mask} - 1;"
            yield "            switch (part) {"
        for part in parts:
            yield f"                case {self._numbers[part.name]}:"
            yield from (f"                    {line}" for line in body(part))
            yield "                    break;"
        yield "            }"
        yield "        }"

    def _settle(self, part: Part) -> Iterator[str]:
        if part.gated or not self._facts[part.module].clocked:
            yield f"{part.name}.model.eval();"
            yield f"carry_from_{part.name}();"
            return
        yield f"{part.name}.wake();"
        yield f"awake_ |= {self._bit(part.name):#x};"
        if self._facts[part.module].has_input_logic:
            yield f"flashtrain::settle(*{part.name}.model.rootp);"
            yield f"carry_following_{part.name}();"

    def _edge(self, part: Part) -> Iterator[str]:
        yield f"flashtrain::rising_edge(*{part.name}.model.rootp);"
        if part.name not in self._restless:
            yield f"if ({part.name}.still(clock)) awake_ &= ~{self._bit(part.name):#x}u;"

    def _carry(self, part: Part, *, following: bool) -> Iterator[str]:
        """To the parts that a part drives: all of it, or only what follows its inputs."""
        follows = self._facts[part.module].follows_inputs
        for wire in self._cut.wires:
            if wire.part != part.name or (following and member(wire.port) not in follows):
                continue
            source = f"{part.name}.model.{member(wire.port)}"
            for to, port in wire.to:
                if to:
                    yield self._carry_to(to, port, source)

    def _carry_to(self, to: str, port: str, source: str) -> str:
        target = f"{to}.model.{member(port)}"
        return f"if (flashtrain::carry({target}, {source})) dirty_ |= {self._bit(to):#x};"

    def _bit(self, part: str) -> int:
        return 1 << self._numbers[part]

    def _input(self, wire: Wire) -> Iterator[str]:
        yield "    template <typename Value>"
        yield f"    void {wire.port}([[maybe_unused]] const Value& value) {{"
        for to, port in wire.to:
            if wire.port in self._silent:
                yield f"        {to}.model.{member(port)} = value;"
            else:
                yield f"        {self._carry_to(to, port, 'value')}"
        yield "    }"

    def _outputs(self, wire: Wire) -> Iterator[str]:
        for to, port in wire.to:
            if not to:
                source = f"{wire.part}.model.{member(wire.port)}"
                yield f"    const auto& {port}() const {{ return {source}; }}"
