export { epochSeconds } from './assemble-resource.ts';
export { createCachedState, type ResourceState } from './cached-state.ts';
export { createAddressedExtractor, type OutgoingAddresses } from './outgoing-addresses.ts';
export { createPlaylists } from './playlists.ts';
export { findItem, refreshTracks } from './refresh-tracks.ts';
export { createRenewals, hasExpired } from './renewals.ts';
export { createResolveLimits } from './resolve-limits.ts';
export { createLinkResolver } from './resolve-link.ts';
