export type { Destination } from './address-guard.ts';
export { isPublicAddress } from './address-guard.ts';
export { type Lookup, receivedBytes, releaseBuffer } from './dial.ts';
export { EgressRefused, UpstreamError, type UpstreamReason } from './errors.ts';
export type { GuardedRequest } from './guarded-client.ts';
export { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
export { DIRECT, type OutgoingRoutes } from './outgoing-routes.ts';
export type { ProxySession, ProxySessionOptions } from './proxy-session.ts';
export { appendChunk, discardResponse, type GuardedResponse, hasPausedReader } from './response-body.ts';
