export { createCachedState, type ResourceState } from './cached-state.ts';
export { createAddressedExtractor, type OutgoingAddresses } from './outgoing-addresses.ts';
export { createRefresher, REFRESH_TIMEOUT_MS } from './refresh-resource.ts';
export type { EntryRequest, ResolveDeadline, ResolveEntry } from './resolve-entries.ts';
export { createResolveLimits } from './resolve-limits.ts';
export { createLinkResolver, type Resolved } from './resolve-link.ts';
