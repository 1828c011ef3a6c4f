"""How the tests start Chromium, and what they take away from its pages."""

CHROMIUM_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
    # Nothing but this machine has a name, so that a stray request fails at once and alike everywhere.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
# As in a private window of Firefox, where pages may not register one.
NO_SERVICE_WORKER = """if (globalThis.ServiceWorkerContainer)
    ServiceWorkerContainer.prototype.register = () => Promise.reject(new DOMException('not here', 'SecurityError'))"""
