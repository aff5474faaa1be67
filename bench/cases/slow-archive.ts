import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OriginHandler } from '../../test/origin/handler.ts';
import { json, writeFileHead } from '../../test/origin/respond.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import { archiveOf, take } from '../clients.ts';
import { inTurn, seconds } from '../figures.ts';
import { MEDIA_DIR } from '../media.ts';

const RUNS = 3;
const ENTRIES = 20;
const MAX_RATIO = 1.1;

/**
 * A new list of slow sources as one file, resolved on the way, beside curl: the pages and files of the entries, of known
 * addresses, one after another and two at a time.
 */
export const slowArchive: StandaloneCase = async function* () {
  const origin = await startPacedOrigin();
  const service = await startReelay(origin.host);
  let lists = 0;
  const takeArchive = async () => {
    const taken = await take(await archiveOf(service, origin.list(`slow-${lists++}`, ENTRIES)));
    if (taken < origin.bytes * ENTRIES) throw new Error(`${taken} bytes of ${origin.bytes * ENTRIES}`);
  };
  const takeFiles = async (concurrency: number) => {
    const list = `slow-${lists++}`;
    const numbers = Array.from({ length: ENTRIES }, (_, index) => index + 1);
    const next = async (): Promise<void> => {
      const number = numbers.shift();
      if (number === undefined) return;
      const { page, file } = origin.item(list, number);
      await take(page);
      await take(file);
      return next();
    };
    await Promise.all(Array.from({ length: concurrency }, next));
  };
  try {
    for (const [concurrency, rivalName, goal] of [
      [1, 'curl one after another', { atMost: MAX_RATIO }],
      [2, 'curl two at a time', {}],
    ] as const)
      yield {
        what: `zip of ${ENTRIES} files of slow sources`,
        ...(await inTurn(
          RUNS,
          () => seconds(() => takeArchive()),
          () => seconds(() => takeFiles(concurrency)),
        )),
        rivalName,
        unit: 's',
        ...goal,
      };
  } finally {
    await service.close();
    await origin.close();
  }
};

/** Before each response, as of a server on another continent. */
const LATENCY_MS = 100;
/** Before the page of an item: extraction takes several requests. */
const PAGE_LATENCY_MS = 300;
/** For each file, over all its connections: more connections are no faster. */
const BYTES_PER_SECOND = 16_000_000;
const CHUNK_BYTES = 64 * 1024;

/** A site whose items are files of the same bytes, each sent at a limited rate. */
interface PacedOrigin {
  readonly host: string;
  /** The size of each file. */
  readonly bytes: number;
  /** The page of a list of so many items. */
  list(name: string, count: number): string;
  /** The page of an item as its extractor requests it, and its file. */
  item(list: string, number: number): { readonly page: string; readonly file: string };
  close(): Promise<void>;
}

/** Settles when a response takes more bytes, or is closed. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });

async function startPacedOrigin(): Promise<PacedOrigin> {
  const bytes = readFileSync(join(MEDIA_DIR, 'clip.mp4'));
  const counts = new Map<string, number>();
  /** When each file may continue, in milliseconds of the monotonic clock. */
  const continueAt = new Map<string, number>();

  const describe = (name: string, base: string) => {
    const count = counts.get(name);
    const common = { id: name, title: name, uploader: 'Bench' };
    if (count === undefined) {
      const file = { url: `${base}/media/${name}.mp4`, ext: 'mp4', protocol: 'http', filesize: bytes.length };
      const format = { ...file, format_id: 'both', vcodec: 'avc1.42c00d', acodec: 'mp4a.40.2', height: 180 };
      return { info: { ...common, duration: 20, formats: [format] } };
    }
    const entries = Array.from({ length: count }, (_, index) => {
      const id = `${name}-${index + 1}`;
      return { _type: 'url', ie_key: 'ReelayTest', id, url: `${base}/site/${id}`, title: id };
    });
    return { info: { ...common, _type: 'playlist', entries } };
  };

  const send: OriginHandler = async ({ path: file, request, response }) => {
    await sleep(LATENCY_MS);
    const range = writeFileHead(request, response, bytes.length, { 'content-type': 'video/mp4', etag: '"clip"' });
    if (!range) return;
    const { first, last } = range;
    for (let at = first; at <= last && !response.destroyed; at += CHUNK_BYTES) {
      const chunk = bytes.subarray(at, Math.min(at + CHUNK_BYTES, last + 1));
      const due = Math.max(continueAt.get(file) ?? 0, performance.now());
      continueAt.set(file, due + (chunk.length / BYTES_PER_SECOND) * 1000);
      const waitMs = due - performance.now();
      if (waitMs > 1) await sleep(waitMs);
      if (!response.write(chunk)) await drained(response);
    }
    response.end();
  };

  const { host, close } = await startOrigin({
    mediaDir: MEDIA_DIR,
    mounts: {
      '/media/': send,
      '/site-api/': async (exchange) => {
        await sleep(PAGE_LATENCY_MS);
        json(exchange, describe(exchange.path, exchange.url.origin));
      },
    },
  });

  return {
    host,
    bytes: bytes.length,
    list(name, count) {
      counts.set(name, count);
      return `http://${host}/site/${name}`;
    },
    item: (list, number) => ({
      page: `http://${host}/site-api/${list}-${number}`,
      file: `http://${host}/media/${list}-${number}.mp4`,
    }),
    close,
  };
}
