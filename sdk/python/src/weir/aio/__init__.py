"""The client, producer and consumer for asyncio; the package ``weir.generated`` is generated from this one."""
