export { createCachedState, type ResourceState } from './cached-state.ts';
export type { EntryRequest, ResolveEntry, ResolveOptions } from './entry-bounds.ts';
export { createExtract, type OutgoingAddresses } from './extract.ts';
export { createRefresher, REFRESH_TIMEOUT_MS } from './refresh-resource.ts';
export { createResolveLimits } from './resolve-limits.ts';
export { createLinkResolver, type LinkResolverOptions, type Resolved } from './resolve-link.ts';
