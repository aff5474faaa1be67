import assert from 'node:assert/strict';
import { operations } from '../../../core/api/index.ts';
import { type Check, type CheckGroup, expectProblem, jsonOf } from '../check.ts';
import type { Client } from '../client.ts';

const GET_RESOURCE = '/api/Fetch/GetResource';
/** As long as keys are, and of no resource: a digest of zeros. */
const UNKNOWN_KEY = 'A'.repeat(33);

const INVALID_LINKS: readonly string[] = [
  ...['', '?url=', '?url=%20', '?url=words', '?url=/relative', '?url=file:///etc/passwd', '?url=ytsearch:cats'],
  ...['?url=--exec=id', '?url=http://', '?url=%ZZ', `?url=http://example.invalid/${'x'.repeat(4_200)}`],
];
/** The first ones would hand out credentials of the instance. */
const PRIVATE_LINKS: readonly string[] = [
  ...['http://169.254.169.254/latest/meta-data/', 'http://169.254.170.2/v2/credentials', 'http://[fd00:ec2::254]/'],
  ...[
    'http://localhost/clip.mp4',
    'http://2130706433/clip.mp4',
    'http://10.0.0.1/clip.mp4',
    'http://[::ffff:127.0.0.1]/',
  ],
];

const resolve = (client: Client, link: string) => client.request(`${GET_RESOURCE}?url=${encodeURIComponent(link)}`);

const checks: readonly Check[] = [
  {
    title: 'answers 400 for missing and malformed links',
    async run(client) {
      for (const query of INVALID_LINKS)
        expectProblem(await client.request(GET_RESOURCE + query), 400, query.slice(0, 60));
    },
  },
  {
    title: 'answers 404 for a host that does not exist, without a detail',
    async run(client) {
      const response = await resolve(client, 'https://nowhere.invalid/video');
      expectProblem(response, 404, 'nowhere.invalid');
      assert.ok(!('detail' in Object(jsonOf(response, 'nowhere.invalid'))), 'detail in the body');
    },
  },
  {
    title: 'never requests private, loopback and metadata addresses',
    async run(client) {
      for (const link of PRIVATE_LINKS) expectProblem(await resolve(client, link), 404, link);
    },
  },
  {
    title: 'answers 404 for unknown keys, to GET and HEAD',
    async run(client) {
      for (const { path, servedBy } of operations) {
        if (servedBy !== 'stream-service') continue;
        const stream = path.replace('{key}', UNKNOWN_KEY).replace('{file}', 'media.mp4');
        expectProblem(await client.request(stream), 404, stream);
        const head = await client.request(stream, { method: 'HEAD' });
        assert.deepEqual([head.status, head.body.length], [404, 0], `HEAD ${stream}: status and bytes`);
      }
    },
  },
];

export const refusalChecks: CheckGroup = { name: 'refusals', checks };
