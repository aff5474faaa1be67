export { createCachedState, type ResourceState } from './cached-state.ts';
export type { EntryRequest, ResolveDeadline, ResolveEntry } from './entry-bounds.ts';
export { createAddressedExtractor, type OutgoingAddresses } from './outgoing-addresses.ts';
export { createRefresher, REFRESH_TIMEOUT_MS } from './refresh-resource.ts';
export { createResolveLimits } from './resolve-limits.ts';
export { createLinkResolver, type Resolved } from './resolve-link.ts';
