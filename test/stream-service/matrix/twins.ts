import { expect } from 'vitest';
import { sendRequest } from '../../support/request.ts';
import { type FolderSite, useFolderSite } from '../folder-site.ts';
import { recipesOf, type Source, type SourceName, sourcesOf } from './sources.ts';
import { type Process, useStreams } from './use-streams.ts';

/* Sources that agree in all but their bytes, also in their sizes, times and entity tags: two of them, or two versions of one. */

/** Of all kinds, in two folders. */
export const useTwins = (): FolderSite => useFolderSite(recipesOf(400, 'ac3'), recipesOf(900, 'ac3'));

const OUTPUTS = [
  ...['Media/KEY', 'Combined/KEY', 'Media/KEY?start=5&end=9', 'Media/KEY?tags=true', 'Media/KEY?subtitles=en'],
  ...['m4a', 'mp3', 'wav', 'opus'].map((format) => `Media/KEY?format=${format}`),
  ...['master.m3u8', 'video.mp4', 'audio.mp4', 'both.mp4'].map((name) => `Hls/KEY/${name}`),
  ...['Cover/KEY', 'Subtitle/SUBTITLE', 'Archive/LIST'],
];
/** What is asked for of a kind of source. Combined goes on as long as a live stream. */
export const outputsOf = (row: SourceName): readonly string[] =>
  row === 'live window' ? OUTPUTS.filter((path) => /^Media\/KEY($|\?(tags|format=m))/.test(path)) : OUTPUTS;

interface Answer {
  readonly status: number | 'broken off';
  readonly etag: string | undefined;
  readonly body: Buffer;
}

/** @param who one of the sources, whose client has an access key of its own */
async function get(process: Process, path: string, who = 0, headers: Record<string, string> = {}): Promise<Answer> {
  const sent = { 'x-reelay-access': `key ${who}`, ...headers };
  const answer = await sendRequest(process.at(path, who), { headers: sent }).catch(() => undefined);
  return { status: answer?.status ?? 'broken off', etag: answer?.headers.etag, body: answer?.body ?? Buffer.alloc(0) };
}

/**
 * Expects that each client gets its own of two sources: in both orders, after a restart, and at once.
 * @param least of the outputs, both sources have
 */
export async function expectOwn(
  site: FolderSite,
  row: SourceName,
  outputs: readonly string[],
  least: number,
): Promise<void> {
  const streams = await useStreams(site, sourcesOf('ac3')[row], ['', '1/']);
  site.serveVersion(0, () => '"same"');
  const alone = await Promise.all(
    [0, 1].map(async (who) => {
      const process = await streams.start();
      const answers = new Map<string, Answer>();
      for (const path of outputs) answers.set(path, await get(process, path, who));
      return answers;
    }),
  );
  const made = outputs.filter((path) => alone.every((answers) => answers.get(path)?.status === 200));
  expect(made.length).toBeGreaterThanOrEqual(least);
  const expectSame = async (process: Process, clients: readonly number[], path: string) => {
    const answers = await Promise.all(clients.map((who) => get(process, path, who)));
    const own = clients.map((who) => alone[who]?.get(path));
    const told = answers.map(({ etag, body }, index) => [etag, own[index]?.body.equals(body)]);
    expect(told, path).toEqual(own.map((answer) => [answer?.etag, true]));
  };
  const attachments = new Map<string, Buffer>();
  const isConversion = /format=(mp3|wav)/;
  const turns = [
    { clients: [0, 1], attachments, paths: made },
    // After a restart.
    { clients: [1, 0], attachments, paths: made },
    // A conversion has been read in this order once, after the restart.
    { clients: [1, 0], attachments: new Map(), paths: made.filter((path) => !isConversion.test(path)) },
  ];
  for (const turn of turns) {
    const process = await streams.start(turn.attachments);
    for (const path of turn.paths) for (const who of turn.clients) await expectSame(process, [who], path);
  }
  const atOnce = await streams.start();
  for (const path of made) await expectSame(atOnce, [0, 1, 0, 1], path);
  // Playlists name their media by paths that are the same, and the pictures alone are the same: a file has its sound beside them.
  const isSameInBoth = row === 'file' ? /\.m3u8$|both\.mp4$/ : /\.m3u8$|video\.mp4$/;
  for (const path of made.filter((each) => !isSameInBoth.test(each))) {
    const [a, b] = alone.map((answers) => answers.get(path));
    const isSame = a?.body.equals(b?.body ?? Buffer.alloc(0));
    expect([path, isSame, a?.body.length]).toEqual([path, false, b?.body.length]);
    if (a?.etag) expect([path, a.etag]).not.toEqual([path, b?.etag]);
  }
}

/**
 * Expects that no answer joins bytes of two versions of a source, of which the second one replaces the first after half of it was read.
 * @param etagOf as the source names them; `null`: not at all. @default digests of their bytes
 */
export async function expectUnmixed(
  site: FolderSite,
  source: Source,
  path: string,
  etagOf?: (version: number) => string | null,
): Promise<void> {
  const streams = await useStreams(site, source);
  const serve = (version: number) => {
    site.serveVersion(version, etagOf);
    source.prepare?.(site, '');
  };
  const versions: Answer[] = [];
  for (const version of [0, 1]) {
    serve(version);
    versions.push(await get(await streams.start(), path));
  }
  const [first, second] = versions as [Answer, Answer];
  expect([first.status, second.status, first.body.equals(second.body)]).toEqual([200, 200, false]);
  const isTold = !etagOf || etagOf(0) !== etagOf(1);
  for (const isRestarted of [false, true]) {
    serve(0);
    const attachments = new Map<string, Buffer>();
    let process = await streams.start(attachments);
    const half = Math.floor(first.body.length / 2);
    const before = await get(process, path, 0, { range: `bytes=0-${half - 1}` });
    expect(before.body.equals(first.body.subarray(0, before.body.length))).toBe(true);
    serve(1);
    if (isRestarted) process = await streams.start(attachments);
    const answers: string[] = [];
    const resumed = { range: `bytes=${half}-`, 'if-range': before.etag ?? '"none"' };
    for (const headers of [resumed, undefined, undefined, undefined]) {
      const { status, etag, body } = await get(process, path, 0, headers);
      const isOf = ({ body: whole }: Answer) => body.equals(status === 206 ? whole.subarray(half) : whole);
      const of = isOf(first) ? 'first' : isOf(second) ? 'second' : 'mixed';
      const named = etag === undefined || etag !== before.etag ? of : `${of}, under the first ETag`;
      answers.push(status === 200 || status === 206 ? named : 'failed');
    }
    const wrong = ['mixed', 'mixed, under the first ETag', ...(isTold ? ['second, under the first ETag'] : [])];
    const found = answers.filter((answer) => wrong.includes(answer));
    expect(found, `${path}: ${answers.join(' · ')}`).toEqual([]);
    // All of the first one may be in the memory of the process that has read it.
    const last = isRestarted ? ['second'] : ['first, under the first ETag', 'second'];
    if (isTold) expect(last, answers.join(' · ')).toContain(answers.at(-1));
  }
}
