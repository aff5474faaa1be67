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
import { tracksOf } from '../yt-dlp/tracks-of.ts';

/** An ADTS frame with a length of 0: a parser that skips to the next frame loops forever. */
const ENDLESS = Buffer.concat([Buffer.from('fff15040000000', 'hex'), Buffer.alloc(57)]);

/** Starts of files that FFmpeg cannot create; probing reads no further. */
const HEADS: Readonly<Record<string, Buffer>> = {
  avi: Buffer.concat([Buffer.from('RIFF\0\0\0\0AVI LIST'), Buffer.alloc(500)]),
  flv: Buffer.concat([Buffer.from('FLV\x01\x05\0\0\0\x09'), Buffer.alloc(500)]),
  wmv: Buffer.concat([Buffer.from('3026b2758e66cf11', 'hex'), Buffer.alloc(500)]),
  amr: Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(500)]),
  avif: Buffer.concat([Buffer.from('\0\0\0\x20ftypavif'), Buffer.alloc(500)]),
  pdf: Buffer.from('%PDF-1.7\n%junk'),
  gif: Buffer.from('GIF89a\x01\0\x01\0', 'latin1'),
  html: Buffer.from('<!doctype html><title>No media</title>'),
};

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
    const key = [
      '-encryption_scheme',
      'cenc-aes-ctr',
      '-encryption_key',
      '00'.repeat(16),
      '-encryption_kid',
      '11'.repeat(16),
    ];
    const args = ['-nostdin', '-v', 'error', '-i', input, '-c', 'copy', ...key, ...more, output];
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
          sendRange(await readFile(join(await ensureMedia(), path)), request.headers.range, response);
        },
        '/coded/': ({ response }) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('junk'),
        '/gzip/': async ({ path, request, response }) => {
          const file = HEADS[path] ?? (await readFile(join(await ensureMedia(), path)));
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
          else if (!isLater) sendRange(await readFile(join(await ensureMedia(), 'tone.m4a')), range, response);
          else if (status === '0') response.destroy();
          else response.writeHead(Number(status)).end();
        },
        '/once/': async ({ path, response }) => {
          const [, status, name = ''] = /^(\d+)\/(.*)$/.exec(path) ?? [];
          const isFirst = !asked.has(path);
          asked.add(path);
          if (!isFirst) response.end(await readFile(join(await ensureMedia(), name)));
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

  const probeFormats = (
    formats: Record<string, unknown>[],
    info: Record<string, unknown> = {},
    signal = new AbortController().signal,
  ) =>
    inspectTracks(tracksOf({ formats, ...info }, 0), {
      egress,
      identity: 'direct',
      signal,
      link: origin.url('/'),
      // The machine may be slow.
      trackTimeoutMs: 60_000,
      totalTimeoutMs: 120_000,
    });
  const later = (seconds: number) => ({ available_at: Date.now() / 1000 + seconds });
  const inspectUntil = (deadline: number, formats: Record<string, unknown>[]) =>
    inspectTracks(tracksOf({ formats }), {
      egress,
      identity: 'direct',
      link: origin.url('/'),
      deadline,
      signal,
    });
  const { signal } = new AbortController();

  describe('of a host that may stop after the first minute', () => {
    const BIG = 4_000_000;
    const described = { vcodec: 'none', acodec: 'mp4a.40.2', duration: 300, filesize: BIG };
    const inspectLater = async (formats: Record<string, unknown>[], probedHosts = ['127.0.0.1']) => {
      const { result, failure } = await inspectTracks(tracksOf({ formats }), {
        egress,
        identity: 'direct',
        link: origin.url('/'),
        signal,
        probedHosts,
      });
      expect(failure).toBeUndefined();
      return result.renditions.map(({ flaws = [] }) => flaws.join());
    };
    const fragments = [0, 1, 2, 3].map((index) => ({ path: `${index}.m4s`, duration: 30 }));
    const listed = { ...described, filesize: undefined };

    it.each([
      ['a file', { url: '/later/403/a.m4a', ...described }],
      ['a file that is not there', { url: '/later/404/a.m4a', ...described }],
      ['HLS', { url: '/later/403/index.m3u8', protocol: 'm3u8_native', ...listed }],
      ['DASH', { url: '/later/403/manifest.mpd', protocol: 'http_dash_segments', fragments, ...listed }],
    ])('marks %s that is refused there', async (_, { url, ...more }) => {
      const one = format(url, { ...more, fragment_base_url: origin.url('/later/403/') });
      expect(await inspectLater([one])).toEqual(['partial']);
      expect(await inspectLater([one], ['other.example'])).toEqual(['']);
    });

    it.each([
      ['is served', { url: '/later/206/a.m4a' }],
      ['reports overload', { url: '/later/503/a.m4a' }],
      ['does not answer', { url: '/later/0/a.m4a' }],
      ['is shorter', { url: '/later/403/a.m4a', duration: 59 }],
      ['is not served yet', { url: '/later/403/a.m4a', ...later(30) }],
    ])('marks no file that %s', async (_, { url, ...more }) =>
      expect(await inspectLater([format(url, { ...described, ...more })])).toEqual(['']),
    );
  });

  it('waits for an undescribed file that its site serves from a moment on', async () => {
    const moment = later(0.5);
    const path = `/site-media/open/clip.mp4?from=${moment.available_at}`;
    const { result } = await inspectUntil(Date.now() + 25_000, [format(path, { ext: 'mp4', ...moment })]);
    expect(result.tracks[0]?.sizeIsExact).toBe(true);
  });

  it('fails with the seconds when the deadline leaves no time for the wait', async () => {
    const inspecting = asProblem(inspectUntil(Date.now() + 25_000, [format('/files/clip.mp4', later(18))]));
    await expect(inspecting).rejects.toMatchObject({
      details: { type: '/problems/delayed', status: 503 },
      headers: { 'retry-after': expect.stringMatching(/^1[5-8]$/) },
    });
  });

  it('does not wait to make the duration of a described file exact', async () => {
    const described = { vcodec: 'none', acodec: 'mp4a.40.2', filesize: 1000, duration: 7, ...later(30) };
    const { result, failure } = await inspectUntil(Date.now() + 25_000, [format('/files/tone.m4a', described)]);
    expect([result.tracks[0], failure]).toEqual([expect.objectContaining({ durationSeconds: 7 }), undefined]);
  });

  const inspectFormats = async (...args: Parameters<typeof probeFormats>) =>
    (await probeFormats(...args)).result.tracks;
  const format = (path: string, more: Record<string, unknown> = {}) => ({
    format_id: path,
    url: URL.canParse(path) ? path : origin.url(path),
    protocol: 'https',
    ext: path.split('.').at(-1),
    ...more,
  });
  const trackOf = async (path: string, more?: Record<string, unknown>) =>
    (await inspectFormats([format(path, more)]))[0];

  it.each([
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
    ['/plain/video', { container: 'mp4' }],
    ['/heads/avi', { container: 'avi', video: {}, audio: {} }],
    ['/heads/flv', { container: 'flv', video: {} }],
    ['/heads/wmv', { container: 'wmv', video: {} }],
    ['/heads/amr', { container: 'amr', video: null, audio: {} }],
  ])('reads container, codecs and size of %s', async (path, expected) => {
    const track = await trackOf(path);
    expect(track).toMatchObject({ ...expected, sizeIsExact: true });
    expect(track?.sizeBytes).toBeGreaterThan(0);
  });

  it('replaces an unknown resolution in the description of yt-dlp', async () =>
    expect(await trackOf('/files/clip.mp4', { format: 'mp4 - unknown' })).toMatchObject({
      description: 'mp4 - 320x180',
    }));

  it('keeps a container name of the same media type, and replaces any other', async () => {
    expect(await trackOf('/files/tone.ogg', { ext: 'opus' })).toMatchObject({ container: 'opus' });
    expect(await trackOf('/files/tone.ogg', { ext: 'unknown_video' })).toMatchObject({ container: 'ogg' });
  });

  it.each([
    ['/plain/image', 'no-media'],
    ['/plain/json', 'no-media'],
    ['/plain/zip', 'no-media'],
    ['/plain/text', 'no-media'],
    ['/plain/empty', 'no-media'],
    ['/plain/noise', 'no-media'],
    ['/heads/avif', 'no-media'],
    ['/heads/pdf', 'no-media'],
    ['/heads/gif', 'no-media'],
    ['/heads/html', 'no-media'],
    ['/coded/x', 'no-media'],
    ['/gzip/html', 'no-media'],
    ['/trouble/404', 'not-found'],
    ['/trouble/410', 'gone'],
    ['http://10.1.2.3/x.mp4', 'private-address'],
    ['http://[::1]/x.mp4', 'private-address'],
    ['http://localhost/x.mp4', 'unknown-host'],
    ['http://169.254.169.254/latest/meta-data', 'private-address'],
  ])('answers %s with 404, %s', (path, name) =>
    expect(asProblem(trackOf(path))).rejects.toMatchObject({
      details: { type: `/problems/${name}`, title: 'Resource Not Found', status: 404 },
    }),
  );

  it.each([
    ['/trouble/403', 415],
    ['/trouble/401', 415],
    ['/trouble/500', 502],
    ['/trouble/429', 502],
    ['/trouble/reset', 502],
  ])('answers %s with %d', (path, status) =>
    expect(asProblem(trackOf(path))).rejects.toMatchObject({ details: { status } }),
  );

  it('says that a file is compressed by its source', () =>
    expect(asProblem(trackOf('/gzip/clip.mp4'))).rejects.toMatchObject({
      details: { status: 415, detail: 'The source sends the file compressed and without ranges.' },
    }));

  it('reads a playlist that its source compresses', async () =>
    expect(await trackOf('/gzip/hls/ts/index.m3u8', { protocol: 'm3u8_native', ext: 'mp4' })).toMatchObject({
      durationSeconds: 6,
    }));

  it.each(['/once/503/clip.mp4', '/once/429/clip.mp4', '/once/0/clip.mp4'])('asks %s once more', async (path) =>
    expect(await trackOf(path)).toMatchObject({ container: 'mp4', durationSeconds: 6 }),
  );

  it('offers a file that its extractor names when reading it fails in passing, unless any page may name it', async () => {
    const own = { ext: 'mp4', height: 720 };
    const options = [{ extractor_key: 'Pinterest' }, { extractor_key: 'Generic' }] as const;
    const offered = await Promise.all(
      options.map((info) => inspectFormats([format('/trouble/503', own), format('/files/tone.m4a')], info)),
    );
    expect(offered.map((tracks) => tracks.length)).toEqual([2, 1]);
  });

  it('reads only the start of a source that ignores ranges', async () => {
    expect(await trackOf('/slow/clip.mp4?rate=10000000')).toMatchObject({ container: 'mp4', durationSeconds: 6 });
    const track = await trackOf('/slow/clip-tail.mp4?rate=10000000');
    expect(track).toMatchObject({ container: 'mp4', sizeIsExact: true, video: {}, audio: {} });
    expect(track).not.toHaveProperty('durationSeconds');
  });

  it('rejects a response with a different range', () =>
    expect(asProblem(trackOf('/other-range/x'))).rejects.toMatchObject({ details: { status: 502 } }));

  it('omits formats whose files are gone, and keeps the rest', async () => {
    const kept = await inspectFormats([format('/trouble/404'), format('/files/tone.m4a'), format('http://10.0.0.1/x')]);
    expect(kept.map(({ formatId }) => formatId)).toEqual(['/files/tone.m4a']);
  });

  it('probes described formats only for the duration of the conversion', async () => {
    const before = origin.requests.length;
    const sided = { filesize: 10, tbr: 5 };
    const kept = await inspectFormats(
      [
        format('/files/clip.mp4', { vcodec: 'avc1', acodec: 'none', height: 180, ...sided }),
        format('/files/tone.m4a', { vcodec: 'none', acodec: 'mp4a.40.2', ...sided }),
      ],
      { duration: 7 },
    );
    expect(kept.map(({ durationSeconds }) => durationSeconds)).toEqual([6, 7]);
    expect(origin.requests.slice(before).map(({ path }) => path)).toEqual(['/files/tone.m4a']);
  });

  it('keeps a described format that cannot be probed', async () => {
    const [kept] = await inspectFormats(
      [format('/trouble/500', { ext: 'webm', vcodec: 'none', acodec: 'opus', tbr: 5 })],
      {
        duration: 7,
      },
    );
    expect(kept?.durationSeconds).toBe(7);
  });

  it.each([
    ['/hls/ts/index.m3u8', { height: 180 }],
    ['/hls/fmp4/index.m3u8', { height: 180 }],
    ['/hls/audio/index.m3u8', null],
    ['/hls/aes/index.m3u8', { height: 180 }],
    ['/live/index.m3u8', { height: 90 }],
  ])('reads the first segment of %s, which no multivariant playlist describes', async (path, video) => {
    const track = await trackOf(path, { protocol: 'm3u8_native', ext: 'mp4' });
    expect(track).toMatchObject({ video, audio: { codec: 'mp4a.40.2' } });
  });

  it.each(['METHOD=SAMPLE-AES', 'METHOD=AES-128,IV=0x99'])(
    'leaves codecs unknown for segments encrypted with %s',
    async (method) => {
      lists.push(`#EXTM3U\n#EXT-X-KEY:${method},URI="/hls/aes/key.bin"\n#EXTINF:2,\n/hls/aes/0.ts\n#EXT-X-ENDLIST\n`);
      const track = await trackOf('/list/index.m3u8', { protocol: 'm3u8_native', ext: 'mp4' });
      expect(track).toMatchObject({ video: {}, audio: {} });
    },
  );

  it('decrypts with the key and the IV that the extractor states', async () => {
    const key = await readFile(join(await ensureMedia(), 'hls/aes/key.bin'), 'hex');
    for (const stated of [{ key }, { uri: origin.url('/hls/aes/key.bin') }]) {
      lists.push(
        '#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="/missing",IV=0x99\n#EXTINF:2,\n/hls/aes/0.ts\n#EXT-X-ENDLIST\n',
      );
      const hls_aes = { ...stated, iv: '0x1' };
      const track = await trackOf('/list/index.m3u8', { protocol: 'm3u8_native', ext: 'mp4', hls_aes });
      expect(track).toMatchObject({ video: { height: 180 }, audio: { codec: 'mp4a.40.2' } });
    }
  });

  it.each([{}, { vcodec: 'avc1.42c00d', acodec: 'mp4a.40.2', tbr: 400, height: 180 }])(
    'ignores durations of an HLS playlist in whole seconds (%j)',
    async (more) => {
      const path = '/hls/missing-segment.m3u8';
      const found = await inspectFormats([format(path, { protocol: 'm3u8_native', ext: 'mp4', ...more })], {
        duration: 34,
      });
      expect(found.map(({ durationSeconds }) => durationSeconds)).toEqual([undefined]);
    },
  );

  it('reports an encrypted file as DRM protected, wherever its header is', async () => {
    for (const name of ['front.mp4', 'tail.mp4', 'sound.m4a']) {
      await expect(asProblem(trackOf(`/protected/${name}`))).rejects.toMatchObject({
        details: { status: 415, detail: 'The media is DRM protected.' },
      });
    }
    const kept = await inspectFormats([format('/protected/front.mp4'), format('/files/clip.mp4')]);
    expect(kept.map(({ formatId }) => formatId)).toEqual(['/files/clip.mp4']);
  });

  it('sums the segment durations of an HLS playlist', async () =>
    expect(await trackOf('/hls/ts/index.m3u8', { protocol: 'm3u8_native' })).toMatchObject({ durationSeconds: 6 }));

  it.each([
    ['a file that is not a playlist', '/files/tone.mp3'],
    ['an empty playlist', '/hls/empty.m3u8'],
    ['a segment at a private address', '/inward/segment?to=http://10.1.2.3/a.ts'],
    ['a key at a private address', '/inward/key?to=http://10.1.2.3/key'],
  ])('answers %s with 404', (_, path) =>
    expect(asProblem(trackOf(path, { protocol: 'm3u8_native', ext: 'mp4' }))).rejects.toMatchObject({
      details: { status: 404 },
    }),
  );

  it.each([
    ['malformed', '#EXT-X-KEY:METHOD=AES-128,URI="k",IV=x', 'Invalid initialization vector.'],
    ['of too many segments', '#EXTINF:1,\na\n'.repeat(100_001), 'The playlist has too many segments.'],
    ['of too many lines', '#EXT\n'.repeat(1_000_001), 'The playlist has too many lines.'],
    ['too large', '#'.repeat(8 * 1024 * 1024), 'The playlist is too large.'],
  ])('answers a playlist that is %s with 415', async (_, content, detail) => {
    lists.push(`#EXTM3U\n${content}`);
    await expect(asProblem(trackOf('/list/index.m3u8', { protocol: 'm3u8_native', ext: 'mp4' }))).rejects.toMatchObject(
      { details: { status: 415, detail } },
    );
  });

  describe('of a track that runs out of time', () => {
    const inspectSlowly = (
      formats: Record<string, unknown>[],
      info: Record<string, unknown> = {},
      link = origin.url('/'),
    ) =>
      inspectTracks(tracksOf({ formats, ...info }, 0), {
        egress,
        identity: 'direct',
        signal: new AbortController().signal,
        link,
        trackTimeoutMs: 300,
        totalTimeoutMs: 1000,
      });
    const described = { vcodec: 'avc1.4d401e', acodec: 'none', height: 180 };
    const timeout = expect.objectContaining({ name: 'TimeoutError' });

    it('keeps what the extractor of a site describes', async () => {
      const { result, failure } = await inspectSlowly([format('/trouble/silence?slow', { ext: 'mp4', ...described })]);
      expect(result.tracks).toMatchObject([{ video: { codec: 'avc1.4d401e', height: 180 }, audio: null }]);
      expect(failure).toEqual(timeout);
    });

    it('offers no unread file that any page names', async () => {
      const page = { extractor_key: 'Generic' };
      const silent = format('/trouble/silence?slow', { ext: 'mp4', ...described });
      const { result, failure } = await inspectSlowly([silent, format('/files/tone.m4a')], page);
      expect(result.tracks.map(({ formatId }) => formatId)).toEqual(['/files/tone.m4a']);
      expect(failure).toEqual(timeout);
      await expect(asProblem(inspectSlowly([silent], page))).rejects.toMatchObject({ details: { status: 502 } });
    });

    it('keeps the duration of its source', async () => {
      const { result, failure } = await inspectSlowly(
        [format('/trouble/silence?slow', { ext: 'm4a', vcodec: 'none', acodec: 'mp4a.40.2', tbr: 5 })],
        { duration: 7 },
      );
      expect(result.tracks).toMatchObject([{ durationSeconds: 7 }]);
      expect(failure).toEqual(timeout);
    });

    it('leaves the codecs of a playlist unknown when its segment or key does', async () => {
      for (const lines of [
        '#EXTINF:2.5,\n/trouble/silence?slow',
        '#EXT-X-KEY:METHOD=AES-128,URI="/trouble/silence?slow"\n#EXTINF:2.5,\n/hls/aes/0.ts',
      ]) {
        lists.push(`#EXTM3U\n${lines}\n#EXT-X-ENDLIST\n`);
        const { result, failure } = await inspectSlowly([
          format('/list/index.m3u8', { protocol: 'm3u8_native', ext: 'mp4' }),
        ]);
        expect(result.tracks).toMatchObject([{ video: {}, audio: {}, durationSeconds: 2.5 }]);
        expect(failure).toEqual(timeout);
      }
    });

    it('offers the same pair while the process that reads containers is busy', async () => {
      const formats = [
        format('/files/tone.m4a', { vcodec: 'none', acodec: 'mp4a.40.2' }),
        format('/files/silent.mp4', described),
      ];
      const candidates = tracksOf({ formats, extractor_key: 'Generic' });
      const options = { egress, identity: 'direct', signal: new AbortController().signal, link: origin.url('/') };
      const pairOf = async (totalTimeoutMs: number) => {
        const { result, failure } = await inspectTracks(candidates, { ...options, client: 'busy', totalTimeoutMs });
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

    it('keeps one whose host could not be checked', async () => {
      const fragments = { protocol: 'http_dash_segments', fragments: [{ url: origin.url('/trouble/silence?slow') }] };
      const { result, failure } = await inspectSlowly(
        [format('/trouble/silence?slow', { ext: 'mp4', ...described, ...fragments })],
        {},
        'https://media.example/',
      );
      expect(result.tracks).toHaveLength(1);
      expect(failure).toEqual(timeout);
    });
  });

  it('tells no failure of what was read, or cannot be read at any time', async () => {
    const { result, failure } = await probeFormats([
      ...['/trouble/404', '/plain/image', '/trouble/403', 'http://10.1.2.3/x.mp4', '/files/clip.mp4'].map((path) =>
        format(path),
      ),
      // The source ignores ranges: the end of the file is out of reach.
      format('/slow/clip-tail.mp4?rate=10000000'),
    ]);
    expect(result.tracks).toHaveLength(2);
    expect(failure).toBeUndefined();
  });

  it('tells the failure of a request for the rest of a file', async () => {
    const { result, failure } = await probeFormats([format('/breaks/clip-tail.mp4')]);
    expect(result.tracks).toMatchObject([{ container: 'mp4', video: {}, audio: {} }]);
    expect(failure).toBeInstanceOf(UpstreamError);
  });

  it('is aborted with its caller', async () => {
    const leaving = new AbortController();
    const looking = inspectFormats([format('/trouble/silence?left')], {}, leaving.signal);
    await expect.poll(() => origin.requestsTo('/trouble/silence?left').length).toBe(1);
    leaving.abort(new Error('left'));
    await expect(looking).rejects.toThrow('left');
    await expect.poll(() => origin.requestsTo('/trouble/silence?left').at(-1)?.state).toBe('left');
  });
});
