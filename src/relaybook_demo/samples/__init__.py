"""Send the demo's sample traffic: requests of a tea shop and a few other programs, with the official OpenAI SDK.

Requires the extra ``relaybook[demo]``. Without it, importing this package raises ImportError.
"""

from relaybook_demo.samples.traffic import send_samples

__all__ = ["send_samples"]
