"""`open_device`: a device behind a Link, enabled or recovered."""

from os import PathLike
from pathlib import Path

from flashtrain.spec import ConfigError, FmsConfig, NodeTable
from flashtrain.spec import preset as named_preset
from flashtrain.spec.errors import require
from flashtrain.spec.streams import NODES, SINGLE_NODE, STORE_NODE, Codec

from .device import Device
from .errors import DeviceMismatch, ImageError
from .functional import FunctionalLink
from .image import FlashImage, image_configuration, open_image
from .link import Link, LinkFactory, link_of
from .wear import WearBudget, budget_of

DEFAULT_MEMORY_BYTES = 16 << 20
DEFAULT_QUEUE_ENTRIES = 64


def open_device(
    preset: str | FmsConfig | None = None,
    link: str | Link | LinkFactory = FunctionalLink,
    node: str | NodeTable | None = None,
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
    queue_entries: int = DEFAULT_QUEUE_ENTRIES,
    factory: bool | None = None,
    recover: bool = False,
    image: str | Path | None = None,
    wear_budget: WearBudget | None = None,
) -> Device:
    """Open a device and enable it: with all streams empty, or recovered. Use it in a `with` statement.

    - `preset`: a preset's name or a configuration; `small` by default for a Link made here.
    - `link`: an open Link, or a factory of one, such as a Link's class or its name in `LINKS`. An open Link
      keeps its configuration and memory, and the caller closes it; the device closes a Link made here.
    - `node`: the streams, or their name in `flashtrain.spec.streams.NODES`; "update" has the streams of an
      optimizer whose steps run on the dies, "store" that of :attr:`Device.catalog`. The default is the table
      of the image, "store" for a new image, and "single" without one.
    - `memory_bytes`: the size of the tensor buffer of a Link made here; `queue_entries`: of each queue.
    - `factory`: see :meth:`Device.enable`; by default true for a Link made here, whose flash is new.
    - `recover`: call :meth:`Device.recover` for the flash behind an open Link.
    - `image`: a file that keeps the flash of a Link made here (docs/image.md). If there is none, it is
      created with all streams empty. Otherwise the device is recovered from it, unless `factory` is False:
      then it is formatted. The default configuration is that of the file; with `recover` it has to exist.
    - `wear_budget`: days for which the flash has to last, and what happens otherwise (docs/wear.md);
      see :attr:`Device.wear_budget`.

    :class:`ConfigError` for values out of range; :class:`DeviceMismatch` when the device has another
    configuration; :class:`ImageError` for a file that is not an image of it.
    """
    require(factory is None or isinstance(factory, bool), "factory", factory, "True, False or None")
    require(isinstance(recover, bool), "recover", recover, "True or False")
    require(image is None or isinstance(image, str | PathLike), "image", image, "a path or None")
    budget_of(wear_budget)
    config = named_preset(preset) if isinstance(preset, str) else preset
    require(config is None or isinstance(config, FmsConfig), "preset", preset, "a name, an FmsConfig or None")
    link, table = link_of(link), None if node is None else _node_of(node)
    if isinstance(link, Link):
        if config is not None and config != link.config:
            raise DeviceMismatch(f"the Link is to a device {link.config.name!r}; expected {config.name!r}")
        require(image is None, "image", image, "None for an open Link")
        table = table or SINGLE_NODE
        _check_codecs(table, link.config)
        device = Device(link, table, queue_entries, owns_link=False)
        device.wear_budget = wear_budget
        return _enabled(device, factory or False, recover)
    if image is not None:
        config = config or image_configuration(image)
    else:
        require(not recover, "recover", recover, "False for a Link made here, whose flash is new")
        table = table or SINGLE_NODE
    config = config or named_preset("small")
    _check_memory(config, memory_bytes)
    if table is not None:
        _check_codecs(table, config)
    kept = None if image is None else _image(image, config, factory, recover)
    opened = None
    try:
        if table is None:
            table = (None if kept is None else kept.node) or STORE_NODE
            _check_codecs(table, config)
        opened = link(config, memory_bytes)
        if kept is not None:
            opened.use_image(kept)
            recover = recover or (not kept.new and factory is None)
        device = Device(opened, table, queue_entries, owns_link=True)
        device.wear_budget = wear_budget
        return _enabled(device, True if factory is None else factory, recover)
    except BaseException:
        if opened is not None:
            opened.close()
        if kept is not None:
            kept.close()
        raise


def _enabled(device: Device, factory: bool, recover: bool) -> Device:
    if recover:
        device.recover()
    else:
        device.enable(factory)
    return device


def _image(path: str | Path, config: FmsConfig, factory: bool | None, recover: bool) -> FlashImage:
    """The image of a device of this configuration, which is created if there is no file."""
    if recover and not Path(path).exists():
        raise ImageError(f"{path}: no such file; expected an image to recover from")
    image = open_image(path, config)
    if factory and not image.new:
        image.close()
        raise ConfigError(f"factory is True; expected False or None: {path} is not new")
    return image


def _node_of(node: object) -> NodeTable:
    if isinstance(node, NodeTable):
        return node
    if isinstance(node, str) and node in NODES:
        return NODES[node]
    raise ConfigError(f"node is {node!r}; expected a NodeTable, or one of {', '.join(NODES)}")


def _check_codecs(node: NodeTable, config: FmsConfig) -> None:
    for stream in node.streams:
        require(
            config.codec or stream.codec is Codec.RAW,
            f"node.streams[{stream.name!r}].codec", stream.codec.name,
            f"RAW, since configuration {config.name!r} has no codec",
        )  # fmt: skip


def _check_memory(config: FmsConfig, memory_bytes: int) -> None:
    page = config.geometry.page_bytes
    require(
        isinstance(memory_bytes, int) and 0 < memory_bytes <= 1 << config.address_bits
        and memory_bytes % page == 0,
        "memory_bytes", memory_bytes, f"a multiple of {page}, at most {1 << config.address_bits}",
    )  # fmt: skip
