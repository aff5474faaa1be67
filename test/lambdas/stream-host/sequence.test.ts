import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signRequest } from '../../../core/http/access-secrets.ts';
import type { Container } from '../../images/container.ts';
import { mediaKey, openResponse, resourceOf, videoTrack } from '../../stream-service/fixture.ts';
import { startUpstream, type Upstream } from '../../stream-service/source/upstream.ts';
import { bundleProgram } from '../../support/bundle-program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createDistribution, type View } from './distribution.ts';
import { STREAM_SERVICE, startHostProcess } from './host-process.ts';
import { type OnDemandFixture, startOnDemandFixture } from './on-demand-fixture.ts';

const MEDIA = `/api/stream/media/${mediaKey('video')}`;
/** As the edge sends it. */
const SENT = `/api/Stream/Media/${mediaKey('video')}`;
const NAME = 'ec2-192-0-2-1.compute-1.amazonaws.com';
/** Larger than all buffers between source and client. */
const FILE = Buffer.alloc(24 * 1024 * 1024, createHash('sha512').update('a film').digest());

const program = await bundleProgram(STREAM_SERVICE);
let upstream: Upstream;
let fixture: OnDemandFixture;
let hosts: Map<string, number>;
let clockOffsetFile: string;
let startedAt: number;
let processes: Container[];
let distribution: ReturnType<typeof createDistribution>;

beforeEach(async () => {
  upstream = await startUpstream();
  upstream.use((request, response) => {
    const [, first = '0', last] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
    const end = Math.min(last ? Number(last) : FILE.length - 1, FILE.length - 1);
    const range = `bytes ${first}-${end}/${FILE.length}`;
    response.writeHead(206, { 'content-range': range, etag: '"1"', 'content-type': 'video/webm' });
    response.end(FILE.subarray(Number(first), end + 1));
  });
  fixture = await startOnDemandFixture();
  clockOffsetFile = join(await temporaryFolder(), 'offset');
  startedAt = fixture.now();
  pass(0);
  hosts = new Map();
  processes = [];
  distribution = createDistribution({ fixture, hosts });
  await fixture.state.putResource(resourceOf([videoTrack({ url: `${upstream.origin}/film`, container: 'webm' })]));
});
afterEach(async () => {
  for (const host of processes) await host.end();
});

/** Advances the clocks of the functions, the edge and the hosts. */
function pass(seconds: number) {
  fixture.pass(seconds);
  writeFileSync(`${clockOffsetFile}.next`, String(fixture.now() - startedAt));
  renameSync(`${clockOffsetFile}.next`, clockOffsetFile);
}

const view = (headers: Record<string, string> = {}) => distribution.view(MEDIA, { headers });
const titled = ({ by, status, headers, body }: View) => ({
  by,
  status,
  title: JSON.parse(body.toString()).title,
  retryAfter: headers['retry-after'],
});
/** Seconds that ECS takes from the desired count to a running container: interface, image, start. */
const ECS_START_SECONDS = 40;

/** ECS starts the task that is wanted, as a process, which registers itself. */
async function comesUp(name = NAME, environment: Record<string, string> = {}) {
  expect(fixture.aws.service.desiredCount).toBe(1);
  const address = `02:${hosts.size}`;
  fixture.aws.names.set(address, name);
  const registered = fixture.nextEvent('serving');
  const { host, port } = await startHostProcess({
    program,
    table: fixture.table,
    source: upstream.origin.replace('http://', ''),
    environment: {
      CLOCK_OFFSET_FILE: clockOffsetFile,
      HOST_FUNCTION: 'wake',
      AWS_ENDPOINT_URL_LAMBDA: fixture.aws.endpoint,
      ECS_CONTAINER_METADATA_URI_V4: `${fixture.aws.endpoint}/metadata/${address}`,
      ...environment,
    },
  });
  processes.push(host);
  hosts.set(name, port);
  fixture.aws.service.runningCount = 1;
  await registered;
  return { host, port };
}

/** From no host to a registered host, through one request. */
async function awake(environment: Record<string, string> = {}) {
  await view();
  return comesUp(NAME, environment);
}

const secret = () => fixture.aws.store.get('host')?.split('|')[1] ?? '';

