import assert from 'node:assert/strict';
import { openApiDocument } from '../../../core/api/index.ts';
import { type Check, type CheckGroup, expectHeader, expectStatus, jsonOf } from '../check.ts';
import type { Client, Response } from '../client.ts';
import { createResponseValidator } from '../response-validator.ts';

const validator = createResponseValidator(openApiDocument);

/** The body of a successful response, valid by the API description. @throws AssertionError */
export function expectSuccess(response: Response, path: string, subject = `GET ${path}`): unknown {
  expectStatus(response, 200, subject);
  expectHeader(response, 'content-type', /^application\/json; ?charset=utf-8$/, subject);
  const value = jsonOf(response, subject);
  const schema = validator.schemaOf('GET', path, 200);
  const error = schema && validator.findError(schema, value);
  assert.equal(error, undefined, `${subject}: ${error}`);
  return value;
}

/** What `/api/App` answers. */
export interface InstanceState {
  readonly version: string | null;
  readonly isHealthy: boolean;
  readonly environment: string | null;
  readonly maintenance?: string | null;
}

export const readInstance = async (client: Client): Promise<InstanceState> =>
  expectSuccess(await client.request('/api/App'), '/api/App') as InstanceState;

const checks: readonly Check[] = [
  {
    title: 'reports its version, that it is healthy, and no maintenance',
    async run(client) {
      const { version, isHealthy, maintenance, environment } = await readInstance(client);
      assert.match(String(version), /^v\d+\.\d+\.\d+/, 'version');
      assert.equal(isHealthy, true, 'isHealthy');
      assert.equal(maintenance ?? null, null, 'maintenance');
      return `${version}, ${environment}`;
    },
  },
  {
    title: 'names the tools it runs in X-Tools',
    async run(client) {
      const response = await client.request('/api/App');
      expectHeader(response, 'x-tools', /yt-dlp="[^"]+"/, 'GET /api/App');
      return response.headers['x-tools'];
    },
  },
  {
    title: 'has a badge of its request count, with the number in X-Request-Count',
    async run(client) {
      const response = await client.request('/api/App/requests');
      const { message } = expectSuccess(response, '/api/App/requests') as { message: string };
      expectHeader(response, 'x-request-count', message.replaceAll(',', ''), 'GET /api/App/requests');
    },
  },
  {
    title: 'answers HEAD with the headers of GET and no body',
    async run(client) {
      const [get, head] = [await client.request('/api/App'), await client.request('/api/App', { method: 'HEAD' })];
      expectStatus(head, 200, 'HEAD /api/App');
      assert.equal(head.body.length, 0, 'bytes in the body of HEAD');
      expectHeader(head, 'content-type', get.headers['content-type'], 'HEAD /api/App');
    },
  },
  {
    title: 'marks its JSON as not to be cached or sniffed',
    async run(client) {
      const response = await client.request('/api/App');
      expectHeader(response, 'cache-control', 'no-store', 'GET /api/App');
      expectHeader(response, 'x-content-type-options', 'nosniff', 'GET /api/App');
    },
  },
  {
    title: 'describes the operations of this version in OpenAPI',
    async run(client) {
      const path = '/swagger/v1/swagger.json';
      const response = await client.request(path);
      expectStatus(response, 200, `GET ${path}`);
      const { paths = {} } = Object(jsonOf(response, `GET ${path}`)) as { paths?: object };
      assert.deepEqual(Object.keys(paths).sort(), Object.keys(openApiDocument.paths).sort(), 'paths');
    },
  },
];

export const instanceChecks: CheckGroup = { name: 'instance', checks };
