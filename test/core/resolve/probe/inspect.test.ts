import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEgress, type Egress } from '../../../../core/egress/create-egress.ts';
import { ParsingLimitExceeded, UpstreamError } from '../../../../core/errors/index.ts';
import { parse, READ_CONTAINER } from '../../../../core/parsing/index.ts';
import { inspectTracks } from '../../../../core/resolve/probe/inspect-tracks.ts';
import { ensureMedia } from '../../../origin/media.ts';
import { type Origin, startOrigin } from '../../../origin/server.ts';
import { asProblem } from '../../../support/as-problem.ts';
import { closeAfterwards } from '../../../support/close-afterwards.ts';
import { runProgram, withTemporaryFolder } from '../../../support/media-tools.ts';
import { type Format, tracksOf } from '../yt-dlp/tracks-of.ts';

/** An ADTS frame with a length of 0: a parser that skips to the next frame loops forever. */
const ENDLESS = Buffer.concat([Buffer.from('fff15040000000', 'hex'), Buffer.alloc(57)]);

const padded = (start: string) => Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(500)]);
/** Starts of files that FFmpeg cannot create; probing reads no further. */
const HEADS: Readonly<Record<string, Buffer>> = {
  avi: padded('RIFF\0\0\0\0AVI LIST'),
  flv: padded('FLV\x01\x05\0\0\0\x09'),
  wmv: padded('\x30\x26\xb2\x75\x8e\x66\xcf\x11'),
  amr: padded('#!AMR\n'),
  avif: padded('\0\0\0\x20ftypavif'),
  pdf: Buffer.from('%PDF-1.7\n%junk'),
  gif: Buffer.from('GIF89a\x01\0\x01\0', 'latin1'),
  html: Buffer.from('<!doctype html><title>No media</title>'),
};

const media = async (path: string) => readFile(join(await ensureMedia(), path));

function sendRange(file: Buffer | undefined, range: string | undefined, response: ServerResponse): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  const part = file?.subarray(Number(first), Number(last) + 1) ?? '';
  const end = Number(first) + part.length - 1;
  response.writeHead(206, { 'content-range': `bytes ${first}-${end}/${file?.length}` }).end(part);
}

/** A file with Common Encryption (ISO/IEC 23001-7). */
const encrypt = (input: string, more: readonly string[]): Promise<Buffer> =>
  withTemporaryFolder(async (folder) => {
    const output = join(folder, 'encrypted.mp4');
    const key = `-encryption_scheme cenc-aes-ctr -encryption_key ${'00'.repeat(16)} -encryption_kid ${'11'.repeat(16)}`;
    const args = ['-nostdin', '-v', 'error', '-i', input, '-c', 'copy', ...key.split(' '), ...more, output];
    expect(await runProgram('ffmpeg', args)).toEqual({ code: 0, output: '' });
    return readFile(output);
  });

