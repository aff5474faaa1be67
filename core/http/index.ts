export {
  ACCESS_HEADER,
  ACCESS_PARAMETER,
  ACCESS_VARY,
  type AccessControl,
  accessHeaderOf,
  createAccessControl,
  hashOfKey,
  limitedBy,
  linkSignerFor,
  NO_ACCESS_KEY,
  type SignKey,
  signerFor,
} from './access.ts';
export {
  type ByteRange,
  decideRange,
  formatContentRange,
  formatRange,
  type PredictedRange,
  parseContentRange,
  parseLength,
  parseUnsatisfiedRange,
  predictRange,
} from './byte-range.ts';
export {
  clientAddress,
  clientOf,
  createClientNames,
  networkOf,
  type RequestAddress,
  readClient,
  trustedEntry,
} from './client-address.ts';
export { corsHeaders, isCrossSiteSubrequest, mergeVary, preflightHeaders } from './cors.ts';
export { digestOf, entityTag } from './digest.ts';
export { createKeyGuesses } from './key-guesses.ts';
export { JSON_TYPES, readWaitPreference, renderJson } from './negotiation.ts';
export { createOriginSecretCheck, ORIGIN_SECRET_HEADER } from './origin-secret.ts';
export { type Cookie, requestHeaders } from './request-headers.ts';
