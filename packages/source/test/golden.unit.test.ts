import { createCipheriv, createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join as pathOf } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { clip, join, type Source, type VirtualFile } from '@reelay/seekable-media';
import { sniff } from '@reelay/seekable-media/codecs';
import { indexContent, parseInitTracks, readTableDuration } from '@reelay/seekable-media/isobmff';
import { layOutClipSources } from '@reelay/seekable-media/mp4-clip';
import {
  layOutHls,
  writeDashManifest,
  writeMasterPlaylist,
  writeMediaPlaylist,
  writeTextPlaylist,
} from '@reelay/seekable-media/mp4-hls';
import { opusTags } from '@reelay/seekable-media/ogg';
import {
  ByteReader,
  createVirtualFile,
  type FragmentSource,
  findFirstRead,
  readFileHeaders,
} from '@reelay/seekable-media/reading';
import { fullId3Tag, id3Tag } from '@reelay/seekable-media/tags/id3';
import { mp4Tags } from '@reelay/seekable-media/tags/mp4-tags';
import {
  createLayout,
  type FileHeaders,
  type Layout,
  type LayoutExtras,
  packSource,
  unpackSource,
} from '@reelay/seekable-media/virtual-mp4';
import { centralDirectory, dataDescriptor, localHeader } from '@reelay/seekable-media/zip';
import { expect, it } from 'vitest';
import { createByteStore, createRequests, createSegmentFiles, HLS, type ListKind, WEBM } from '../src/index.ts';
import { createDiscontinuityFilter } from '../src/segmented/discontinuity-filter.ts';
import { createFlvParts } from '../src/segmented/flv-parts.ts';

/**
 * The bytes that are made of small sources, box by box, as `golden/*.txt` has them. What they have to be for players, other tests show by
 * FFmpeg and players; these show each change of a byte. A change that is meant: `-u`, and another LAYOUT_VERSION.
 */

const FOLDER = pathOf(import.meta.dirname, 'golden');
const read = (name: string): Buffer => readFileSync(pathOf(FOLDER, name));
const fileOf = (name: string): Source => {
  const bytes = read(name);
  return { size: bytes.length, version: name, read: (start, end) => new Blob([bytes.subarray(start, end)]).stream() };
};

const [KEY, VECTOR] = [Buffer.alloc(16, 7), Buffer.alloc(16, 3)];
/** The list `ts.m3u8` and its segments, encrypted with a key of 16 bytes. */
function encrypted(name: string): Buffer {
  if (name === 'key') return KEY;
  const bytes = read(name);
  if (name.endsWith('.m3u8')) {
    const key = `#EXT-X-KEY:METHOD=AES-128,URI="/encrypted/key",IV=0x${VECTOR.toString('hex')}`;
    return Buffer.from(bytes.toString().replace('#EXTINF', `${key}\n#EXTINF`));
  }
  const cipher = createCipheriv('aes-128-cbc', KEY, VECTOR);
  return Buffer.concat([cipher.update(bytes), cipher.final()]);
}

