"""There are none. Django tells an application of ``migrate`` only when it has this module."""
