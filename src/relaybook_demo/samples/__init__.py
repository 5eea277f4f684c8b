"""Send the sample traffic of the demo, most of it with the official OpenAI SDK.

The sample traffic contains requests from a tea shop and a few other programs. This package requires the extra
``relaybook[demo]``. Without the extra, importing this package raises ImportError.
"""

from relaybook_demo.samples.traffic import send_samples

__all__ = ["send_samples"]
