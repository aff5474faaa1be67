import { compileFunction } from 'node:vm';
import { expect, it } from 'vitest';
import { PAGE_HEADERS_SOURCE } from '../../infra/constructs/edge/edge-distribution.ts';
import headers from '../../web/security-headers.json' with { type: 'json' };

it('a viewer-response function sets the headers of the page, and HTTPS only, over those of the bucket', () => {
  const handler = compileFunction(`${PAGE_HEADERS_SOURCE}; return handler;`)();
  const response = { statusCode: 200, headers: { etag: { value: '"1"' }, 'x-frame-options': { value: 'ALLOWALL' } } };
  const ofPage = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), { value }]);
  expect(ofPage.length).toBeGreaterThan(4);
  expect(handler({ response })).toEqual({
    statusCode: 200,
    headers: {
      etag: { value: '"1"' },
      'strict-transport-security': { value: 'max-age=31536000' },
      ...Object.fromEntries(ofPage),
    },
  });
});
