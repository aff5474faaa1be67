import { createHash, createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { NotFound } from '../../../core/errors/errors.ts';
import type { Resolver } from '../../../core/resolve/index.ts';
import { keyOf } from '../../../core/state/keys.ts';
import type { Resource } from '../../../core/state/resource.ts';
import type { State } from '../../../core/state/state.ts';
import type { OpenSource, Source } from '../../../stream-service/source/source.ts';
import { REGION, useMoto } from '../../support/moto.ts';
import { sendRequest } from '../../support/request.ts';
import { answerSegments, segmentOf, startSegmentsService, VIDEO_ID } from '../../support/segments-service.ts';
import { openTemporaryState } from '../../support/temporary-state.ts';
import { failingSource, renditionOf, resourceOf, startService, trackOf, until } from '../fixture.ts';
import { bytesOf } from '../http/archive-fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { usePairMedia } from '../outputs/layout/pair-fixture.ts';
import { startS3Gateway } from './s3-gateway.ts';
import { startWebDav } from './webdav-server.ts';

const KEY = createHash('sha256').update('first-key-0123456789').digest('hex');
const OTHER = createHash('sha256').update('second-key-0123456789').digest('hex');
const LINK = 'https://site.example/watch';
const LIST = 'https://site.example/list';
const BUCKET = 'videos';
const NAME = 'Someone - A clip.mp4';
/** Two parts of 8 MiB, and a third one. */
const LARGE = bytesOf(1, 20 * 1024 * 1024);
const SMALL = bytesOf(2, 100_000);

interface Report {
  readonly id: string;
  readonly state: string;
  readonly total: number;
  readonly completed: number;
  readonly skipped: number;
  readonly bytes: number;
  readonly failed: readonly { readonly number: number; readonly type: string }[];
  readonly problem?: { readonly type: string; readonly detail: string };
}

const media = await usePairMedia();
const moto = useMoto();
const gateway = await startS3Gateway(() => moto.endpoint);
const webDav = await startWebDav();
let s3: S3Client;
beforeEach(async () => {
  await moto.reset();
  gateway.calls.length = 0;
  gateway.intercept = () => undefined;
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  s3 = new S3Client({ region: REGION, endpoint: moto.endpoint, forcePathStyle: true, credentials });
  onTestFinished(() => s3.destroy());
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration: { LocationConstraint: REGION } }));
});

const toS3 = (more: object = {}) => ({
  ...{ kind: 's3', endpoint: gateway.endpoint, region: REGION, bucket: BUCKET },
  ...{ accessKeyId: 'test', secretAccessKey: 'a secret of S3', ...more },
});
const objects = async () => {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET }));
  return Contents.map(({ Key }) => Key);
};
const uploads = async () =>
  (await s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))).Uploads?.map(({ Key }) => Key) ?? [];
const object = async (Key: string) => {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};
const isEqual = (a: Buffer, b: Buffer) => a.equals(b);

interface Item {
  readonly title?: string;
  readonly source?: Source | OpenSource;
  readonly bytes?: Buffer;
  readonly traits?: Partial<Resource>;
}

