"""Objects by URL in streams behind NVMe over TCP: a file system of `fsspec`.

`filesystem` is what users of fsspec meet, `store` what it is made of, and `names` the log of the names. An
import of the package makes `flash://` known to fsspec, also where an installation from before has not.
"""

import fsspec

from .url import PROTOCOL

fsspec.register_implementation(
    PROTOCOL, "flashtrain.objects.filesystem.FlashFileSystem", clobber=True,
    errtxt="flash:// needs the extra `objects` of flashtrain",
)  # fmt: skip