describe('inspectTracks', () => {
  /** Paths of `/once/` that have failed. */
  const asked = new Set<string>();
  /** Responses of `/list/`, last first. */
  const lists: string[] = [];
  const encrypted = new Map<string, Buffer>();
  let origin: Origin;
  let egress: Egress;

  beforeAll(async () => {
    origin = await startOrigin({
      mounts: {
        '/heads/': ({ path, response }) => void response.end(HEADS[path]),
        '/other-range/': ({ response }) =>
          void response.writeHead(206, { 'content-range': 'bytes 500-507/1000' }).end('ftypisom'),
        '/list/': ({ response }) => void response.end(lists.pop()),
        '/protected/': ({ path, request, response }) => sendRange(encrypted.get(path), request.headers.range, response),
        '/breaks/': async ({ path, request, response }) => {
          if (request.headers.range !== 'bytes=0-65535') return void response.destroy();
          sendRange(await media(path), request.headers.range, response);
        },
        '/coded/': ({ response }) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('junk'),
        '/gzip/': async ({ path, request, response }) => {
          const file = HEADS[path] ?? (await media(path));
          response.setHeader('content-encoding', 'gzip');
          if (request.headers.range) sendRange(gzipSync(file), request.headers.range, response);
          else response.end(gzipSync(file));
        },
        '/later/': async ({ path, request, response }) => {
          const [status, name = ''] = path.split('/');
          const { range } = request.headers;
          const segments = [0, 1, 2, 3].map((index) => `#EXTINF:30.5,\n${index}.m4s\n`).join('');
          const isLater = name === '2.m4s' || Number(/^bytes=(\d+)/.exec(range ?? '')?.[1]) >= 2 ** 20;
          if (name === 'index.m3u8') response.end(`#EXTM3U\n#EXT-X-TARGETDURATION:31\n${segments}#EXT-X-ENDLIST\n`);
          else if (name === 'manifest.mpd') response.end('<MPD></MPD>');
          else if (!isLater) sendRange(await media('tone.m4a'), range, response);
          else if (status === '0') response.destroy();
          else response.writeHead(Number(status)).end();
        },
        '/once/': async ({ path, response }) => {
          const [, status, name = ''] = /^(\d+)\/(.*)$/.exec(path) ?? [];
          const isFirst = !asked.has(path);
          asked.add(path);
          if (!isFirst) response.end(await media(name));
          else if (status === '0') response.destroy();
          else response.writeHead(Number(status)).end();
        },
      },
    });
    closeAfterwards(origin);
    egress = closeAfterwards(createEgress({ allow: [origin.host] }));
    for (const [name, input, ...more] of [
      ['front.mp4', 'clip.mp4', '-movflags', '+faststart'],
      ['tail.mp4', 'clip.mp4'],
      ['sound.m4a', 'tone.m4a'],
    ] as const)
      encrypted.set(name, await encrypt(join(await ensureMedia(), input), more));
  });

  const { signal } = new AbortController();
  /** The machine may be slow. */
  const LENIENT = { trackTimeoutMs: 60_000, totalTimeoutMs: 120_000 };
  type Options = Partial<Parameters<typeof inspectTracks>[1]> & { readonly info?: Format };
  const inspect = (formats: readonly Format[], { info, ...options }: Options = LENIENT) =>
    inspectTracks(tracksOf({ formats, ...info }), {
      egress,
      identity: 'direct',
      link: origin.url('/'),
      signal,
      ...options,
    });
  const format = (path: string, more: Format = {}): Format => ({
    format_id: path,
    url: URL.canParse(path) ? path : origin.url(path),
    protocol: 'https',
    ext: path.split('.').at(-1),
    ...more,
  });
  const trackOf = async (path: string, more?: Format) => (await inspect([format(path, more)])).result.tracks[0];
  const idsOf = ({ result }: Awaited<ReturnType<typeof inspect>>) => result.tracks.map(({ formatId }) => formatId);
  const later = (seconds: number) => ({ available_at: Date.now() / 1000 + seconds });
  const HLS = { protocol: 'm3u8_native', ext: 'mp4' };
  const DASH = { protocol: 'http_dash_segments' };
  const AAC = { vcodec: 'none', acodec: 'mp4a.40.2' };
  const SILENT = { vcodec: 'avc1.4d401e', acodec: 'none', height: 180 };

  describe('of a host that may stop after the first minute', () => {
    const described = { ...AAC, duration: 300, filesize: 4_000_000 };
    const listed = { ...described, filesize: undefined };
    const fragments = [0, 1, 2, 3].map((index) => ({ path: `${index}.m4s`, duration: 30 }));

    it.each<[string, string, Format, boolean]>([
      ['a file that is refused there', '403/a.m4a', {}, true],
      ['a file that is not there', '404/a.m4a', {}, true],
      ['HLS that is refused there', '403/index.m3u8', { ...HLS, ...listed }, true],
      ['DASH that is refused there', '403/manifest.mpd', { ...DASH, fragments, ...listed }, true],
      ['a file that is served', '206/a.m4a', {}, false],
      ['a file that reports overload', '503/a.m4a', {}, false],
      ['a file that does not answer', '0/a.m4a', {}, false],
      ['a file that is shorter', '403/a.m4a', { duration: 59 }, false],
      ['a file that is not served yet', '403/a.m4a', later(30), false],
    ])('looks at %s (%s)', async (_what, path, more, isPartial) => {
      const base = { fragment_base_url: origin.url('/later/403/') };
      const one = format(`/later/${path}`, { ...base, ...described, ...more });
      for (const host of ['127.0.0.1', 'other.example']) {
        const { result, failure } = await inspect([one], { probedHosts: [host] });
        expect([host, result.renditions[0]?.flaws?.join(), failure]).toEqual([
          host,
          isPartial && host === '127.0.0.1' ? 'partial' : undefined,
          undefined,
        ]);
      }
    });
  });

  describe('of a file that its site serves from a moment on', () => {
    const inspectUntil = (one: Format) => inspect([one], { deadline: Date.now() + 25_000 });

    it('waits for one that is not described', async () => {
      const moment = later(0.5);
      const path = `/site-media/open/clip.mp4?from=${moment.available_at}`;
      const { result } = await inspectUntil(format(path, { ext: 'mp4', ...moment }));
      expect(result.tracks[0]?.sizeIsExact).toBe(true);
    });

    it('fails with the seconds when the deadline leaves no time for the wait', async () => {
      await expect(asProblem(inspectUntil(format('/files/clip.mp4', later(18))))).rejects.toMatchObject({
        details: { type: '/problems/delayed', status: 503 },
        headers: { 'retry-after': expect.stringMatching(/^1[5-8]$/) },
      });
    });

    it('does not wait to make the duration of a described one exact', async () => {
      const described = { ...AAC, filesize: 1000, duration: 7, ...later(30) };
      const { result, failure } = await inspectUntil(format('/files/tone.m4a', described));
      expect([result.tracks[0]?.durationSeconds, failure]).toEqual([7, undefined]);
    });
  });

  it.each<[string, object, Format?]>([
    ['/files/clip.mp4', { container: 'mp4', durationSeconds: 6, video: { height: 180, width: 320 }, audio: {} }],
    ['/files/clip-tail.mp4', { container: 'mp4', durationSeconds: 6 }],
    ['/files/clip.webm', { container: 'webm', video: { height: 180 }, audio: { codec: 'opus' } }],
    ['/files/clip.mkv', { container: 'mkv', video: { height: 180 } }],
    ['/files/silent.mp4', { container: 'mp4', audio: null }],
    ['/files/tone.m4a', { container: 'm4a', durationSeconds: 6, video: null, audio: { codec: 'mp4a.40.2' } }],
    ['/files/tone.mp3', { container: 'mp3', video: null, audio: { codec: 'mp3', sampleRate: 48000 } }],
    ['/files/tone.ogg', { container: 'ogg', video: null, audio: { codec: 'opus' } }],
    ['/files/tone.webm', { container: 'webm', video: null, audio: { codec: 'opus' } }],
    ['/files/tone.flac', { container: 'flac', durationSeconds: 6, audio: { codec: 'flac' } }],
    ['/files/tone.wav', { container: 'wav', durationSeconds: 6 }],
    ['/heads/avi', { container: 'avi', video: {}, audio: {} }],
    ['/heads/flv', { container: 'flv', video: {} }],
    ['/heads/wmv', { container: 'wmv', video: {} }],
    ['/heads/amr', { container: 'amr', video: null, audio: {} }],
    // An unknown resolution in the description of yt-dlp is replaced; a container name of the same type is kept.
    ['/files/clip.mp4', { description: 'mp4 - 320x180' }, { format: 'mp4 - unknown' }],
    ['/files/tone.ogg', { container: 'opus' }, { ext: 'opus' }],
    ['/files/tone.ogg', { container: 'ogg' }, { ext: 'unknown_video' }],
    // What fails once is asked for once more.
    ...['503', '429', '0'].map((status): [string, object] => [`/once/${status}/clip.mp4`, { durationSeconds: 6 }]),
    // Sources that ignore ranges are read from the start alone.
    ['/slow/clip.mp4?rate=10000000', { container: 'mp4', durationSeconds: 6 }],
    ['/slow/clip-tail.mp4?rate=10000000', { container: 'mp4', video: {}, audio: {}, durationSeconds: undefined }],
  ])('reads %s as %j (%j)', async (path, expected, more) => {
    const track = await trackOf(path, more);
    expect({ durationSeconds: undefined, ...track }).toMatchObject({ sizeIsExact: true, ...expected });
    expect(track?.sizeBytes).toBeGreaterThan(0);
  });

  const NO_MEDIA = { type: '/problems/no-media', status: 404 };
  const DRM = { status: 415, detail: 'The media is DRM protected.' };
  it.each<[string, object, Format?]>([
    ...['avif', 'pdf', 'gif', 'html'].map((name): [string, object] => [`/heads/${name}`, NO_MEDIA]),
    ['/coded/x', NO_MEDIA],
    ['/gzip/html', NO_MEDIA],
    ['/trouble/404', { type: '/problems/not-found', status: 404, title: 'Resource Not Found' }],
    ['/trouble/410', { type: '/problems/gone', status: 404 }],
    ['http://10.1.2.3/x.mp4', { type: '/problems/private-address', status: 404 }],
    ['http://[::1]/x.mp4', { type: '/problems/private-address', status: 404 }],
    ['http://localhost/x.mp4', { type: '/problems/unknown-host', status: 404 }],
    ['http://169.254.169.254/latest/meta-data', { type: '/problems/private-address', status: 404 }],
    ['/trouble/403', { status: 415 }],
    ['/trouble/401', { status: 415 }],
    ['/trouble/500', { status: 502 }],
    ['/trouble/429', { status: 502 }],
    ['/trouble/reset', { status: 502 }],
    ['/other-range/x', { status: 502 }],
    ['/gzip/clip.mp4', { status: 415, detail: 'The source sends the file compressed and without ranges.' }],
    ['/protected/front.mp4', DRM],
    ['/protected/tail.mp4', DRM],
    ['/protected/sound.m4a', DRM],
    ['/files/tone.mp3', { status: 404 }, HLS],
    ['/inward/segment?to=http://10.1.2.3/a.ts', { status: 404 }, HLS],
    ['/inward/key?to=http://10.1.2.3/key', { status: 404 }, HLS],
  ])('answers %s with %j (%j)', (path, details, more) =>
    expect(asProblem(trackOf(path, more))).rejects.toMatchObject({ details }),
  );

  it('omits formats whose files are gone, refused or protected, tells no failure of it, and keeps the rest', async () => {
    const paths = ['/trouble/404', '/plain/image', '/trouble/403', 'http://10.1.2.3/x.mp4', '/protected/front.mp4'];
    // The source ignores ranges: the end of the file is out of reach.
    const kept = ['/files/clip.mp4', '/slow/clip-tail.mp4?rate=10000000'];
    const inspected = await inspect([...paths, ...kept].map((path) => format(path)));
    expect(idsOf(inspected).toSorted()).toEqual(kept);
    expect(inspected.failure).toBeUndefined();
  });

  it.each([
    ['Pinterest', 2],
    ['Generic', 1],
  ])(
    'offers a file of %s when reading it fails in passing, unless any page may name it',
    async (extractor_key, count) => {
      const formats = [format('/trouble/503', { ext: 'mp4', height: 720 }), format('/files/tone.m4a')];
      expect(idsOf(await inspect(formats, { ...LENIENT, info: { extractor_key } }))).toHaveLength(count);
    },
  );

  it('probes described formats only for the duration of the conversion', async () => {
    const before = origin.requests.length;
    const sided = { filesize: 10, tbr: 5 };
    const video = format('/files/clip.mp4', { ...SILENT, ...sided });
    const sound = format('/files/tone.m4a', { ...AAC, ...sided });
    const { result } = await inspect([video, sound], { ...LENIENT, info: { duration: 7 } });
    expect(result.tracks.map(({ durationSeconds }) => durationSeconds)).toEqual([6, 7]);
    expect(origin.requests.slice(before).map(({ path }) => path)).toEqual(['/files/tone.m4a']);
  });

  it('keeps a described format that cannot be probed', async () => {
    const opus = format('/trouble/500', { ext: 'webm', vcodec: 'none', acodec: 'opus', tbr: 5 });
    const { result } = await inspect([opus], { ...LENIENT, info: { duration: 7 } });
    expect(result.tracks[0]?.durationSeconds).toBe(7);
  });

  it('tells the failure of a request for the rest of a file', async () => {
    const { result, failure } = await inspect([format('/breaks/clip-tail.mp4')]);
    expect(result.tracks).toMatchObject([{ container: 'mp4', video: {}, audio: {} }]);
    expect(failure).toBeInstanceOf(UpstreamError);
  });

  it('is aborted with its caller', async () => {
    const leaving = new AbortController();
    const looking = inspect([format('/trouble/silence?left')], { ...LENIENT, signal: leaving.signal });
    await expect.poll(() => origin.requestsTo('/trouble/silence?left').length).toBe(1);
    leaving.abort(new Error('left'));
    await expect(looking).rejects.toThrow('left');
    await expect.poll(() => origin.requestsTo('/trouble/silence?left').at(-1)?.state).toBe('left');
  });

  describe('of a playlist', () => {
    const BOTH = { video: { height: 180 }, audio: { codec: 'mp4a.40.2' } };
    it.each([
      ['/hls/ts/index.m3u8', { ...BOTH, durationSeconds: 6 }],
      ['/gzip/hls/ts/index.m3u8', { durationSeconds: 6 }],
      ['/hls/fmp4/index.m3u8', BOTH],
      ['/hls/audio/index.m3u8', { ...BOTH, video: null }],
      ['/hls/aes/index.m3u8', BOTH],
      ['/live/index.m3u8', { ...BOTH, video: { height: 90 } }],
    ])('reads %s, which no multivariant playlist describes, as %j', async (path, expected) =>
      expect(await trackOf(path, HLS)).toMatchObject(expected),
    );

    const encrypted = (key: string) => `#EXT-X-KEY:${key}\n#EXTINF:2,\n/hls/aes/0.ts\n#EXT-X-ENDLIST\n`;
    const listOf = (content: string, more: Format = {}) => {
      lists.push(`#EXTM3U\n${content}`);
      return trackOf('/list/index.m3u8', { ...HLS, ...more });
    };

    it.each(['METHOD=SAMPLE-AES', 'METHOD=AES-128,IV=0x99'])('leaves codecs unknown for %s', async (method) =>
      expect(await listOf(encrypted(`${method},URI="/hls/aes/key.bin"`))).toMatchObject({ video: {}, audio: {} }),
    );

    it('decrypts with the key and the IV that the extractor states', async () => {
      const key = (await media('hls/aes/key.bin')).toString('hex');
      for (const stated of [{ key }, { uri: origin.url('/hls/aes/key.bin') }]) {
        const hls_aes = { ...stated, iv: '0x1' };
        expect(await listOf(encrypted('METHOD=AES-128,URI="/missing",IV=0x99'), { hls_aes })).toMatchObject(BOTH);
      }
    });

    it.each([
      ['malformed', '#EXT-X-KEY:METHOD=AES-128,URI="k",IV=x', 'Invalid initialization vector.'],
      ['of too many segments', '#EXTINF:1,\na\n'.repeat(100_001), 'The playlist has too many segments.'],
      ['of too many lines', '#EXT\n'.repeat(1_000_001), 'The playlist has too many lines.'],
      ['too large', '#'.repeat(8 * 1024 * 1024), 'The playlist is too large.'],
    ])('answers one that is %s with 415', async (_, content, detail) =>
      expect(asProblem(listOf(content))).rejects.toMatchObject({ details: { status: 415, detail } }),
    );

    it.each([{}, { vcodec: 'avc1.42c00d', acodec: 'mp4a.40.2', tbr: 400, height: 180 }])(
      'ignores durations in whole seconds (%j)',
      async (more) => {
        const rounded = format('/hls/missing-segment.m3u8', { ...HLS, ...more });
        const { result } = await inspect([rounded], { ...LENIENT, info: { duration: 34 } });
        expect(result.tracks.map(({ durationSeconds }) => durationSeconds)).toEqual([undefined]);
      },
    );
  });

  describe('of a track that runs out of time', () => {
    const SILENCE = '/trouble/silence?slow';
    const PAGE = { extractor_key: 'Generic' };
    const segment = (uri: string, key = '') => `#EXTM3U\n${key}#EXTINF:2.5,\n${uri}\n#EXT-X-ENDLIST\n`;
    const timeout = expect.objectContaining({ name: 'TimeoutError' });
    const HASTY = { trackTimeoutMs: 300, totalTimeoutMs: 1000 };
    const silent = () => format(SILENCE, { ext: 'mp4', ...SILENT });

    it.each<[string, () => Format[], Options, object[]]>([
      [
        'keeps what the extractor of a site describes',
        () => [silent()],
        {},
        [{ video: { codec: 'avc1.4d401e', height: 180 }, audio: null }],
      ],
      [
        'offers no unread file that any page names',
        () => [silent(), format('/files/tone.m4a')],
        { info: PAGE },
        [{ formatId: '/files/tone.m4a' }],
      ],
      [
        'keeps the duration of its source',
        () => [format(SILENCE, { ext: 'm4a', ...AAC, tbr: 5 })],
        { info: { duration: 7 } },
        [{ durationSeconds: 7 }],
      ],
      [
        'keeps one whose host could not be checked',
        () => [{ ...silent(), ...DASH, fragments: [{ url: origin.url(SILENCE) }] }],
        { link: 'https://media.example/' },
        [{ formatId: SILENCE }],
      ],
      ...[segment(SILENCE), segment('/hls/aes/0.ts', `#EXT-X-KEY:METHOD=AES-128,URI="${SILENCE}"\n`)].map(
        (content): [string, () => Format[], Options, object[]] => [
          'leaves the codecs of a playlist unknown when its segment or key does',
          () => {
            lists.push(content);
            return [format('/list/index.m3u8', HLS)];
          },
          {},
          [{ video: {}, audio: {}, durationSeconds: 2.5 }],
        ],
      ),
    ])('%s', async (_, formats, options, tracks) => {
      const { result, failure } = await inspect(formats(), { ...HASTY, ...options });
      expect(result.tracks).toMatchObject(tracks);
      expect(failure).toEqual(timeout);
    });

    it('answers with 502 when any page names it and nothing else is left', () =>
      expect(asProblem(inspect([silent()], { ...HASTY, info: PAGE }))).rejects.toMatchObject({
        details: { status: 502 },
      }));

    it('offers the same pair while the process that reads containers is busy', async () => {
      const formats = [format('/files/tone.m4a', AAC), format('/files/silent.mp4', SILENT)];
      const pairOf = async (totalTimeoutMs: number) => {
        const { result, failure } = await inspect(formats, { info: PAGE, client: 'busy', totalTimeoutMs });
        const [best] = result.renditions;
        return { failure, urlType: best?.urlType, formatIds: best?.formatIds };
      };
      const pair = { urlType: 'Combined', formatIds: ['/files/silent.mp4', '/files/tone.m4a'] };
      expect(await pairOf(60_000)).toEqual({ ...pair, failure: undefined });
      // It takes the only process that one client may use for more than a second.
      const blocks = [{ start: 0, bytes: ENDLESS }];
      const request = { size: ENDLESS.length, blocks, wantsDuration: true, isLast: true };
      const busy = parse(READ_CONTAINER, request, { client: 'busy' }).catch((error) => error);
      expect(await pairOf(1000)).toEqual({ ...pair, failure: timeout });
      expect(await busy).toBeInstanceOf(ParsingLimitExceeded);
      expect(await pairOf(60_000)).toEqual({ ...pair, failure: undefined });
    });
  });
});
