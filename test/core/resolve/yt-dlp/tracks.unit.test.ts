import { packDashSegments } from '@reelay/seekable-media/dash';
import { describe, expect, it } from 'vitest';
import { type Format, formatOf, tracksOf } from './tracks-of.ts';

const NOW = 1_790_000_000;
const URL = 'https://cdn.example/a/file.mp4';
const DASH = { protocol: 'http_dash_segments' };
const HLS = { protocol: 'm3u8_native' };
const at = (id: string, more: Format = {}) => formatOf(id, { url: URL, ...more });
const tracksOfAll = (formats: readonly Format[]) => tracksOf({ formats }, NOW).map(({ track }) => track);
const idsOf = (formats: readonly Format[]) => tracksOfAll(formats).map(({ formatId }) => formatId);
const read = (format: Format, info: Format = {}) => tracksOf({ formats: [at('x', format)], ...info }, NOW);
const readOne = (format: Format, info?: Format) => read(format, info)[0]?.track;

/** Fragments whose URLs have so many characters together. */
const fragmentsOf = (characters: number) =>
  Array.from({ length: Math.ceil(characters / 8192) }, (_, index) => ({
    path: 'a'.repeat(Math.min(8192, characters - index * 8192)),
  }));

describe('readTracks', () => {
  it('reads all fields of a format', () =>
    expect(
      readOne(
        {
          vcodec: 'avc1.64001f',
          acodec: 'mp4a.40.2',
          height: 720,
          width: 1280,
          fps: 30,
          tbr: 1500.5,
          abr: 128,
          asr: 44100,
          filesize: 1234,
          format: 'x - 1280x720',
          language: 'en',
          http_headers: { 'User-Agent': 'Browser', Referer: 'https://page.example/' },
          downloader_options: { http_chunk_size: 10485760 },
          cookies: 'sid=1; Domain=.cdn.example; Path=/a; Secure',
        },
        { duration: 12.5 },
      ),
    ).toEqual({
      formatId: 'x',
      delivery: 'direct',
      url: URL,
      headers: { 'User-Agent': 'Browser', Referer: 'https://page.example/' },
      cookies: [{ name: 'sid', value: '1', domain: 'cdn.example', hostOnly: false, path: '/a', secure: true }],
      chunkBytes: 10485760,
      container: 'mp4',
      video: { codec: 'avc1.64001f', height: 720, width: 1280, fps: 30 },
      audio: { codec: 'mp4a.40.2', sampleRate: 44100, bitrate: 128 },
      sizeBytes: 1234,
      sizeIsExact: true,
      bitrate: 1500.5,
      durationSeconds: 12.5,
      language: 'en',
      description: 'x - 1280x720',
    }));

  it.each([
    ['http', 'direct'],
    ['https', 'direct'],
    ['m3u8', 'hls'],
    ['m3u8_native', 'hls'],
  ])('maps the protocol %s to the delivery %s', (protocol, delivery) =>
    expect(readOne({ protocol })?.delivery).toBe(delivery),
  );

  const long = (length: number, base = 'https://cdn.example/') => base + 'a'.repeat(length - base.length);

  it.each<[string, Format]>([
    ...['mhtml', 'rtmp', 'rtmpe', 'rtsp', 'f4m', 'ism', 'ftp', 'websocket_frag', 'http_dash_segments_generator'].map(
      (protocol): [string, Format] => [`of the protocol ${protocol}`, { protocol }],
    ),
    ['that is DRM protected', { has_drm: true }],
    ['without video and audio', { vcodec: 'none', acodec: 'none' }],
    ['without a URL', { url: undefined }],
    ['on another scheme', { url: 'ftp://cdn.example/a' }],
    ['with an invalid URL', { url: 'a b c' }],
    ['with a URL of more than 8 KB', { url: long(8193) }],
    ['of HLS with a key of another length', { ...HLS, hls_aes: { key: '0011' } }],
    ['of HLS with a key that is no number', { ...HLS, hls_aes: { key: 'x'.repeat(32) } }],
    ['of HLS with an IV that is too long', { ...HLS, hls_aes: { iv: '1'.repeat(33) } }],
    ['of HLS with data to send', { ...HLS, request_data: 'a=b' }],
    ['of DASH without fragments', DASH],
    ['of DASH with an empty list of fragments', { ...DASH, fragments: [] }],
    ['of DASH with a fragment of another scheme', { ...DASH, fragments: [{ url: 'file:///etc/passwd' }] }],
    ['of DASH with a path of another scheme', { ...DASH, fragments: [{ path: 'file:///etc/passwd' }] }],
    ['of DASH with a fragment without a URL', { ...DASH, fragments: [{}] }],
    ['of DASH with a fragment that is no object', { ...DASH, fragments: [null, { path: 'a' }] }],
    ['of DASH with a URL of more than 8 KB', { ...DASH, fragments: [{ path: 'a' }], url: long(8193) }],
    ['of DASH with a fragment of more than 8 KB', { ...DASH, fragments: [{ path: 'a'.repeat(8193) }] }],
    ['of DASH with a base of more than 8 KB', { ...DASH, fragments: [{ path: 'a' }], fragment_base_url: long(8193) }],
    ['of DASH with fragments of more than 8 MB', { ...DASH, fragments: fragmentsOf(1050 * 8192) }],
    // Complete files:
    ['of FLV without durations', { ...DASH, ext: 'FLV', fragments: [{ url: URL, duration: 2 }, { url: URL }] }],
    ['of files with sizes', { ...DASH, fragments: [{ url: URL, duration: 2, filesize: 1000 }, { url: URL }] }],
  ])('omits a format %s', (_, format) => expect(read(format)).toEqual([]));

  it.each<[string, Format]>([
    ['a URL of 8 KB', { url: long(8192) }],
    ['a fragment of 8 KB', { ...DASH, fragments: [{ path: 'a'.repeat(8192) }] }],
    ['a base of 8 KB', { ...DASH, fragments: [{ path: 'a' }], fragment_base_url: long(8192) }],
    ['fragments of 8 MB with their separators', { ...DASH, fragments: fragmentsOf(8 * 1024 * 1024 - 1024) }],
    ['a fragment and no extension', { ...DASH, fragments: [{ path: 'a' }], ext: null }],
  ])('accepts a format with %s', (_, format) => {
    const [found] = read(format);
    expect(found?.track.fragments?.urls ?? format.url).toBeTruthy();
    expect(found?.track.delivery).toBe(format.protocol ? 'dash' : 'direct');
  });

  it.each([
    ['none', 'opus', null, { codec: 'opus' }],
    ['vp9', 'none', { codec: 'vp9' }, null],
    [null, null, {}, {}],
    [undefined, 'none', {}, null],
    ['none', null, null, {}],
    ['avc1', undefined, { codec: 'avc1' }, {}],
  ])('reads vcodec %j and acodec %j: none is a missing track, null an unknown codec', (vcodec, acodec, video, audio) =>
    expect(readOne({ vcodec, acodec })).toMatchObject({ video, audio }),
  );

  it.each([{ ext: 'm4a' }, { resolution: 'audio only' }])('treats %j without a known codec as audio-only', (format) =>
    expect(readOne(format)).toMatchObject({ video: null, audio: {} }),
  );

  it('takes the bitrate of the whole track as that of the audio in audio-only formats', () => {
    expect(readOne({ vcodec: 'none', tbr: 96 })?.audio).toEqual({ bitrate: 96 });
    expect(readOne({ tbr: 96 })?.audio).toEqual({});
  });

  it.each([
    ['in the future', NOW + 5.5, NOW + 5.5],
    ['that has passed', NOW, undefined],
    ['of another type', '1800000000', undefined],
  ])('reads a moment of availability %s', (_, moment, availableAt) =>
    expect(readOne({ available_at: moment })?.availableAt).toBe(availableAt),
  );

  describe('with what holds for segments and keys', () => {
    const KEY = '00112233445566778899aabbccddeeff';
    const readHls = (format: Format) => readOne({ ...HLS, ...format });

    it('reads it for HLS and DASH', () => {
      const format = {
        extra_param_to_segment_url: 'token=1',
        extra_param_to_key_url: 'token=2',
        hls_aes: { uri: 'https://keys.example/k', key: `0x${KEY}`, iv: '0x1' },
      };
      expect(readHls(format)?.overrides).toEqual({
        segmentQuery: 'token=1',
        keyQuery: 'token=2',
        keyUrl: 'https://keys.example/k',
        key: KEY,
        iv: '1'.padStart(32, '0'),
      });
      expect(readOne(format)).not.toHaveProperty('overrides');
      expect(readHls({ hls_aes: {} })).not.toHaveProperty('overrides');
    });
  });

  it('has defaults for the id, the container and the protocol', () => {
    expect(readOne({ format_id: null, ext: null, protocol: null })).toMatchObject({
      formatId: '0',
      container: 'mp4',
      delivery: 'direct',
    });
  });

  it.each([
    ['index.m3u8?token=1', 'hls'],
    ['INDEX.M3U8', 'hls'],
    ['index.m3u8.mp4', 'direct'],
  ])('reads the delivery of %s without a protocol as %s', (path, delivery) =>
    expect(readOne({ url: `https://cdn.example/${path}`, protocol: null })?.delivery).toBe(delivery),
  );

  it('omits what a format does not have', () => {
    const track = readOne({ fragments: [{ path: 'a' }] });
    for (const field of ['sizeBytes', 'fragments', 'fragmentBaseUrl', 'bitrate', 'chunkBytes'])
      expect(track).not.toHaveProperty(field);
  });

  it.each([
    [{ direct: true }, { isBareLink: true, isGeneric: false }],
    [
      { direct: false, extractor_key: 'Youtube' },
      { isBareLink: false, isGeneric: false },
    ],
    [{ extractor_key: 'Generic' }, { isBareLink: false, isGeneric: true }],
    [{ extractor_key: 'HTML5MediaEmbed' }, { isBareLink: false, isGeneric: true }],
  ])('reads how far to trust the description of %j: %j', (info, expected) =>
    expect(read({}, info)).toMatchObject([expected]),
  );

  it('reads the cookies of each format', () => {
    const formats = ['a', 'b'].map((name) => at(name, { url: `https://${name}.example/`, cookies: `${name}=1` }));
    expect(tracksOfAll(formats).map(({ cookies }) => cookies.map(({ name }) => name))).toEqual([['b'], ['a']]);
    expect(readOne({})?.cookies).toEqual([]);
  });

  it('returns the best 300 formats', () => {
    const formats = Array.from({ length: 301 }, (_, index) => ({ format_id: `${index}`, url: `${URL}?${index}` }));
    const ids = idsOf(formats);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([300, '300', '1']);
  });

  it('keeps DASH fragments relative to one base URL, the initialization segment with 0 seconds', () =>
    expect(
      readOne({
        ...DASH,
        fragment_base_url: 'https://cdn.example/dash/v/',
        fragments: [
          { path: 'init.mp4' },
          { path: '1.m4s', duration: 2 },
          { url: 'https://b.example/2', duration: 1.5 },
        ],
      }),
    ).toMatchObject({
      fragmentBaseUrl: 'https://cdn.example/dash/v/',
      fragments: { urls: 'init.mp4\n1.m4s\nhttps://b.example/2', durations: [1, 0, 1, 2_000_000, 1, 1_500_000] },
    }));

  it('resolves a relative DASH base against the URL of the manifest', () =>
    expect(
      readOne({
        url: 'https://cdn.example/dash/manifest.mpd',
        ...DASH,
        fragment_base_url: 'v/',
        fragments: [{ path: '1.m4s' }],
      })?.fragmentBaseUrl,
    ).toBe('https://cdn.example/dash/v/'));

  describe('with DASH formats', () => {
    const format = (id: string, count: number, more: Format = {}) => {
      const fragments = Array.from({ length: count }, (_, index) => ({ path: `${id}/${index}`, duration: 2 }));
      return at(id, { ...DASH, fragments, ...more });
    };
    const silent = { vcodec: 'avc1', acodec: 'none' };
    const heard = { vcodec: 'none', acodec: 'mp4a' };

    it('omits formats beyond the limit of fragments', () => {
      expect(idsOf([format('a', 50_001, heard), format('b', 10, heard)])).toEqual(['b']);
      const ladder = ['a', 'b', 'c'].map((id) => format(id, 60_000, silent));
      expect(idsOf([...ladder, format('d', 40_000, heard)])).toEqual(['d', 'c', 'b']);
      expect(idsOf([format('a', 50_000, heard)])).toEqual(['a']);
    });

    it('omits formats beyond the limit of characters', () => {
      const [a, b] = ['a', 'b'].map((id) => format(id, 0, { fragments: fragmentsOf(5 * 1024 * 1024), height: 1 }));
      expect(idsOf([{ ...a, height: 2 }, b ?? {}])).toEqual(['b']);
    });
  });

  it('marks an approximate size, and any size of segmented media, as inexact', () => {
    expect(readOne({ filesize_approx: 99.6 })).toMatchObject({ sizeBytes: 100, sizeIsExact: false });
    expect(readOne({ protocol: 'm3u8', filesize: 100 })).toMatchObject({ sizeBytes: 100, sizeIsExact: false });
  });

  it('reads an item without formats as its only format', () =>
    expect(tracksOf({ url: URL, ext: 'mp4', direct: true }, NOW)).toMatchObject([
      { track: { formatId: '0', delivery: 'direct', url: URL } },
    ]));

  it('returns the best format first, and each file once', () => {
    const formats = ['a', 'b', 'c'].map((id) => at(id));
    expect(idsOf([at('worst', { height: 144 }), ...formats])).toEqual(['c', 'worst']);
  });

  it('returns one file of each format id, the best', () => {
    const formats = [1, 2].map((part) => at('a', { url: `${URL}?${part}` }));
    expect(tracksOfAll(formats).map(({ url }) => url)).toEqual([`${URL}?2`]);
  });

  it('reads FLV in several parts', () => {
    const fragments = [1, 2].map((number) => ({ url: `${URL}/${number}.flv`, duration: number, filesize: 1000 }));
    expect(readOne({ ...DASH, ext: 'flv', fragments })).toMatchObject({
      delivery: 'dash',
      container: 'flv',
      fragments: packDashSegments(fragments.map(({ url, duration }) => ({ url, seconds: duration }))),
    });
  });

  it('reads the manifest that lists a format', () => {
    const manifest_url = 'https://cdn.example/master.m3u8';
    expect(read({ manifest_url })[0]?.manifestUrl).toBe(manifest_url);
    expect(read({ manifest_url: 'file:///x' })[0]).not.toHaveProperty('manifestUrl');
  });

  it.each([
    [{ filesize: 1_000_000 }, { duration: 8 }, 1000],
    [{ filesize: 1_000_000, tbr: 5 }, { duration: 8 }, 5],
    [{ filesize: 1_000_000, vbr: 3, abr: 4 }, { duration: 8 }, 7],
    [{ filesize: 1000, duration: 4 }, {}, 2],
    [{ filesize: 1_000_000 }, {}, undefined],
    [{}, { duration: 8 }, undefined],
  ])('takes the bitrate of %j in %j for %s kbit/s', (format, info, bitrate) =>
    expect(readOne(format, info)?.bitrate).toBe(bitrate),
  );

  it('omits the duration of a live source', () =>
    expect(readOne({}, { duration: 10, is_live: true })).not.toHaveProperty('durationSeconds'));

  it.each([
    [{ formats: 'x' }],
    [{ formats: [null, 1, 'x', []] }],
    [{}],
    [{ formats: [{ url: 1, height: 'x', http_headers: [] }] }],
  ])('returns no track for %j', (info) => expect(tracksOf(info, NOW)).toEqual([]));

  it('marks what yt-dlp has not tested', () => {
    const untested = [true, false, 'true', undefined].map(
      (__needs_testing) => read({ __needs_testing })[0]?.isUntested,
    );
    expect(untested).toEqual([true, undefined, undefined, undefined]);
  });

  it.each<[readonly string[], number]>([
    [['i1', 'm1', 'e1'], 1],
    [['i2', 'm1', 'e1'], 2],
    [['i1', 'm1', 'e2'], 2],
    [['i1', 'm1x', 'e1'], 2],
    [['i1', 'm2', 'e1'], 1],
  ])('compares the fragments %j with others by their ends and length: %d tracks', (paths, count) => {
    const format = (id: string, names: readonly string[]) =>
      at(id, { ...DASH, fragments: names.map((path) => ({ path })) });
    expect(idsOf([format('x', ['i1', 'm1', 'e1']), format('y', paths)])).toHaveLength(count);
  });
});