describe('the on-demand stream host', () => {
  it('starts for a stream, serves, renews its registration, and ends when idle', async () => {
    const cold = await Promise.all([view(), view(), view()]);
    for (const each of cold)
      expect(titled(each)).toMatchObject({ by: 'wake', status: 503, title: 'Starting the stream host' });
    expect(fixture.aws.service.desiredCount).toBe(1);
    expect(fixture.aws.store.size).toBe(0);

    const { host, port } = await comesUp();
    const whole = await view();
    expect(whole).toMatchObject({ by: NAME, status: 200 });
    expect(whole.body.equals(FILE)).toBe(true);
    const part = await view({ range: 'bytes=100-199' });
    expect(part).toMatchObject({ by: NAME, status: 206, body: FILE.subarray(100, 200) });
    const notFound = { type: '/problems/not-found', title: 'Resource Not Found', status: 404 };
    const [read = {}] = distribution.sent;
    const strangers = async (headers: Record<string, string>, path = SENT) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { range: 'bytes=0-9', ...headers },
      });
      return [answer.status, answer.status === 404 ? await answer.json() : undefined];
    };
    expect(await strangers({ 'x-reelay-origin': 'guess' })).toEqual([404, notFound]);
    // What is read on the way to the task serves for a minute, and for nothing else.
    expect(secret()).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(read)).not.toContain(secret());
    expect(await strangers(read)).toEqual([206, undefined]);
    expect(await strangers(read, SENT.replace('Media', 'Combined'))).toEqual([404, notFound]);

    pass(61);
    expect(await strangers(read)).toEqual([404, notFound]);
    const unknown = await distribution.view(MEDIA.replace(/.$/, '_'));
    expect(titled(unknown)).toMatchObject({ by: NAME, status: 404 });

    host.kill('SIGUSR2');
    expect(await host.ended).toBe(0);
    expect([fixture.aws.store.size, fixture.aws.service.desiredCount]).toEqual([0, 0]);
    fixture.aws.service.runningCount = 0;
    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Starting the stream host' });
    expect(fixture.aws.service.desiredCount).toBe(1);
  });

  it.each([10, ECS_START_SECONDS, 45, 90])(
    'sends the first byte within 5 s of its registration when ECS takes %d s, to a client that follows Retry-After',
    async (startSeconds) => {
      const wokenAt = fixture.now();
      const waited = () => (fixture.now() - wokenAt) / 1000;
      const waits: string[] = [];
      let answer = await view();
      while (answer.status === 503) {
        const { title, retryAfter = '' } = titled(answer);
        waits.push(`${title} ${retryAfter}`);
        pass(Number(retryAfter));
        if (waited() >= startSeconds && hosts.size === 0) await comesUp();
        answer = await view({ range: 'bytes=0-0' });
      }
      expect(answer).toMatchObject({ by: NAME, status: 206 });
      expect(waits[0]).toBe('Starting the stream host 25');
      expect(waited()).toBeLessThanOrEqual(Math.max(25, startSeconds + 5));
    },
  );

  it('answers for itself when it is full', async () => {
    const { port } = await awake({ MAX_STREAMS: '1' });
    const held = await openResponse(`http://127.0.0.1:${port}${MEDIA}`, {
      'x-reelay-origin': signRequest(secret(), { method: 'GET', path: MEDIA }, Math.floor(fixture.now() / 1000)),
    });
    expect(held.statusCode).toBe(200);
    expect(await view()).toMatchObject({ by: NAME, status: 503, headers: { 'retry-after': expect.anything() } });
    held.destroy();
  });

  it('drains when ECS replaces it: the new task is registered, and the end of the old one changes nothing', async () => {
    const SUCCESSOR = 'ec2-192-0-2-2.compute-1.amazonaws.com';
    const { host: old } = await awake();
    await comesUp(SUCCESSOR);
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: SUCCESSOR, status: 206 });
    old.kill('SIGTERM');
    expect(await old.ended).toBe(0);
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: SUCCESSOR, status: 206 });
    expect(fixture.aws.service.desiredCount).toBe(1);
  });

  it('ends its registration when it is stopped', async () => {
    const { host } = await awake();
    host.kill('SIGTERM');
    expect(await host.ended).toBe(0);
    expect([fixture.aws.store.size, fixture.aws.service.desiredCount]).toEqual([0, 1]);
  });

  it('is replaced by ECS after a crash; until then its address is asked, at most for as long as its registration', async () => {
    const { host } = await awake();
    host.kill('SIGKILL');
    await host.ended;
    expect(await view()).toMatchObject({ by: 'edge', status: 504 });
    const other = 'ec2-192-0-2-2.compute-1.amazonaws.com';
    await comesUp(other);
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: other, status: 206 });
    fixture.aws.service.runningCount = 0;
    pass(45 * 60);
    const asked = distribution.asked.length;
    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Starting the stream host' });
    expect(distribution.asked).toHaveLength(asked);
  });
});
