export type { Destination } from './address-guard.ts';
export { isPublicAddress } from './address-guard.ts';
export type { Lookup } from './dial.ts';
export { EgressRefused, UpstreamError, type UpstreamReason } from './errors.ts';
export type { ProxySession, ProxySessionOptions } from './forward-proxy.ts';
export type { GuardedRequest } from './guarded-client.ts';
export { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
export { DIRECT, type OutgoingRoutes } from './outgoing-routes.ts';
export {
  appendChunk,
  discardResponse,
  type GuardedResponse,
  generatedStream,
  hasPausedReader,
} from './response-body.ts';
export { receivedBytes, releaseBuffer } from './socket.ts';