/** A service with the items of a list, of which a single one is the item of `LINK`. */
async function start(
  items: readonly Item[],
  {
    state: shared,
    allow = [],
    sponsorblockUrl,
    ...more
  }: {
    state?: State;
    allow?: readonly string[];
    sponsorblockUrl?: string;
    maxDeliveries?: number;
    stallTimeoutMs?: number;
  } = {},
) {
  const table = shared ? undefined : await openTemporaryState();
  const state = shared ?? (table?.state as State);
  const resources: Resource[] = items.map(({ title = 'A clip', bytes = SMALL, traits }, index) => {
    const track = trackOf(`file-${index}`, { sizeIsExact: true, sizeBytes: bytes.length });
    return resourceOf([track], { id: `r${index}`.padEnd(22, '_'), title, ...traits });
  });
  for (const resource of resources) await state.putResource({ ...resource, expiresAt: 2e9 });
  const sources = Object.fromEntries(
    items.map(({ source, bytes = SMALL }, index) => [`file-${index}`, source ?? fileSource(bytes)]),
  );
  const resolve: Resolver['resolve'] = async (link) => {
    const [first] = resources;
    if (link === LINK && first) return { type: 'Media', resource: first };
    if (link !== LIST) throw new NotFound('Gone');
    const entries = resources.map(({ id, title, author }, index) => ({
      entry: { url: `${LIST}/${index}`, title, author, coverUrl: null, resourceId: id },
    }));
    return { type: 'PlayList', title: 'A list', author: null, coverUrl: null, items: entries } as never;
  };
  const egress = createEgress({ allow: [gateway.host, webDav.host, ...allow] });
  const logged: unknown[] = [];
  const note = (...line: unknown[]) => void logged.push(line);
  const service = await startService((id) => resources.find((one) => one.id === id), sources, {
    resolve,
    ...(sponsorblockUrl && { sponsorblockUrl, request: egress.request }),
    log: { info: note, warn: note, error: note },
    deliveries: {
      ...{ egress, state, secrets: [KEY, OTHER], owner: 'service', maxDeliveries: 2, pauseMs: 1 },
      ...more,
    },
  });
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await service.close();
    await egress.close();
    await table?.close();
  };
  onTestFinished(close);
  const request = (path: string, method: string, body?: unknown, headers: Record<string, string> = {}) =>
    sendRequest(service.url + path, {
      method,
      headers: {
        'x-reelay-access': KEY,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const deliver = async (order: object) => {
    const response = await request('/api/Deliver', 'POST', order);
    expect(response.status, String(response.body)).toBe(202);
    const { id, events } = JSON.parse(String(response.body)) as { id: string; events: string };
    expect([events, response.headers.location]).toEqual([`/api/Deliver/${id}`, `/api/Deliver/${id}`]);
    return id;
  };
  /** The reports of a delivery until its end. */
  const follow = async (id: string): Promise<Report[]> => {
    const response = await request(`/api/Deliver/${id}`, 'GET');
    expect([response.status, response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    return [...String(response.body).matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Report);
  };
  const end = async (id: string) => (await follow(id)).at(-1);
  return { ...service, close, state, logged, request, deliver, follow, end };
}

describe('a delivery to S3', () => {
  it('stores a file in parts, byte for byte, and does not send again what is there', async () => {
    const { deliver, end, logged } = await start([{ bytes: LARGE }]);
    const order = { url: LINK, to: toS3({ prefix: 'a/b c' }) };
    const report = await end(await deliver(order));
    expect(report).toMatchObject({
      state: 'done',
      total: 1,
      completed: 1,
      skipped: 0,
      bytes: LARGE.length,
      failed: [],
    });
    expect(await objects()).toEqual([`a/b c/${NAME}`]);
    expect(isEqual(await object(`a/b c/${NAME}`), LARGE)).toBe(true);
    expect(gateway.calls).toEqual(['HEAD', 'POST uploads', 'PUT 1', 'PUT 2', 'PUT 3', 'POST uploadId']);
    expect(await end(await deliver(order))).toMatchObject({ state: 'done', completed: 0, skipped: 1, bytes: 0 });
    expect(gateway.calls.at(-1)).toBe('HEAD');
    expect(JSON.stringify(logged)).not.toContain('a secret of S3');
  });

  it('repeats a part that is refused for the moment, that the connection breaks in, or that stalls', async () => {
    const { deliver, end } = await start([{ bytes: LARGE }], { stallTimeoutMs: 3000 });
    const failures: ((response: Parameters<typeof gateway.intercept>[1]) => void)[] = [
      (response) => void response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'),
      (response) => void response.destroy(),
    ];
    let stalls = 1;
    gateway.intercept = async (call, response) => {
      if (call !== 'PUT 2') return;
      const fail = failures.shift();
      if (fail) return fail(response);
      if (stalls-- > 0) await new Promise((closed) => response.once('close', closed));
    };
    expect(await end(await deliver({ url: LINK, to: toS3() }))).toMatchObject({ state: 'done', bytes: LARGE.length });
    expect(isEqual(await object(NAME), LARGE)).toBe(true);
    expect(gateway.calls.filter((call) => call.startsWith('PUT'))).toEqual([
      'PUT 1',
      ...Array(4).fill('PUT 2'),
      'PUT 3',
    ]);
  });

  it('fails with the reason of a storage that refuses, and leaves nothing behind', async () => {
    const { deliver, end } = await start([{}], { allow: ['127.0.0.1:9'] });
    const missing = await end(await deliver({ url: LINK, to: toS3({ bucket: 'no-such-bucket' }) }));
    expect(missing).toMatchObject({
      state: 'failed',
      completed: 0,
      problem: { type: '/problems/destination-refused' },
    });
    expect(missing?.problem?.detail).toBe('The storage answered 404 NoSuchBucket.');
    gateway.intercept = (call, response) => {
      if (call.startsWith('PUT')) response.writeHead(500).end('<Error><Code>InternalError</Code></Error>');
    };
    const failing = await end(await deliver({ url: LINK, to: toS3() }));
    expect(failing).toMatchObject({ state: 'failed', problem: { type: '/problems/destination-failed' } });
    expect(gateway.calls.filter((call) => call === 'PUT 1')).toHaveLength(6);
    expect([await uploads(), await objects()]).toEqual([[], []]);
    const closed = await end(await deliver({ url: LINK, to: toS3({ endpoint: 'http://127.0.0.1:9' }) }));
    expect(closed?.problem).toMatchObject({ type: '/problems/destination-failed', detail: 'The connection failed.' });
    const hidden = await end(await deliver({ url: LINK, to: toS3({ endpoint: 'http://127.0.0.1:10' }) }));
    expect(hidden?.problem?.type).toBe('/problems/private-address');
  });

  it.each([
    'chapter=2&tags=true&audio=original',
    'mark=sponsor&skip=intro',
    'start=1&end=3.5&format=m4a',
    'bitrate=128&format=mp3',
  ])('stores by %s what Media sends, under its name', async (query) => {
    const segments = await startSegmentsService(answerSegments(segmentOf(1, 2), segmentOf(5, 6, 'intro')));
    const bytes = await readFile(media.pathOf('ladder/both-360.mp4'));
    const chapters = [
      { title: 'One', startSeconds: 0 },
      { title: 'Two', startSeconds: 4 },
    ];
    const origin = { url: LINK, extractor: 'Youtube', entryId: VIDEO_ID };
    const traits = { origin, details: { chapters }, durationSeconds: 8 };
    const options = { allow: [segments.host], sponsorblockUrl: segments.url };
    const { deliver, end, request } = await start([{ bytes, traits }], options);
    const key = keyOf('r0'.padEnd(22, '_'), renditionOf(['file-0']).id);
    const sent = await request(`/api/Stream/Media/${key}?${query}`, 'GET');
    expect([sent.status, sent.status === 200 ? '' : String(sent.body)]).toEqual([200, '']);
    const [, name = ''] = /filename\*=UTF-8''(.*)$/.exec(sent.headers['content-disposition'] ?? '') ?? [];
    const order = { url: LINK, to: toS3(), ...Object.fromEntries(new URLSearchParams(query)) };
    expect(await end(await deliver(order))).toMatchObject({ state: 'done', completed: 1, bytes: sent.body.length });
    expect(await objects()).toEqual([decodeURIComponent(name)]);
    expect(isEqual(await object(decodeURIComponent(name)), sent.body)).toBe(true);
  });

  it('continues in the next process after the parts that are stored', async () => {
    const table = await openTemporaryState();
    onTestFinished(table.close);
    const source = failingSource(fileSource(LARGE), 17 * 1024 * 1024);
    const first = await start([{ bytes: LARGE, source }], { state: table.state });
    const id = await first.deliver({ url: LINK, to: toS3() });
    await until(() => gateway.calls.includes('PUT 2'));
    await first.drain();
    await first.close();
    source.fail();
    expect(gateway.calls).not.toContain('POST uploadId');
    expect(JSON.stringify(await table.state.getDelivery(Number(id[0])))).not.toContain('a secret of S3');
    const second = await start([{ bytes: LARGE }], { state: table.state });
    expect(await second.end(id)).toMatchObject({ id, state: 'done', completed: 1, bytes: LARGE.length });
    expect(isEqual(await object(NAME), LARGE)).toBe(true);
    expect(gateway.calls.filter((call) => call.startsWith('PUT'))).toEqual(['PUT 1', 'PUT 2', 'PUT 3']);
    expect(await table.state.getDelivery(Number(id[0]))).not.toHaveProperty('sealed');
  });

  it('starts over when the source has another file meanwhile', async () => {
    const table = await openTemporaryState();
    onTestFinished(table.close);
    const source = failingSource(fileSource(LARGE), 17 * 1024 * 1024);
    const first = await start([{ bytes: LARGE, source }], { state: table.state });
    const id = await first.deliver({ url: LINK, to: toS3() });
    await until(() => gateway.calls.includes('PUT 2'));
    await first.drain();
    await first.close();
    source.fail();
    const changed = bytesOf(3, LARGE.length - 1);
    const second = await start([{ bytes: changed }], { state: table.state });
    expect(await second.end(id)).toMatchObject({ state: 'done', bytes: changed.length });
    expect(isEqual(await object(NAME), changed)).toBe(true);
    expect(await uploads()).toEqual([]);
  });

  it('is cancelled without an upload left behind', async () => {
    const source = failingSource(fileSource(LARGE), 9 * 1024 * 1024);
    const { deliver, follow, request, connections } = await start([{ bytes: LARGE, source }]);
    const id = await deliver({ url: LINK, to: toS3() });
    const reports = follow(id);
    await until(() => gateway.calls.includes('PUT 1'));
    expect((await request(`/api/Deliver/${id}`, 'DELETE')).status).toBe(204);
    expect((await reports).at(-1)).toMatchObject({ state: 'cancelled', completed: 0 });
    expect([await uploads(), await objects()]).toEqual([[], []]);
    expect((await request(`/api/Deliver/${id}`, 'DELETE')).status).toBe(204);
    source.fail();
    await until(() => connections() === 0);
  });
});

describe('a delivery of a list', () => {
  it('stores what can be read under the names of an archive, and reports the rest', async () => {
    const broken: OpenSource = async () => {
      throw new NotFound('Gone', { reason: 'gone' });
    };
    const { deliver, end } = await start([
      { title: 'One' },
      { title: 'Two', source: broken },
      { title: 'Three' },
      { title: 'Four' },
    ]);
    const report = await end(await deliver({ url: LIST, entries: '1-3', to: toS3() }));
    expect(report?.failed).toEqual([{ number: 2, title: 'Two', type: '/problems/gone' }]);
    expect(report).toMatchObject({ state: 'done', total: 3, completed: 2, skipped: 0, bytes: 2 * SMALL.length });
    expect(report?.failed).toEqual([{ number: 2, title: 'Two', type: '/problems/gone' }]);
    expect(await objects()).toEqual(['A list/01 - Someone - One.mp4', 'A list/03 - Someone - Three.mp4']);
    const all = await end(await deliver({ url: LIST, to: toS3() }));
    expect(all).toMatchObject({ state: 'done', total: 4, completed: 1, skipped: 2 });
  });

  it('fails when the link does, and when nothing of it can be read', async () => {
    const broken: OpenSource = async () => {
      throw new NotFound('Gone');
    };
    const { deliver, end } = await start([{ source: broken }]);
    const gone = await end(await deliver({ url: 'https://site.example/gone', to: toS3() }));
    expect(gone).toMatchObject({ state: 'failed', problem: { type: '/problems/not-found' } });
    expect(await end(await deliver({ url: LINK, to: toS3() }))).toMatchObject({ state: 'failed', completed: 0 });
  });
});

describe('a delivery to WebDAV', () => {
  it('stores a file, and creates the folder of a list', async () => {
    const { deliver, end } = await start([{ title: 'One', bytes: LARGE }, { title: 'Two #2' }]);
    const to = { kind: 'webdav', url: webDav.url, username: webDav.username, password: webDav.password };
    const order = { url: LIST, to };
    expect(await end(await deliver(order))).toMatchObject({
      state: 'done',
      completed: 2,
      bytes: LARGE.length + SMALL.length,
    });
    expect(await webDav.files()).toEqual(['A list/01 - Someone - One.mp4', 'A list/02 - Someone - Two #2.mp4']);
    expect(isEqual(await webDav.read('A list/01 - Someone - One.mp4'), LARGE)).toBe(true);
    expect(await end(await deliver(order))).toMatchObject({ state: 'done', completed: 0, skipped: 2 });
    const refused = await end(await deliver({ url: LINK, to: { ...to, password: 'wrong' } }));
    expect(refused?.problem).toMatchObject({
      type: '/problems/destination-refused',
      detail: 'The storage answered 401.',
    });
  });
});

describe('the webhook of a delivery', () => {
  it('gets the report with a signature, again after a failure', async () => {
    const received: { signature: string; body: string }[] = [];
    const server = createServer(async (request, response) => {
      received.push({
        signature: String(request.headers['x-reelay-signature']),
        body: String(await buffer(request)),
      });
      response.writeHead(received.length === 1 ? 500 : 204).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { deliver, end } = await start([{}], { allow: [host] });
    const secret = 'of the webhook';
    const report = await end(
      await deliver({ url: LINK, to: toS3(), webhook: { url: `http://${host}/hook?id=1`, secret } }),
    );
    await until(() => received.length === 2);
    const { signature = '', body = '' } = received[1] ?? {};
    const [, time] = /^t=(\d+),v1=[\da-f]{64}$/.exec(signature) ?? [];
    expect(signature).toBe(`t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`);
    expect(JSON.parse(body)).toEqual(report);
  });
});

describe('the requests of deliveries', () => {
  it('need an access key, and its own id', async () => {
    const { request, deliver, end } = await start([{}]);
    const order = { url: LINK, to: toS3() };
    expect((await request('/api/Deliver', 'POST', order, { 'x-reelay-access': 'none' })).status).toBe(404);
    const id = await deliver(order);
    for (const method of ['GET', 'DELETE']) {
      expect((await request(`/api/Deliver/${id}`, method, undefined, { 'x-reelay-access': OTHER })).status).toBe(404);
      expect((await request('/api/Deliver/0-AAAAAAAAAAAAAAAAAAAAAA', method)).status).toBe(404);
      expect((await request('/api/Deliver/x', method)).status).toBe(404);
    }
    expect(await end(id)).toMatchObject({ state: 'done' });
    expect((await request('/api/Deliver', 'GET')).status).toBe(405);
    const allowed = (await request('/api/Deliver', 'OPTIONS')).headers.allow;
    expect(allowed).toBe('POST, OPTIONS');
  });

  it.each([
    ['no JSON', '{', 400],
    ['a list', [], 400],
    ['no destination', { url: LINK }, 400],
    ['an unknown field', { url: LINK, to: toS3(), more: 1 }, 400],
    ['an unknown field of the destination', { url: LINK, to: toS3({ more: 1 }) }, 400],
    ['another kind', { url: LINK, to: toS3({ kind: 'ftp' }) }, 400],
    ['a link that is none', { url: 'site.example', to: toS3() }, 400],
    ['an unknown quality', { url: LINK, quality: 'good', to: toS3() }, 400],
    ['an archive', { url: LINK, format: 'zip', to: toS3() }, 400],
    ['entries that are none', { url: LINK, entries: 'a', to: toS3() }, 400],
    ['a chapter that is none', { url: LINK, chapter: 'one', to: toS3() }, 400],
    ['unknown segments', { url: LINK, mark: 'dull', to: toS3() }, 400],
    ['a language that is none', { url: LINK, audio: '*', to: toS3() }, 400],
    ['a parameter that is no text', { url: LINK, tags: true, to: toS3() }, 400],
    ['a prefix out of the bucket', { url: LINK, to: toS3({ prefix: '../other' }) }, 400],
    ['an endpoint that is no URL', { url: LINK, to: toS3({ endpoint: 'ftp://host' }) }, 400],
    ['an endpoint with credentials', { url: LINK, to: toS3({ endpoint: 'https://a:b@host' }) }, 400],
    ['a webhook without a secret', { url: LINK, to: toS3(), webhook: { url: 'https://host/' } }, 400],
    ['more than 16 KB', { url: LINK, to: toS3({ secretAccessKey: 'x'.repeat(17_000) }) }, 413],
  ])('refuse %s', async (_name, body, status) => {
    const { request } = await start([{}]);
    const response = await request('/api/Deliver', 'POST', body);
    expect([response.status, JSON.parse(String(response.body)).status]).toEqual([status, status]);
    expect(String(response.body)).not.toMatch(/secret|a:b/);
  });

  it('refuse another type of body', async () => {
    const { request } = await start([{}]);
    const response = await request('/api/Deliver', 'POST', 'url=x', { 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  it('wait for a place to send, in a queue with an end for each key', async () => {
    const source = failingSource(fileSource(LARGE), 1024 * 1024);
    onTestFinished(source.fail);
    const { request, deliver, end } = await start([{ bytes: LARGE, source }], { maxDeliveries: 1 });
    const order = { url: LINK, to: toS3() };
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1)
      ids.push(await deliver({ ...order, to: toS3({ prefix: String(count) }) }));
    const refused = await request('/api/Deliver', 'POST', order);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    for (let count = 0; count < 5; count += 1)
      expect((await request('/api/Deliver', 'POST', order, { 'x-reelay-access': OTHER })).status).toBe(202);
    const third = createHash('sha256').update('third').digest('hex');
    expect((await request('/api/Deliver', 'POST', order, { 'x-reelay-access': third })).status).toBe(503);
    await request(`/api/Deliver/${ids[4]}`, 'DELETE');
    for (const id of ids.slice(0, 4)) await request(`/api/Deliver/${id}`, 'DELETE');
    expect(await end(ids[0] ?? '')).toMatchObject({ state: 'cancelled' });
    expect(await end(ids[4] ?? '')).toMatchObject({ state: 'cancelled', total: 0 });
    source.fail();
  });
});
