import assert from 'node:assert/strict';
import { type Check, type CheckGroup, expectHeader, expectStatus } from '../check.ts';

const PAGES = ['/', '/status'];
const SCRIPT = /<script[^>]* src="(\/[^"]+)"/;

const checks: readonly Check[] = [
  {
    title: 'serves the page and its status page, with a content security policy',
    async run(client) {
      for (const path of PAGES) {
        const response = await client.request(path);
        expectStatus(response, 200, `GET ${path}`);
        expectHeader(response, 'content-type', /^text\/html/, `GET ${path}`);
        expectHeader(response, 'content-security-policy', /default-src 'none'/, `GET ${path}`);
        expectHeader(response, 'x-content-type-options', 'nosniff', `GET ${path}`);
      }
    },
  },
  {
    title: 'serves the script of the page, to be cached forever',
    async run(client) {
      const [, script] = SCRIPT.exec((await client.request('/')).body.toString()) ?? [];
      assert.ok(script, 'The page loads no script: it was deployed without the built page');
      const response = await client.request(script);
      expectStatus(response, 200, `GET ${script}`);
      expectHeader(response, 'content-type', /javascript/, `GET ${script}`);
      expectHeader(response, 'cache-control', /immutable/, `GET ${script}`);
    },
  },
];

export const pageChecks: CheckGroup = { name: 'page', checks };
