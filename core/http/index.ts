export { type ByteRange, contentRange, decideRange, likelyStart } from './byte-range.ts';
export { parseContentRange, unsatisfiedTotal } from './content-range.ts';
export { corsHeaders, joinVary, preflightHeaders } from './cors.ts';
export { JSON_TYPES, renderJson } from './negotiation.ts';
export { createOriginCheck, ORIGIN_HEADER } from './origin-secret.ts';
export { type Cookie, requestHeaders } from './request-headers.ts';