/** Answers from the folder, by ranges. */
const egress = {
  async request(url: string, { headers = {} }: { readonly headers?: Readonly<Record<string, string>> } = {}) {
    const [, isEncrypted, name = ''] = /^\/(encrypted\/)?(.*)$/.exec(new URL(url).pathname) ?? [];
    const bytes = isEncrypted ? encrypted(name) : read(name);
    const [, first = 0, last = bytes.length - 1] = /^bytes=(\d+)-(\d+)?$/.exec(headers.range ?? '') ?? [];
    const part = bytes.subarray(Number(first), Math.min(Number(last), bytes.length - 1) + 1);
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`;
    const sent = { 'content-length': String(part.length), etag: '"1"', 'accept-ranges': 'bytes' };
    const isRange = headers.range !== undefined;
    return {
      url,
      status: isRange ? 206 : 200,
      headers: isRange ? { ...sent, 'content-range': range } : sent,
      body: Readable.from([part]),
    };
  },
};

async function listOf(name: string, kind: ListKind = HLS): Promise<FragmentSource> {
  const prepare = createRequests({ egress });
  const files = createSegmentFiles({ memoryBytes: 2 ** 24, store: createByteStore(2 ** 24) });
  const request = { ...prepare({ url: `http://a.test/${name}`, headers: {}, cookies: [] }), kind };
  const found = await files.find(request, { isNeeded: true });
  return (found && (await files.open(request, found)).fragments) ?? expect.fail(`${name} makes no file`);
}

const sourceOf = (name: string): Source | Promise<FragmentSource> =>
  name.endsWith('.m3u8') ? listOf(name) : name.endsWith('.webm') ? listOf(name, WEBM) : fileOf(name);

const readerOf = ({ size, read }: Source) =>
  new ByteReader({ size, read: (first, last = size - 1) => read(first, last + 1) });

const headersOf = async (source: Source | FragmentSource) => {
  if ('open' in source) return unpackSource(source.index);
  const reader = readerOf(source);
  const headers = await readFileHeaders(reader, {}).finally(() => reader.destroy());
  return unpackSource(packSource(headers));
};

/** What a range of a file needs first of each source, for ranges that begin in the header, with the media and in its middle. */
function firstReadsOf(layout: Layout, sources: number): string {
  const starts = [0, layout.mediaStart - 1, layout.mediaStart, layout.size >> 1, layout.size - 1];
  const reads = starts.map((first) =>
    Array.from({ length: sources }, (_, source) => {
      const span = findFirstRead(layout, source, { first, last: Math.min(first + 99, layout.size - 1) });
      return span ? `${span.first}-${span.last}` : 'none';
    }),
  );
  return starts.map((first, index) => `${first}: ${reads[index]?.join(', ')}`).join('\n');
}

/** A file of a layout that is made with extras, or of a part. */
async function fileOfLayout(sources: readonly (Source | FragmentSource)[], layout: Layout): Promise<VirtualFile> {
  return createVirtualFile({
    layout,
    version: 'golden',
    lists: sources.map((source) => ('open' in source ? source : undefined)),
    openSource: async (index) => readerOf(sources[index] as Source),
  });
}

const PARENTS = /^(?:moov|trak|mdia|minf|stbl|mvex|moof|traf|edts|dinf|udta|tref)$/;
/** Longer contents are named by their digest. */
const MAX_SHOWN_BYTES = 96;
const shown = (bytes: Buffer): string =>
  bytes.length <= MAX_SHOWN_BYTES
    ? bytes.toString('hex')
    : `${bytes.length} bytes ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;

/** A line for each box: what changes is named by its box. Other bytes are one line. */
function describeBoxes(bytes: Buffer, indent = ''): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    const size = at + 8 <= bytes.length ? bytes.readUInt32BE(at) : 0;
    const long = size === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : size;
    if (!/^[\w ]{4}$/.test(type) || long < 8 || at + long > bytes.length)
      return [...lines, indent + shown(bytes.subarray(at))];
    const content = bytes.subarray(at + (size === 1 ? 16 : 8), at + long);
    if (PARENTS.test(type)) lines.push(`${indent}${type}`, ...describeBoxes(content, `${indent}  `));
    else lines.push(`${indent}${type} ${shown(content)}`);
    at += long;
  }
  return lines;
}

const goldenOf = async (file: VirtualFile): Promise<string> => {
  const whole = await buffer(file.read(0, file.size));
  const middle = await buffer(file.read(file.size >> 1, (file.size >> 1) + 100));
  expect(middle.equals(whole.subarray(file.size >> 1, (file.size >> 1) + 100))).toBe(true);
  return [`${file.type} ${file.size} bytes, ${file.durationSeconds} s`, ...describeBoxes(whole), ''].join('\n');
};

const EXTRAS: LayoutExtras = {
  tags: mp4Tags(
    { title: 'A title', artist: 'Someone', album: 'A list', trackNumber: 3 } as never,
    Buffer.from('ÿØÿ', 'latin1'),
  ),
  text: {
    language: 'de',
    cues: [
      { startMs: 200, endMs: 900, text: 'Ä\nb' },
      { startMs: 1200, endMs: 1300, text: 'c' },
    ],
  },
  chapters: [
    { startSeconds: 0, endSeconds: 1, title: 'One' },
    { startSeconds: 1, endSeconds: 2, title: 'Two' },
  ],
  sounds: [
    { language: 'de', name: 'Deutsch' },
    { language: 'en', name: 'English' },
  ],
  recordedAtMs: 1_700_000_000_000,
};

const SETS: readonly (readonly string[])[] = [
  ['video.mp4', 'audio.m4a'],
  ['video.mp4', 'ac3.mp4', 'opus.mp4'],
  ['video-fragments.mp4', 'audio-fragments.m4a'],
  ['video-fragments.mp4', 'audio.m4a', 'opus.webm'],
  ['video.mp4', 'aac.m3u8'],
  ['video.webm', 'opus.webm'],
  ['both.mp4'],
  ['quicktime.mov'],
  ['ts.m3u8'],
  ['cmaf.m3u8'],
  ['aac.m3u8'],
  ['hevc.m3u8'],
  ['mp3.m3u8'],
  ['ac3-surround.m3u8'],
  ['eac3-surround.m3u8'],
  ['opus.webm'],
];

it.each(SETS.map((names) => [names.join('+'), names] as const))('joins %s', async (title, names) => {
  const sources = await Promise.all(names.map(sourceOf));
  await expect(await goldenOf(await join(sources))).toMatchFileSnapshot(`golden/joined/${title}.txt`);
  const layout = createLayout(await Promise.all(sources.map(headersOf)), EXTRAS);
  await expect(await goldenOf(await fileOfLayout(sources, layout))).toMatchFileSnapshot(`golden/extended/${title}.txt`);
});

it('reads a list that is encrypted as the list itself', async () => {
  const mediaOf = async (name: string) => {
    const [, ...boxes] = (await goldenOf(await join([await listOf(name)]))).split('\n');
    // Room is left for what the segments might have, which padding makes larger, and counted.
    return boxes.filter((line) => !/^(free|sidx) /.test(line));
  };
  expect(await mediaOf('encrypted/ts.m3u8')).toEqual(await mediaOf('ts.m3u8'));
});

it('says what a range needs first of each source', async () => {
  let text = '';
  for (const names of SETS.filter((each) => !each.some((name) => /m3u8|webm/.test(name)))) {
    const layout = createLayout(await Promise.all((await Promise.all(names.map(sourceOf))).map(headersOf)));
    text += `# ${names.join('+')}\n${firstReadsOf(layout, names.length)}\n`;
  }
  await expect(text).toMatchFileSnapshot('golden/first-reads.txt');
});

