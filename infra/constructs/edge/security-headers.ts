import headers from '../../../web/security-headers.json' with { type: 'json' };

const VALUES = Object.entries({ ...headers, 'Strict-Transport-Security': 'max-age=31536000' }).map(([name, value]) => [
  name.toLowerCase(),
  { value },
]);

/**
 * The source of a viewer-response function that sets the headers of the page, and HTTPS only. A response headers policy of the
 * stack's own would be in no flat-rate plan below Business.
 */
export const PAGE_HEADERS_SOURCE = `const HEADERS = ${JSON.stringify(Object.fromEntries(VALUES))};
function handler(event) {
  return Object.assign(event.response, { headers: Object.assign({}, event.response.headers, HEADERS) });
}
`;
