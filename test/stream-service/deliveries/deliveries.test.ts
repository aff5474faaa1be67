import { createHash, createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import type { Lookup } from '../../../core/egress/guard/index.ts';
import { NotFound } from '../../../core/errors/errors.ts';
import type { Resolver } from '../../../core/resolve/index.ts';
import type { StoredDelivery } from '../../../core/state/delivery-slots.ts';
import { keyOf } from '../../../core/state/keys.ts';
import type { Resource } from '../../../core/state/resource.ts';
import type { State } from '../../../core/state/state.ts';
import { createS3, partBytesOf } from '../../../stream-service/deliveries/s3.ts';
import type { AdmissionLimits } from '../../../stream-service/sessions/index.ts';
import type { OpenSource, Source } from '../../../stream-service/source/source.ts';
import { certificate } from '../../core/egress/certificate.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen as listenOn } from '../../support/listen.ts';
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
const MIB = 1024 * 1024;
const LARGE = bytesOf(1, 20 * MIB);
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
const hasSecret = (...things: readonly unknown[]) =>
  /a secret of S3|a password|of the webhook/.test(inspect(things, { depth: null, maxStringLength: null }));

/** @returns the `host:port` of a server that listens until the test ends */
const listen = async (server: ReturnType<typeof createServer>) => closeAfterwards(await listenOn(server)).host;

/** A server that answers nothing that it should: it counts requests. */
async function startElsewhere() {
  const requests: (string | undefined)[] = [];
  const host = await listen(createServer((request, response) => void response.end(requests.push(request.url))));
  return { host, requests };
}

const refuse = (status: number, code: string) => (response: ServerResponse) =>
  void response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
const answerPage = (response: ServerResponse) => void response.writeHead(200).end('<html><h1>Welcome</h1></html>');
/** Neither reads nor answers until the client has left. */
const stall = (response: ServerResponse) => new Promise<void>((left) => response.once('close', () => left()));

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
    lookup,
    limits,
    ...more
  }: {
    state?: State;
    allow?: readonly string[];
    lookup?: Lookup;
    secrets?: readonly string[];
    sponsorblockUrl?: string;
    maxDeliveries?: number;
    stallTimeoutMs?: number;
    pauseMs?: number;
    limits?: AdmissionLimits;
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
  const egress = createEgress({ allow: [gateway.host, webDav.host, ...allow], ...(lookup && { lookup }) });
  const logged: unknown[] = [];
  const note = (...line: unknown[]) => void logged.push(line);
  const service = await startService((id) => resources.find((one) => one.id === id), sources, {
    resolve,
    ...(limits && { limits }),
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

/** A delivery to S3 whose process has ended after a request, while the source stalled at the third part. */
async function interrupt({ url = LINK, items = [{ bytes: LARGE }], after = 'PUT 2' } = {}) {
  const table = await openTemporaryState();
  onTestFinished(table.close);
  const sources = items.map(({ bytes }) => failingSource(fileSource(bytes), 17 * MIB));
  const first = await start(
    items.map((item, index) => ({ ...item, ...(sources[index] && { source: sources[index] }) })),
    { state: table.state },
  );
  const id = await first.deliver({ url, to: toS3() });
  await until(() => gateway.calls.includes(after));
  await first.drain();
  await first.close();
  for (const source of sources) source.fail();
  gateway.calls.length = 0;
  return { id, slot: Number(id[0]), state: table.state };
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
    expect(hasSecret(logged)).toBe(false);
  });

  it('signs what the storage gets, names included that have to be encoded', async () => {
    const { deliver, end } = await start([{ title: "It's ~ (here)! ü+&" }]);
    const signed: Promise<[unknown, unknown]>[] = [];
    const credentials = { accessKeyId: 'test', secretAccessKey: 'a secret of S3', sessionToken: 'a+b/c=' };
    const signer = new SignatureV4({
      ...{ service: 's3', region: REGION, credentials, sha256: Sha256, uriEscapePath: false },
    });
    gateway.intercept = (_call, { req: { method = '', url = '', headers } }) => {
      const { authorization = '', 'x-amz-date': date } = headers;
      const names = /SignedHeaders=([^,]*)/.exec(authorization)?.[1]?.split(';') ?? [];
      const [path = '', query = ''] = url.split('?');
      const time = String(date).replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:');
      const request = { method, protocol: 'http:', hostname: '', path };
      const own = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
      const parameters = { query: Object.fromEntries(new URLSearchParams(query)), headers: own };
      const expected = signer.sign({ ...request, ...parameters }, { signingDate: new Date(time) });
      signed.push(expected.then((one) => [authorization, one.headers.authorization]));
    };
    const to = toS3({ prefix: '/a b//(c)*/', sessionToken: credentials.sessionToken });
    expect(await end(await deliver({ url: LINK, to }))).toMatchObject({ state: 'done' });
    expect(await objects()).toEqual(["a b/(c)*/Someone - It's ~ (here)! ü+&.mp4"]);
    expect(signed).toHaveLength(4);
    for (const [sent, expected] of await Promise.all(signed)) expect(sent).toBe(expected);
  });

  it('needs no credentials that may read', async () => {
    const { deliver, end } = await start([{}]);
    gateway.intercept = (call, response) => {
      if (call === 'HEAD') response.writeHead(403).end();
    };
    expect(await end(await deliver({ url: LINK, to: toS3() }))).toMatchObject({ state: 'done', completed: 1 });
  });

  it('waits for a storage that sends blanks while it completes an upload', async () => {
    const { deliver, end } = await start([{}], { stallTimeoutMs: 2000 });
    gateway.intercept = async (call, response) => {
      if (call !== 'POST uploadId') return;
      for (let count = 0; count < 15; count += 1) {
        response.write(' ');
        await new Promise((later) => setTimeout(later, 200));
      }
      response.end('<CompleteMultipartUploadResult><ETag>"a-1"</ETag></CompleteMultipartUploadResult>');
    };
    expect(await end(await deliver({ url: LINK, to: toS3() }))).toMatchObject({ state: 'done', completed: 1 });
  });

  it.each<[string, string, (response: ServerResponse, elsewhere: string) => unknown, number, string, string]>([
    ['wrong credentials', '', refuse(403, 'SignatureDoesNotMatch'), 0, 'refused', '403 SignatureDoesNotMatch.'],
    ['a part that is refused', 'PUT 2', refuse(403, 'AccessDenied'), 1, 'refused', '403 AccessDenied.'],
    ['a part that always fails', 'PUT 2', refuse(500, 'InternalError'), 6, 'failed', '500 InternalError.'],
    ['a part that is not acknowledged', 'PUT 2', (response) => response.writeHead(304).end(), 1, 'refused', '304.'],
    ['an object that is never whole', 'POST uploadId', refuse(200, 'InternalError'), 6, 'failed', '200 InternalError.'],
    ['a page instead of an answer', 'POST uploadId', answerPage, 1, 'failed', 'without a valid ETag.'],
    ['connections that are closed midway', 'PUT 2', (response) => response.destroy(), 6, 'failed', ''],
    ['a storage that stops reading', 'PUT 2', stall, 6, 'failed', ''],
    [
      'a redirect to elsewhere',
      'PUT 2',
      (response, host) => response.writeHead(307, { location: `http://${host}/` }).end(),
      ...([1, 'refused', '307.'] as const),
    ],
  ])('ends by %s, and leaves no part behind', async (_name, failing, fail, attempts, type, answer) => {
    const elsewhere = await startElsewhere();
    const options = { allow: [elsewhere.host], stallTimeoutMs: 1500 };
    const { deliver, follow, logged, state } = await start([{ bytes: LARGE }], options);
    gateway.intercept = async (call, response) => {
      if (failing === '' || call === failing) await fail(response, elsewhere.host);
    };
    const id = await deliver({ url: LINK, to: toS3({ sessionToken: 'a+password' }) });
    const reports = await follow(id);
    const { state: end, completed, problem } = reports.at(-1) ?? {};
    expect([end, completed, problem?.type]).toEqual(['failed', 0, `/problems/destination-${type}`]);
    if (answer) expect(problem?.detail).toBe(`The storage answered ${answer}`);
    expect(gateway.calls.filter((call) => call === failing)).toHaveLength(attempts);
    expect(gateway.calls.filter((call) => call === 'DELETE uploadId')).toHaveLength(failing === '' ? 0 : 1);
    gateway.intercept = () => undefined;
    expect([await uploads(), await objects(), elsewhere.requests]).toEqual([[], [], []]);
    await until(async () => (await state.getDelivery(Number(id[0])))?.sealed === undefined);
    expect(hasSecret(reports, logged, await state.getDelivery(Number(id[0])))).toBe(false);
  });

  it('trusts no certificate that signs itself', async () => {
    const host = await listen(createTlsServer(certificate, (_request, response) => void response.end()));
    const { deliver, end } = await start([{}], { allow: [host] });
    const report = await end(await deliver({ url: LINK, to: toS3({ endpoint: `https://${host}` }) }));
    expect(report).toMatchObject({ state: 'failed', problem: { type: '/problems/destination-refused' } });
    expect(report?.problem?.detail).toBe('The certificate of the storage is not trusted.');
  });

  it('reaches a name with a private address only where the operator allows it', async () => {
    const host = gateway.host.replace('127.0.0.1', 'storage.example');
    const lookup: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    const order = { url: LINK, to: toS3({ endpoint: `http://${host}` }) };
    const guarded = await start([{}], { lookup: async () => [{ address: '127.0.0.2', family: 4 }] });
    const refused = await guarded.end(await guarded.deliver(order));
    expect(refused).toMatchObject({ state: 'failed', problem: { type: '/problems/unknown-host' } });
    expect(gateway.calls).toEqual([]);
    const allowing = await start([{}], { lookup, allow: [host] });
    expect(await allowing.end(await allowing.deliver(order))).toMatchObject({ state: 'done', completed: 1 });
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
    const { id, slot, state } = await interrupt();
    const stored = (await state.getDelivery(slot)) as StoredDelivery;
    expect(JSON.stringify(stored)).not.toContain('a secret of S3');
    // As it is saved in the middle of a part.
    await state.putDelivery(slot, { ...stored, report: { ...Object(stored.report), bytes: 17 * MIB } }, stored);
    const { end } = await start([{ bytes: LARGE }], { state });
    expect(await end(id)).toMatchObject({ id, state: 'done', completed: 1, bytes: LARGE.length });
    expect(isEqual(await object(NAME), LARGE)).toBe(true);
    expect(gateway.calls).toEqual(['HEAD', 'GET max-parts', 'PUT 3', 'POST uploadId']);
    expect(await state.getDelivery(slot)).not.toHaveProperty('sealed');
  });

  it.each<[string, Buffer, (response: ServerResponse) => unknown]>([
    ['the source has another file meanwhile', bytesOf(3, LARGE.length - 1), () => undefined],
    ['the storage lists no parts', LARGE, refuse(405, 'MethodNotAllowed')],
    ['the upload has expired', LARGE, refuse(404, 'NoSuchUpload')],
    ['a list of parts is too long to be read twice', LARGE, (response) => response.end('<Part>'.repeat(170_000))],
  ])('starts over when %s', async (_name, bytes, listParts) => {
    const { id, state } = await interrupt();
    gateway.intercept = (call, response) => void (call === 'GET max-parts' && listParts(response));
    const { end } = await start([{ bytes }], { state });
    expect(await end(id)).toMatchObject({ state: 'done', bytes: bytes.length });
    expect(gateway.calls.filter((call) => call.startsWith('PUT'))).toEqual(['PUT 1', 'PUT 2', 'PUT 3']);
    expect(isEqual(await object(NAME), bytes)).toBe(true);
    expect(await uploads()).toEqual([]);
  });

  it('gives no file its name once another process has taken it over', async () => {
    const { deliver, logged, state } = await start([{ bytes: LARGE }]);
    gateway.intercept = async (call) => {
      const stored = call === 'PUT 3' && (await state.getDelivery(0));
      if (stored) await state.putDelivery(0, { ...stored, writer: 'another' }, stored);
    };
    await deliver({ url: LINK, to: toS3() });
    await until(() => inspect(logged).includes('Another process sends the delivery'));
    expect(gateway.calls.slice(-1)).toEqual(['PUT 3']);
    expect(await state.getDelivery(0)).toMatchObject({ writer: 'another', sealed: expect.any(String) });
    expect([await uploads(), await objects()]).toEqual([[NAME], []]);
  });

  it('ends at once with its process while it waits to repeat a request', async () => {
    const { deliver, close } = await start([{}], { pauseMs: 1e9 });
    gateway.intercept = (call, response) => void (call === 'POST uploads' && refuse(503, 'SlowDown')(response));
    await deliver({ url: LINK, to: toS3() });
    await until(() => gateway.calls.includes('POST uploads'));
    await close();
  });

  it('has parts that grow with the file, of which 10,000 hold it', async () => {
    expect([1, 80_000 * MIB, 80_001 * MIB, 640_000 * MIB].map((size) => partBytesOf(size) / MIB)).toEqual([
      8, 8, 9, 64,
    ]);
    const send = async () => expect.fail('Nothing is sent');
    const file = { size: 640_001 * MIB, path: 'a', mimeType: 'video/mp4', isRanged: true, read: send as never };
    await expect(createS3(toS3() as never, send).store(file, {} as never)).rejects.toThrow('too large');
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

  it('is cancelled while the storage does not read', async () => {
    const { deliver, end, request } = await start([{ bytes: LARGE }]);
    gateway.intercept = (call, response) => (call === 'PUT 2' ? stall(response) : undefined);
    const id = await deliver({ url: LINK, to: toS3() });
    await until(() => gateway.calls.includes('PUT 2'));
    expect((await request(`/api/Deliver/${id}`, 'DELETE')).status).toBe(204);
    expect(await end(id)).toMatchObject({ state: 'cancelled', completed: 0 });
    expect([await uploads(), await objects()]).toEqual([[], []]);
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

  it('needs a folder that exists, whose name may have any characters', async () => {
    const { deliver, end, logged } = await start([{}]);
    const { username, password } = webDav;
    const order = { url: LINK, to: { kind: 'webdav', url: `${webDav.url}Filme ü/`, username, password } };
    const missing = await end(await deliver({ ...order, url: LIST }));
    expect(missing?.problem).toMatchObject({
      type: '/problems/destination-refused',
      detail: 'The storage answered 409.',
    });
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    await fetch(`${webDav.url}Filme ü/`, { method: 'MKCOL', headers: { authorization } });
    expect(await end(await deliver(order))).toMatchObject({ state: 'done', completed: 1 });
    expect(await webDav.files()).toContain(`Filme ü/${NAME}`);
    expect(hasSecret(logged)).toBe(false);
  });

  it.each<[string, (response: ServerResponse, elsewhere: string) => unknown, number, string, string]>([
    ['has no room', (response) => response.writeHead(507).end(), 1, 'refused', 'The storage answered 507.'],
    ['closes connections midway', (response) => response.destroy(), 6, 'failed', 'The connection failed.'],
    ['stops reading', stall, 6, 'failed', 'No byte for 1.5 seconds.'],
    [
      'redirects to elsewhere',
      (response, host) => response.writeHead(308, { location: `http://${host}/` }).end(),
      ...([1, 'refused', 'The storage answered 308.'] as const),
    ],
  ])('ends when the server %s, and leaves no part behind', async (_name, fail, attempts, type, detail) => {
    const elsewhere = await startElsewhere();
    const calls: string[] = [];
    const answer: RequestListener = (request, response) => {
      calls.push(`${request.method} ${decodeURI(request.url ?? '').replace(/[\da-f-]{36}/, 'ID')}`);
      if (request.method === 'PUT') request.once('data', () => request.pause() && fail(response, elsewhere.host));
      else response.writeHead(request.method === 'HEAD' ? 404 : 204).end();
    };
    const host = await listen(createServer(answer));
    const options = { allow: [host, elsewhere.host], stallTimeoutMs: 1500 };
    const { deliver, follow, logged } = await start([{ bytes: LARGE }], options);
    const to = { kind: 'webdav', url: `http://${host}/files`, username: 'user', password: 'a password' };
    const reports = await follow(await deliver({ url: LINK, to }));
    const problem = { type: `/problems/destination-${type}`, detail };
    expect(reports.at(-1)).toMatchObject({ state: 'failed', completed: 0, bytes: 0, problem });
    const part = `/files/${NAME}.ID.part`;
    expect(calls).toEqual([`HEAD /files/${NAME}`, ...Array(attempts).fill(`PUT ${part}`), `DELETE ${part}`]);
    expect([elsewhere.requests, hasSecret(reports, logged)]).toEqual([[], false]);
  });

  it.each<[string, object, Record<string, number[]>]>([
    ['takes a file as stored when the answer to its renaming was lost', { completed: 1 }, { MOVE: [0, 404] }],
    [
      'takes no file as stored that is locked',
      { problem: { detail: 'The storage answered 207.' } },
      { MOVE: [207], DELETE: [204] },
    ],
    ['needs no right to create the folder that exists', { completed: 1 }, { MKCOL: [403], MOVE: [201] }],
    ['waits for a lock to end', { completed: 1 }, { PUT: [423], MOVE: [423, 204] }],
  ])('%s', async (_name, expected, statuses) => {
    let isWhole = false;
    const left = structuredClone(statuses);
    const answer: RequestListener = async (request, response) => {
      await buffer(request);
      const { method = '' } = request;
      const status = left[method]?.shift() ?? (method === 'HEAD' ? (isWhole ? 200 : 404) : 201);
      isWhole ||= method === 'MOVE';
      if (status === 0) return response.destroy();
      response.writeHead(status, method === 'HEAD' ? { 'content-length': SMALL.length } : {}).end();
    };
    const host = await listen(createServer(answer));
    const { deliver, end } = await start([{}], { allow: [host] });
    const report = await end(await deliver({ url: LIST, to: { kind: 'webdav', url: `http://${host}/` } }));
    expect(report).toMatchObject(expected);
    expect(left).toEqual(Object.fromEntries(Object.keys(statuses).map((method) => [method, []])));
  });
});

describe('the webhook of a delivery', () => {
  it('gets the report with a signature, again after a failure', async () => {
    const received: { signature: string; body: string }[] = [];
    const host = await listen(
      createServer(async (request, response) => {
        received.push({
          signature: String(request.headers['x-reelay-signature']),
          body: String(await buffer(request)),
        });
        response.writeHead(received.length === 1 ? 500 : 204).end();
      }),
    );
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

  it.each<[string, (response: ServerResponse, elsewhere: string) => unknown, number]>([
    ['fails', (response) => response.writeHead(500).end(), 4],
    ['does not answer', stall, 4],
    ['redirects to elsewhere', (response, host) => response.writeHead(302, { location: `http://${host}/` }).end(), 1],
  ])('is given up when its server %s', async (_name, fail, attempts) => {
    const elsewhere = await startElsewhere();
    const calls: (string | undefined)[] = [];
    const answer: RequestListener = (request, response) => {
      calls.push(request.method);
      void fail(response, elsewhere.host);
    };
    const host = await listen(createServer(answer));
    const options = { allow: [host, elsewhere.host], stallTimeoutMs: 1500 };
    const { deliver, end, logged, state } = await start([{}], options);
    const webhook = { url: `http://${host}/hook`, secret: 'of the webhook' };
    const id = await deliver({ url: LINK, to: toS3(), webhook });
    expect(await end(id)).toMatchObject({ state: 'done', completed: 1 });
    await until(async () => (await state.getDelivery(Number(id[0])))?.sealed === undefined);
    expect([calls, elsewhere.requests, hasSecret(logged)]).toEqual([Array(attempts).fill('POST'), [], false]);
    expect(inspect(logged)).toContain('The webhook of a delivery failed');
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
    [
      'a prefix that has no UTF-8',
      `{"url":"${LINK}","to":${JSON.stringify(toS3()).replace('}', ',"prefix":"\\ud800"}')}}`,
      400,
    ],
    ['a prefix with a line break', { url: LINK, to: toS3({ prefix: 'a\r\nb' }) }, 400],
    ['a token with a line break', { url: LINK, to: toS3({ sessionToken: 'a\r\nx-b: c' }) }, 400],
    ['an endpoint with a line break', { url: LINK, to: toS3({ endpoint: 'https://host\r\n/' }) }, 400],
    ['a folder with a line break', { url: LINK, to: { kind: 'webdav', url: 'https://host/\r\nx-b: c' } }, 400],
    ['a name with a colon', { url: LINK, to: { kind: 'webdav', url: 'https://host/', username: 'a:b' } }, 400],
    ['the prototype of objects', `{"url":"${LINK}","to":${JSON.stringify(toS3())},"__proto__":{"a":1}}`, 400],
    ['JSON of 8,000 levels', `{"url":${'['.repeat(8000)}${']'.repeat(8000)}}`, 400],
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
    // What waits ends although there is no room.
    await request(`/api/Deliver/${ids[4]}`, 'DELETE');
    expect(await end(ids[4] ?? '')).toMatchObject({ state: 'cancelled', total: 0 });
    for (const id of ids.slice(0, 4)) await request(`/api/Deliver/${id}`, 'DELETE');
    expect(await end(ids[0] ?? '')).toMatchObject({ state: 'cancelled' });
    source.fail();
  });

  it('that arrive at once take no more than the share of their key', async () => {
    const source = failingSource(fileSource(LARGE), 1024);
    onTestFinished(source.fail);
    const { request } = await start([{ bytes: LARGE, source }]);
    const order = () => request('/api/Deliver', 'POST', { url: LINK, to: toS3() });
    const statuses = (await Promise.all(Array.from({ length: 8 }, order))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([202, 202, 202, 202, 202, 429, 429, 429]);
  });

  it('leave a place for other keys where storage is slow', async () => {
    const { request, deliver } = await start([{}]);
    gateway.intercept = (_call, response) => (response.req.url?.includes('slow') ? stall(response) : undefined);
    for (let count = 0; count < 2; count += 1) await deliver({ url: LINK, to: toS3({ prefix: 'slow' }) });
    await until(() => gateway.calls.length > 0);
    const order = { url: LINK, to: toS3() };
    expect((await request('/api/Deliver', 'POST', order, { 'x-reelay-access': OTHER })).status).toBe(202);
    await until(async () => (await objects()).length === 1);
  });

  it('end with their access key', async () => {
    const { id, slot, state } = await interrupt();
    await start([{}], { state, secrets: [OTHER] });
    await until(async () => (await state.getDelivery(slot))?.sealed === undefined);
    expect((await state.getDelivery(slot))?.report).toMatchObject({ id, state: 'failed' });
  });

  it('rest when the table cannot store how far they are', async () => {
    const table = await openTemporaryState();
    onTestFinished(table.close);
    const putDelivery: State['putDelivery'] = async (...all) => {
      if (gateway.calls.includes('PUT 1')) throw new Error('The disk is full');
      return table.state.putDelivery(...all);
    };
    const { deliver, request, logged } = await start([{}], { state: { ...table.state, putDelivery } });
    const id = await deliver({ url: LINK, to: toS3() });
    const stops = () => logged.filter((line) => inspect(line).includes('Delivery stopped')).length;
    await until(() => stops() === 1);
    for (let count = 0; count < 20; count += 1) await request(`/api/Deliver/${id}`, 'DELETE');
    expect(stops()).toBe(1);
    // It continues with what is stored.
    expect([gateway.calls.at(-1), await uploads()]).toEqual(['PUT 1', [NAME]]);
  });

  it('are left to other processes by one that has no room for a stream', async () => {
    const limits = { maxStreams: 1, maxStreamsPerClient: 0, maxFfmpeg: 1 };
    const { deliver, state } = await start([{}], { limits });
    await deliver({ url: LINK, to: toS3() });
    const another = { owner: 'another', expiresAt: 2e9 };
    await until(() => state.acquireDelivery(0, another));
  });

  it('count anew when the list is another one after a restart', async () => {
    const one = { title: 'One', bytes: SMALL };
    const two = { title: 'Two', bytes: LARGE };
    const { id, state } = await interrupt({ url: LIST, items: [one, two] });
    const { end } = await start([one, { ...one, title: 'Three' }, { ...one, title: 'Four' }], { state });
    const expected = { state: 'done', total: 3, completed: 2, skipped: 1, failed: [] };
    expect(await end(id)).toMatchObject(expected);
    expect(await uploads()).toEqual([]);
  });
});
