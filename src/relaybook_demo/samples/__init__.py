"""The demo's sample traffic: what a tea shop and a few other programs send, by the official OpenAI SDK.

Needs the extra ``relaybook[demo]``; importing this package without it raises ImportError.
"""

from relaybook_demo.samples.traffic import send_samples

__all__ = ["send_samples"]
