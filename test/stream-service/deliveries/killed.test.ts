import { readFile, writeFile } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { OriginHandler } from '../../origin/handler.ts';
import { redirect, send, sendFile } from '../../origin/respond.ts';
import { type Origin, startOrigin } from '../../origin/server.ts';
import { afterFile } from '../../support/after-file.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { REGION, useMoto } from '../../support/moto.ts';
import { Started } from '../../support/started.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createToolsFolder } from '../../support/tools-folder.ts';
import { bytesOf } from '../http/archive-fixture.ts';
import { startS3Gateway } from './s3-gateway.ts';
import { startWebDav } from './webdav-server.ts';

/** The real service, killed in the middle of a delivery and started again in the same folder. */

const KEY = 'first-key-0123456789';
const BUCKET = 'videos';
const MIB = 1024 * 1024;
const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

const moto = useMoto();
const gateway = await startS3Gateway(() => moto.endpoint);
const webDav = await startWebDav();
const folder = await temporaryFolder();
let origin: Origin;
let tools = '';
/** Two parts of 8 MiB, and a third one. */
let large: Buffer;
/** URLs of the file that were handed out: only the newest one is served. */
let issued = 0;

/** `/large/page/NAME`: a redirect to a file whose address expires, as those of sites do. `/large/list`: two of them. */
const pages: OriginHandler = (exchange) => {
  const [kind, name = ''] = exchange.path.split('/');
  if (kind === 'list') return send(exchange, 'application/rss+xml', listOf(exchange.url.origin, ['One', 'Two']));
  if (kind === 'page') return redirect(exchange, `/large/file/${name}?token=${issued}`);
  if (exchange.url.searchParams.get('token') !== String(issued)) return send(exchange, 'text/plain', 'Expired', 403);
  return sendFile({ ...exchange, mediaDir: folder }, 'large.mp4');
};
const listOf = (base: string, names: readonly string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>A list</title>${names
    .map(
      (name) => `<item><title>${name}</title><enclosure url="${base}/large/page/${name}.mp4" type="video/mp4"/></item>`,
    )
    .join('')}</channel></rss>`;

beforeAll(async () => {
  origin = await startOrigin({ mounts: { '/large/': pages } });
  afterFile(origin.close);
  tools = await createToolsFolder(join(folder, 'tools'));
  const free = Buffer.from([0, 0, 0, 0, ...Buffer.from('free')]);
  free.writeUInt32BE(8 + 20 * MIB);
  large = Buffer.concat([await readFile(join(origin.mediaDir, 'clip.mp4')), free, bytesOf(1, 20 * MIB)]);
  await writeFile(join(folder, 'large.mp4'), large);
});
beforeEach(() => {
  issued = 1;
});

/** Starts the service until the test ends. @param allow hosts that it may reach besides the origin */
async function start(dataDir: string, allow: string) {
  const service = new Started(folder, {
    ...{ ACCESS_KEYS: KEY, DATA_DIR: dataDir, TOOLS_DIR: tools, TOOLS_UPDATE_HOURS: '0' },
    EGRESS_ALLOW: `${origin.host},${allow}`,
  });
  const kill = async () => {
    service.process.kill('SIGKILL');
    await service.ended;
  };
  onTestFinished(kill);
  const baseUrl = await service.baseUrl();
  await service.line(/^Ready: /);
  return { kill, baseUrl };
}

async function deliver(baseUrl: string, order: object): Promise<string> {
  const response = await fetch(`${baseUrl}/api/Deliver`, { method: 'POST', headers, body: JSON.stringify(order) });
  const { events } = (await response.json()) as { events: string };
  expect(response.status).toBe(202);
  return events;
}

async function end(baseUrl: string, events: string): Promise<unknown> {
  const text = await (await fetch(baseUrl + events, { headers })).text();
  return JSON.parse(/^data: (.*)$/m.exec(text.slice(text.lastIndexOf('data: ')))?.[1] ?? 'null');
}

it('continues a delivery to S3 behind the part whose answer was lost, by a new address of its source', async () => {
  await moto.reset();
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const access = { forcePathStyle: true, credentials: { ...credentials } };
  const s3 = new S3Client({ region: REGION, endpoint: moto.endpoint, ...access });
  onTestFinished(() => s3.destroy());
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration: { LocationConstraint: REGION } }));

  const first = await start('s3', gateway.host);
  gateway.answered = async (call) => {
    if (call !== 'PUT 2') return;
    await first.kill();
    issued += 1;
  };
  const to = { kind: 's3', endpoint: gateway.endpoint, region: REGION, bucket: BUCKET, ...credentials };
  const events = await deliver(first.baseUrl, { url: origin.url('/large/page/one.mp4'), to });
  await expect.poll(() => issued, { timeout: 60_000 }).toBe(2);
  expect(gateway.calls).toEqual(['HEAD', 'POST uploads', 'PUT 1', 'PUT 2']);

  gateway.calls.length = 0;
  const second = await start('s3', gateway.host);
  expect(await end(second.baseUrl, events)).toMatchObject({ state: 'done', completed: 1, bytes: large.length });
  // Asked for again where the tools that renew the address were not ready at first.
  const calls = gateway.calls.filter((call) => call !== 'HEAD');
  expect(calls).toEqual(['GET max-parts', 'PUT 3', 'POST uploadId']);
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'one.mp4' }));
  expect(large.equals(Buffer.from((await Body?.transformToByteArray()) ?? []))).toBe(true);
  expect((await s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))).Uploads ?? []).toEqual([]);
});

it('continues a delivery to WebDAV with the file that was under way', async () => {
  const relay = await startRelay(Number(new URL(webDav.url).port));
  const first = await start('webdav', relay.host);
  // The first file is stored, and half of the second one has been sent.
  relay.onBytes = async (bytes) => {
    if (bytes > 1.5 * large.length && issued === 1) {
      issued += 1;
      await first.kill();
      issued += 1;
    }
  };
  const { username, password } = webDav;
  const to = { kind: 'webdav', url: webDav.url.replace(webDav.host, relay.host), username, password };
  const events = await deliver(first.baseUrl, { url: origin.url('/large/list'), to });
  await expect.poll(() => issued, { timeout: 60_000 }).toBe(3);
  const names = ['A list/01 - One.mp4', 'A list/02 - Two.mp4'];
  expect((await webDav.files()).filter((name) => !name.includes('part'))).toEqual(names.slice(0, 1));

  const sentBefore = relay.bytes();
  const second = await start('webdav', relay.host);
  const report = { state: 'done', completed: 2, skipped: 0, bytes: 2 * large.length, failed: [] };
  expect(await end(second.baseUrl, events)).toMatchObject(report);
  expect(await webDav.files()).toEqual(names);
  for (const name of names) expect((await webDav.read(name)).equals(large)).toBe(true);
  expect(relay.bytes() - sentBefore).toBeLessThan(1.1 * large.length);
});

/** Passes connections on to a port of loopback, and counts the bytes that clients send. */
async function startRelay(port: number) {
  let bytes = 0;
  const sockets = new Set<Socket>();
  const relay = { onBytes: async (_bytes: number): Promise<void> => undefined };
  const server = createServer((client) => {
    const target = createConnection({ host: '127.0.0.1', port });
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    }
    client.on('data', ({ length }) => {
      bytes += length;
      void relay.onBytes(bytes);
    });
    client.pipe(target).pipe(client);
    client.once('close', () => target.destroy());
    target.once('close', () => client.destroy());
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const { host } = closeAfterwards(await listen(server));
  return Object.assign(relay, { host, bytes: () => bytes });
}
