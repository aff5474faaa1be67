export { type ByteRange, contentRange, decideRange, predictRangeStart } from './byte-range.ts';
export { parseContentRange, unsatisfiedTotal } from './content-range.ts';
export { corsHeaders, mergeVary, preflightHeaders } from './cors.ts';
export { JSON_TYPES, renderJson } from './negotiation.ts';
export { createOriginSecretCheck, ORIGIN_SECRET_HEADER } from './origin-secret.ts';
export { type Cookie, requestHeaders } from './request-headers.ts';