it('names a file by its sources in their versions, and one of unknown version by nothing else', async () => {
  const nameOf = async (...sources: readonly (Source | FragmentSource)[]) => (await join(sources)).version;
  const [video, audio, list] = [fileOf('video.mp4'), fileOf('audio.m4a'), await listOf('aac.m3u8')];
  const unnamed: Source = { size: video.size, read: video.read };
  const names = [
    await nameOf(video, audio),
    await nameOf({ ...video, version: 'other' }, audio),
    await nameOf(video, { ...audio, version: 'other' }),
    await nameOf(video, list),
    await nameOf(video, { ...list, version: 'other' }),
    await nameOf(unnamed, audio),
    await nameOf(unnamed, audio),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect([await nameOf(fileOf('video.mp4'), audio), await nameOf(video, list)]).toEqual([names[0], names[3]]);
});

it('refuses more fragments without an index than it may look for', async () => {
  const segments = Array.from({ length: 40 }, (_, index) => read(`cmaf${index % 2}.m4s`));
  const withoutIndex = segments.map((bytes) => {
    const { children } = indexContent(bytes, 'file');
    return Buffer.concat(children.filter(({ type }) => /moof|mdat/.test(type)).map(({ whole }) => whole));
  });
  const sized = (count: number) => {
    const bytes = Buffer.concat([read('cmaf.mp4'), ...withoutIndex.slice(0, count)]);
    return {
      ...fileOf('cmaf.mp4'),
      size: bytes.length,
      read: (start: number, end: number) => new Blob([bytes.subarray(start, end)]).stream(),
    };
  };
  await expect(join([sized(40)])).rejects.toThrow('Too many indexes, or fragments without an index');
});

it('closes every source that it has opened: at the end of a range, and where its reader leaves', async () => {
  const names = ['video.mp4', 'audio.m4a'];
  const layout = createLayout(await Promise.all(names.map(fileOf).map(headersOf)));
  const open = new Set<ByteReader>();
  const file = createVirtualFile({
    layout,
    version: 'golden',
    lists: [],
    openSource: async (index) => {
      const reader = readerOf(fileOf(names[index] ?? ''));
      const { destroy } = reader;
      open.add(reader);
      reader.destroy = () => {
        open.delete(reader);
        return destroy.call(reader);
      };
      return reader;
    },
  });
  await buffer(file.read(0, file.size));
  expect(open.size).toBe(0);
  const iterator = file.read(0, file.size)[Symbol.asyncIterator]();
  await iterator.next();
  expect(open.size).toBeGreaterThan(0);
  await iterator.return?.();
  expect(open.size).toBe(0);
});

it.each(['both.mp4', 'video.mp4', 'audio.m4a', 'ts.m3u8', 'cmaf.m3u8', 'hevc.m3u8', 'video.webm'])(
  'cuts %s',
  async (name) => {
    const made = await sourceOf(name);
    const source = 'open' in made ? await join([made]) : made;
    await expect(await goldenOf(await clip(source, 0.55, 1.45))).toMatchFileSnapshot(`golden/clipped/${name}.txt`);
  },
);

it.each([
  ['both', 'both.mp4', ['vide', 'soun'], {}],
  ['both-keyframe', 'both.mp4', ['vide', 'soun'], { isFromKeyframe: true }],
  ['both-extended', 'both.mp4', ['vide', 'soun'], EXTRAS],
  ['m4a', 'both.mp4', ['soun'], { container: 'm4a' }],
  ['opus', 'opus.mp4', ['soun'], { container: 'opus', tags: opusTags(['TITLE=A']) }],
] as const)('leaves out a part: %s', async (title, name, kinds, options) => {
  const source = fileOf(name);
  const skipped = title === 'opus' ? undefined : [{ startSeconds: 0.7, endSeconds: 1.15 }];
  const times = { startSeconds: 0.35, endSeconds: 1.8, skipped };
  const layout = layOutClipSources(
    [{ header: packSource((await headersOf(source)) as FileHeaders), kinds }],
    times,
    options,
  );
  const text = `${layout.startSeconds} to ${layout.endSeconds}\n${await goldenOf(await fileOfLayout([source], layout))}`;
  await expect(text).toMatchFileSnapshot(`golden/parts/${title}.txt`);
});

it('presents HLS and DASH of a file, of fragments and of lists', async () => {
  const made = [
    ['both.mp4', 'vide'],
    ['both.mp4', 'soun'],
    ['video-fragments.mp4', 'vide'],
    ['cmaf.m3u8', 'vide'],
    ['video.webm', 'vide'],
  ] as const;
  const streams = [];
  let text = '';
  for (const [index, [name, kind]] of made.entries()) {
    const source = await sourceOf(name);
    const layout = layOutHls(await headersOf(source), [kind]);
    const stream = { ...layout.stream, file: `${index}.mp4`, playlist: `${index}.m3u8` };
    streams.push(stream);
    text += `# ${name} ${kind}\n${writeMediaPlaylist(stream)}\n${await goldenOf(await fileOfLayout([source], layout))}\n`;
  }
  const sound = { language: 'de', name: 'Deutsch "1"' };
  const named = streams.map((stream) => (stream.kind === 'audio' ? { ...stream, sound } : stream));
  const texts = [
    { language: 'de', name: 'Deutsch', isFirst: true, file: 'de.vtt?audio=de&entity=1', playlist: 'de.m3u8' },
    { name: 'A "1"\r\n#EXT-X-ENDLIST <&\u0007', isFirst: true, file: 'und.vtt', playlist: 'und.m3u8' },
    { language: 'de', name: "A '1' #EXT-X-ENDLIST <& ", isFirst: false, file: '2.vtt', playlist: '2.m3u8' },
  ];
  const [first] = named;
  const playlist = first && writeTextPlaylist(first, 'de.vtt');
  await expect(
    `${text}${playlist}\n${writeMasterPlaylist(named, texts, 'chapters.json')}\n${writeDashManifest(named, texts)}\n`,
  ).toMatchFileSnapshot('golden/presented.txt');
});

it('reads what headers say of containers and tracks', async () => {
  const lines = readdirSync(FOLDER)
    .filter((name) => /\.(mp4|m4a|mov|webm|avi|aiff)$/.test(name))
    .sort()
    .flatMap((name) => {
      const bytes = read(name);
      const moov = indexContent(bytes, 'file').find('moov');
      const content = moov && bytes.subarray(moov.content, moov.end);
      const tracks = moov ? parseInitTracks(moov.whole) : [];
      return [
        `${name} ${JSON.stringify(sniff(bytes))}`,
        ...tracks.map(({ description, ...track }) => `  ${JSON.stringify(track)} ${shown(description)}`),
        ...(['vide', 'soun'] as const).flatMap((kind) => {
          const duration = content && readTableDuration(content, kind);
          return duration ? [`  ${kind} ${JSON.stringify(duration)}`] : [];
        }),
      ];
    });
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/headers.txt');
});

it.each([
  ['where the timeline goes on', [0, 1, 2, 3]],
  ['after a gap', [0, 1, 4, 5]],
] as const)('joins fragments whose times begin again, %s', async (title, starts) => {
  const filter = createDiscontinuityFilter();
  const run = ({ update, final }: ReturnType<typeof filter.init>, bytes: Buffer) =>
    Buffer.concat([update(bytes.subarray(0, 50)), update(bytes.subarray(50)), final()]);
  const parts = starts.map((start, index) =>
    Buffer.concat([
      index === 0 || index === 2 ? run(filter.init(), read('cmaf.mp4')) : Buffer.alloc(0),
      run(filter.segment(start), read(`cmaf${index % 2}.m4s`)),
    ]),
  );
  const text = describeBoxes(Buffer.concat(parts)).join('\n');
  await expect(`${text}\n`).toMatchFileSnapshot(`golden/discontinuity/${title.replaceAll(' ', '-')}.txt`);
});

it('joins parts of FLV: one header, and times that go on', async () => {
  const parts = createFlvParts();
  const joined = Buffer.concat(
    [0, 1].flatMap(() => {
      const { update, final } = parts.segment(undefined);
      const bytes = read('both.flv');
      return [update(bytes.subarray(0, 700)), update(bytes.subarray(700)), final()];
    }),
  );
  const lines = [joined.toString('hex', 0, 13)];
  for (let at = 13; at < joined.length; ) {
    const size = joined.readUIntBE(at + 1, 3);
    lines.push(`${joined.toString('hex', at, at + 11)} ${shown(joined.subarray(at + 11, at + 15 + size))}`);
    at += 15 + size;
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/flv.txt');
});

it('writes the records of archives and tags', async () => {
  const modifiedAt = new Date(Date.UTC(2026, 10, 22, 13, 30, 59));
  const written = [1000, 2 ** 32 + 7].map((size, index) => ({
    entry: { path: `ä/${index}.mp4`, size, modifiedAt },
    size,
    compressedSize: size + 5,
    crc32: 0x0102_0304,
    offset: index * 2 ** 33,
  }));
  const chapters = [{ startSeconds: 0.5, endSeconds: 2, title: 'One' }];
  const text = {
    title: 'Ä',
    artist: null,
    album: 'A list',
    trackNumber: 3,
    date: '2026-11-22',
    link: 'https://a.test/',
    chapters,
  };
  const tag = fullId3Tag(text, Buffer.from('ÿØÿ', 'latin1'));
  const records: [string, Buffer][] = [
    ...written.flatMap((each): [string, Buffer][] => [
      ['local header', localHeader(each.entry)],
      ['data descriptor', dataDescriptor(each)],
    ]),
    ['central directory', centralDirectory(written, 2 ** 34)],
    ['short tag', id3Tag(text)],
    ['full tag', tag.subarray(0, tag.findLastIndex((byte) => byte !== 0) + 1)],
    ['full tag with its padding', tag],
  ];
  const lines = records.map(([name, bytes]) => `${name} ${bytes.length > 1000 ? shown(bytes) : bytes.toString('hex')}`);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/records.txt');
});
