"""Where the answers of a Lookup come from: lock file, cache and registries, each opened when it is first needed."""

from __future__ import annotations

from archfit.lookup.cache import LookupCache
from archfit.lookup.entries import OwnKeys
from archfit.lookup.store import MemoryStore, StoreTrouble
from archfit.options.settings import Operator, Options
from archfit.registry.lookup_context import LookupContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.lookup.lockfile import Lock
    from archfit.lookup.registry_lookup import RegistryLookup
    from archfit.lookup.store import Store
    from archfit.registry.credentials.keychain import Keychain
    from archfit.registry.routing.routes import Routes

_SHOWN_SERVERS = 10


class Sources:
    """lock: None takes the options' lock file. keychain: None is the operator's.

    warnings: sentences for the user. asked: what asks registries, None before the first question.
    """

    def __init__(
        self,
        operator: Operator,
        options: Options,
        context: LookupContext,
        lock: Lock | None,
        keychain: Keychain | None,
    ) -> None:
        self.warnings: list[str] = []
        self.asked: RegistryLookup | None = None
        self.lock = lock
        self.operator = operator
        self._options = options
        self.context = context
        self._keychain = keychain
        self._routes: Routes | None = None
        self._cache: LookupCache | None = None

    @property
    def silent(self) -> str:
        """The option that forbids to ask a registry, "" where one may be asked."""
        if self.operator.offline:
            return "--offline"
        return "--locked" if self.lock and self.lock.only else ""

    def cache(self) -> LookupCache:
        """The cache, opened with the lock file. Where it cannot be used, `warnings` says why.

        Raises InvalidLock, and UsageError for a file of the operator's that cannot be used.
        """
        if self._cache is None:
            if self.lock is None and self._options.lock_file:
                from archfit.lookup.lockfile import lock_of

                self.lock = lock_of(self._options)
            store, ttl = self._store(), self.operator.cache_ttl_seconds
            try:
                self._cache = LookupCache(store, self._keys(store), ttl, self.warnings.append)
            except BaseException:
                store.close()
                raise
        return self._cache

    def routes(self) -> Routes:
        """Where images are asked for."""
        from archfit.registry.routing.routes import Routes

        if self._routes is None:
            self._routes = Routes(self.operator)
        return self._routes

    def registries(self) -> RegistryLookup:
        """What asks registries."""
        if self.asked is None:
            from archfit.lookup.registry_lookup import RegistryLookup

            self.asked = RegistryLookup(
                self.operator,
                self.cache(),
                self._credentials(),
                self.routes(),
                self.context,
                warn=self.warnings.append,
            )
        return self.asked

    def not_asked(self) -> list[str]:
        """The warning about servers at private addresses that only images name, where there are some."""
        servers = sorted(self.asked.client.http.policy.private) if self.asked else []
        if not servers:
            return []
        shown = " ".join(f"--allow-host {server}" for server in servers[:_SHOWN_SERVERS])
        more = f", and {len(servers) - _SHOWN_SERVERS} more" if len(servers) > _SHOWN_SERVERS else ""
        return [f"no server at a private address is asked that only images name: to ask, add {shown}{more}"]

    def close(self) -> None:
        """Close the cache and the connections, and end the credential helpers that still run."""
        for source in (self._cache, self.asked, self._keychain):
            if source:
                source.close()

    def _store(self) -> Store:
        """The operator's; one in memory where none is needed, and where it cannot be used, with a warning."""
        if not self.operator.no_cache and not (self.lock and self.lock.only):
            from archfit.lookup.store.open import open_store

            context = self.context
            try:
                return open_store(
                    self.operator, context.environ, context.clock, context.deadline.left_for_cache
                )
            except StoreTrouble as trouble:
                self.warnings.append(f"{trouble}; this run goes on without it")
        return MemoryStore()

    def _keys(self, store: Store) -> OwnKeys:
        operator, secrets_of_others = self.operator, store.shared or self._keychain is not None
        if not (secrets_of_others or operator.mirrors or operator.hosts_dir or operator.registries_conf):
            return OwnKeys()
        from archfit.lookup.scoped_keys import ScopedKeys

        return ScopedKeys(self.routes(), self._credentials() if secrets_of_others else None)

    def _credentials(self) -> Keychain:
        from archfit.registry.credentials.keychain import Keychain

        if self._keychain is None:
            self._keychain = Keychain(self.operator.authfile, self.context.environ)
        self._keychain.left = self.context.deadline.left
        return self._keychain
