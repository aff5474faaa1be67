import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../../infra/build/bundle.ts';
import { mediaKey, resourceOf, videoTrack } from '../../stream-service/fixture.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { eventOf } from '../fakes.ts';
import { startOnDemandFixture } from './on-demand-fixture.ts';

const run = promisify(execFile);
const FUNCTIONS = ['wake', 'origin-secret'];
const RUNNER = join(import.meta.dirname, 'run-function.mjs');

const dir = await temporaryFolder();
await bundle({ outDir: dir, only: FUNCTIONS });
const fixture = await startOnDemandFixture();
await fixture.state.putResource(resourceOf([videoTrack()]));

/** Runs a deployed bundle with the environment variables of the stack. */
async function invoke(name: string, event: unknown, change: Readonly<Record<string, string>> = {}) {
  const env = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL: fixture.aws.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: fixture.table.endpoint,
    TABLE_NAME: fixture.table.name,
    CLUSTER: 'stream',
    SERVICE: 'on-demand',
    SECURITY_GROUP: 'sg-1',
    KEY_VALUE_STORE_ARN: fixture.aws.storeArn,
    CORS_ALLOWED_ORIGINS: 'https://page.example',
    ...change,
  };
  const file = join(dir, 'functions', name, 'index.mjs');
  const { stdout } = await run(process.execPath, [RUNNER, file, JSON.stringify(event)], { env });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

describe('the bundled functions of the on-demand stream host', () => {
  it('start a host and register it while it runs', async () => {
    const path = `/api/Stream/Media/${mediaKey('video')}`;
    const woken = await invoke('wake', eventOf(path, { headers: { origin: 'https://page.example' } }));
    expect(woken).toMatchObject({
      statusCode: 503,
      headers: { 'retry-after': '25', 'access-control-allow-origin': 'https://page.example' },
    });
    expect(await invoke('wake', { kind: 'ahead' })).toEqual({ host: 'starting' });
    expect(await invoke('wake', eventOf('/api/Stream/Media/nothing'))).toMatchObject({ statusCode: 404 });
    expect(fixture.aws.service.desiredCount).toBe(1);

    fixture.aws.names.set('02:01', 'ec2-192-0-2-1.compute-1.amazonaws.com');
    const secret = 'a-secret';
    const registered = await invoke('wake', { kind: 'serving', macAddress: '02:01', secret });
    expect(registered).toEqual({ host: 'registered', version: expect.any(String) });
    expect(fixture.aws.store.get('host')).toMatch(/^ec2-192-0-2-1\.compute-1\.amazonaws\.com\|a-secret\|\d+$/);
    expect(await invoke('wake', { kind: 'leaving', secret, version: registered.version, isIdle: true })).toEqual({
      host: 'left',
    });
    expect([fixture.aws.store.size, fixture.aws.service.desiredCount]).toEqual([0, 0]);
  });

  it('take credentials from where ECS has them for its tasks, without any in the environment', async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      response.end(
        JSON.stringify({ AccessKeyId: 'a', SecretAccessKey: 's', Token: 't', Expiration: '2099-01-01T00:00:00Z' }),
      );
    });
    const { url } = closeAfterwards(await listen(server));
    const none = {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/role`,
    };
    expect(await invoke('wake', { kind: 'ahead' }, none)).toMatchObject({ host: expect.any(String) });
    expect(requests).toBe(1);
  });

  it.each(FUNCTIONS)('%s names the missing setting', async (name) => {
    await expect(invoke(name, {}, { TABLE_NAME: '' })).rejects.toThrow('TABLE_NAME must be set');
  });
});
