"""The client: addresses, keys that are never shown, connections, and the chat protocol."""
