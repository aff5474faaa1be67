import assert from 'node:assert/strict';
import { operations } from '../../../core/api/index.ts';
import { type Check, type CheckGroup, expectHeader, expectProblem, expectStatus } from '../check.ts';

/** Of no site: the browser origins that an operator allows are unknown here. */
const FOREIGN_ORIGIN = 'https://verify.invalid';

const UNKNOWN_PATHS = [
  ...['/api', '/api/', '/api/New', '/api/App/unknown', '/api/Fetch', '/api/Stream', '/api/Stream/Media/'],
  ...['/api/Stream/Other/key', '/api/%ZZ', '/api/Stream/Media/..%2f..%2fetc%2fpasswd', `/api/${'k'.repeat(5_000)}`],
];

/** One path of each operation, without a link or a known key. */
const PATHS = operations.map((operation) => ({ ...operation, path: operation.path.replaceAll(/\{\w+\}/g, 'none') }));

const checks: readonly Check[] = [
  {
    title: 'negotiates the type of its JSON',
    async run(client) {
      for (const [accept, type] of [
        ['text/plain', 'text/plain'],
        ['text/plain;q=0.5, text/json;q=0.9', 'text/json'],
        ['text/html', 'application/json'],
      ] as const) {
        const response = await client.request('/api/App', { headers: { accept } });
        expectHeader(response, 'content-type', new RegExp(`^${type}; ?charset=utf-8$`), `Accept ${accept}`);
        expectHeader(response, 'vary', /\baccept\b/i, `Accept ${accept}`);
      }
    },
  },
  {
    title: 'matches paths in any case',
    async run(client) {
      for (const [path, status] of [
        ['/API/app', 200],
        ['/api/fetch/getresource', 400],
        ['/Api/STREAM/media/none', 404],
      ] as const)
        expectStatus(await client.request(path), status, path);
    },
  },
  {
    title: 'answers 404 for unknown paths, malformed and long ones included',
    async run(client) {
      for (const path of UNKNOWN_PATHS) expectProblem(await client.request(path), 404, path.slice(0, 60));
    },
  },
  {
    title: 'answers 405 for methods that an operation does not have',
    async run(client) {
      let refusedByEdge = 0;
      for (const { path, methods, servedBy } of PATHS) {
        for (const method of ['POST', 'DELETE', ...(methods.includes('HEAD') ? [] : ['HEAD'])]) {
          const response = await client.request(path, { method });
          // A CloudFront origin group, as in the profile hobby, has no other methods, and answers them itself.
          if (servedBy === 'stream-service' && response.status === 403) refusedByEdge += 1;
          else {
            expectStatus(response, 405, `${method} ${path}`);
            expectHeader(response, 'allow', /\bGET\b/, `${method} ${path}`);
          }
        }
      }
      return refusedByEdge > 0 ? `${refusedByEdge} answered 403 by CloudFront` : undefined;
    },
  },
  {
    title: 'answers preflights of cross-origin requests',
    async run(client) {
      for (const { path } of PATHS) {
        const headers = {
          origin: FOREIGN_ORIGIN,
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'range',
        };
        const response = await client.request(path, { method: 'OPTIONS', headers });
        assert.ok(response.status < 300, `OPTIONS ${path}: expected 2xx, received ${response.status}`);
        assert.equal(response.body.length, 0, `OPTIONS ${path}: bytes in the body`);
      }
    },
  },
  {
    title: 'lets only allowed origins read responses, and never with credentials',
    async run(client) {
      const response = await client.request('/api/App', { headers: { origin: FOREIGN_ORIGIN } });
      const allowed = response.headers['access-control-allow-origin'];
      assert.equal(response.headers['access-control-allow-credentials'], undefined, 'access-control-allow-credentials');
      if (allowed === undefined) return 'other origins may not';
      assert.ok(['*', FOREIGN_ORIGIN].includes(allowed), `access-control-allow-origin: ${allowed}`);
      return 'every origin may';
    },
  },
];

export const protocolChecks: CheckGroup = { name: 'protocol', checks };
