import { parseArchiveParameters } from '../../core/api/archive-parameters.ts';
import { parseFeedParameters } from '../../core/api/feed-parameters.ts';
import { parseLinkParameter } from '../../core/api/link-parameter.ts';
import { Problem } from '../../core/api/problem.ts';
import { parseQualityParameters } from '../../core/api/quality-parameters.ts';
import { parseConversionParameters, parseSubtitlesParameter } from '../../core/api/stream-parameters.ts';
import { checkCookies } from '../../core/config/cookies-file.ts';
import { createAddressGuard, isLiteral } from '../../core/egress/guard/address-guard.ts';
import { UpstreamError } from '../../core/errors/errors.ts';
import {
  clientOf,
  decideRange,
  parseContentRange,
  parseUnsatisfiedRange,
  predictRange,
  renderJson,
  requestHeaders,
} from '../../core/http/index.ts';
import { describeError } from '../../core/log/log.ts';
import { dashTimeline, scanDashManifest } from '../../core/media/dash/index.ts';
import {
  createAdtsCheck,
  createFrameScanner,
  createMp4Check,
  createMpegTsCheck,
  type FrameCheck,
} from '../../core/media/frames/index.ts';
import { PlaylistError, parseHlsPlaylist, scanHlsPlaylist } from '../../core/media/hls/index.ts';
import { FULL_TAG_BYTES, fullId3Tag, id3Tag, id3TagBytes } from '../../core/media/id3/index.ts';
import {
  fragmentTimes,
  hasEncryptedSampleEntry,
  initTracks,
  parseSegmentIndex,
  patchHeaderDuration,
  rewriteFragment,
  shiftFragment,
  UnsupportedMp4,
} from '../../core/media/isobmff/index.ts';
import { fragmentedClipTrack, layOutClip, parseFileTracks, sampledClipTrack } from '../../core/media/mp4-clip/index.ts';
import { MP4_TAGS_BYTES, mp4Tags } from '../../core/media/mp4-tags/index.ts';
import { probeSegmentStart } from '../../core/media/segment-probe/index.ts';
import { sniff } from '../../core/media/sniff/index.ts';
import { InvalidSubtitles, readSubtitles, SUBTITLE_FORMATS, writeSubtitles } from '../../core/media/subtitles/index.ts';
import { tarHeader } from '../../core/media/tar/index.ts';
import { TextTooLarge, textSamples } from '../../core/media/timed-text/index.ts';
import { hasDiscontinuity, longestGapSeconds } from '../../core/media/timeline/index.ts';
import { createLayout } from '../../core/media/virtual-mp4/create-layout.ts';
import { localHeader } from '../../core/media/zip/index.ts';
import { assembleResource, identify } from '../../core/resolve/item/assemble.ts';
import { readEntries } from '../../core/resolve/item/list-entries.ts';
import { normalizeLink } from '../../core/resolve/item/normalize-link.ts';
import { parseCookies } from '../../core/resolve/yt-dlp/cookies.ts';
import { readTracks } from '../../core/resolve/yt-dlp/tracks.ts';
import { isInfo } from '../../core/resolve/yt-dlp/yt-dlp-info.ts';
import { parseKey } from '../../core/state/keys.ts';
import { toFeed } from '../../lambdas/api/feed/feed.ts';
import { writeM3u8 } from '../../lambdas/api/feed/m3u8.ts';
import { writeRss } from '../../lambdas/api/feed/rss.ts';
import { toResourceInformation } from '../../lambdas/api/resource-information.ts';
import { createEntryNames } from '../../stream-service/archive/entry-names.ts';
import { indexText } from '../../stream-service/archive/index-text.ts';
import { contentDisposition, fileName } from '../../stream-service/file-name.ts';
import { retryDelayMs } from '../../stream-service/source/request/retry-policy.ts';
import { createDiscontinuityFilter } from '../../stream-service/source/segmented/discontinuity-filter.ts';
import * as seeds from './seeds.ts';

/** A parser of untrusted input under test. */
export interface FuzzTarget {
  /** Calls the parser and checks what it returns. */
  readonly run: (input: Buffer) => void;
  /** The errors that its documentation announces; any other is a finding. */
  readonly errors?: readonly (new (
    ...args: never[]
  ) => Error)[];
  readonly seeds: readonly (string | Buffer)[];
  /** Steps that any input may take, and further ones for each byte of it. */
  readonly maxSteps: { readonly fixed: number; readonly perByte: number };
}

const LINEAR = { fixed: 5_000, perByte: 100 };
const URL_BASE = 'https://cdn.example/a/index.m3u8';
const MAX_SEGMENTS = 100_000;
const NOW = 1_790_000_000;
const feedEntry = (title: string) => ({ url: 'https://a.example/1', title, author: title, coverUrl: null });

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TypeError(message);
}

/** Feeds a frame check in chunks of changing size: results must not depend on where chunks end. */
function scanFrames(create: (head: Buffer, seconds: number) => FrameCheck | undefined) {
  const scan = (input: Buffer, chunkBytes: number) => {
    const rules = create(input, 10);
    if (!rules) return undefined;
    const scanner = createFrameScanner(rules);
    for (let at = 0; at < input.length; at += chunkBytes) scanner.update(input.subarray(at, at + chunkBytes));
    return `${scanner.state()} ${rules.problem()}`;
  };
  return (input: Buffer) =>
    check(scan(input, Math.max(1, input.length)) === scan(input, 61), 'The result depends on chunk boundaries');
}

/** Passes bytes through the filter that joins segments, in chunks of one size. */
function filterSegments(input: Buffer, chunkBytes: number): Buffer {
  const filter = createDiscontinuityFilter({ onListClock: true });
  const init = filter.init();
  const output = [init.update(seeds.fragmentedMovie('vide')), init.final()];
  for (const startSeconds of [0, 100]) {
    const segment = filter.segment(startSeconds);
    for (let at = 0; at < input.length; at += chunkBytes) {
      output.push(segment.update(input.subarray(at, at + chunkBytes)));
    }
    output.push(segment.final());
  }
  return Buffer.concat(output);
}

const header = (input: Buffer) => input.toString('latin1');
const guard = createAddressGuard(['media.lan:80']);
const retryLimits = { maxAttempts: 5, initialBackoffMs: 1, maxBackoffMs: 100, maxRetryAfterMs: 20_000 };

/** Every parser of text or bytes that a client or a source chooses. */
export const targets: Readonly<Record<string, FuzzTarget>> = {
  'hls-playlist': {
    run(input) {
      const parsed = parseHlsPlaylist(input.toString(), { url: URL_BASE, maxSegments: MAX_SEGMENTS });
      if (parsed.kind === 'master') return check(URL.canParse(parsed.bestUrl), 'Invalid URL of a variant');
      const { segments } = parsed.timeline;
      hasDiscontinuity(segments);
      check(Number.isFinite(longestGapSeconds(segments)), 'Endless gap');
      for (const { content, isGap, seconds } of segments) {
        check(isGap || URL.canParse(content.url), 'Invalid URL of a segment');
        check(seconds >= 0 && seconds < 1e7, 'Implausible duration');
      }
    },
    errors: [PlaylistError],
    seeds: [seeds.HLS, seeds.HLS_MASTER],
    // Variables may expand a playlist to 8 MiB.
    maxSteps: { fixed: 30_000_000, perByte: 200 },
  },
  'hls-scan': {
    run: (input) => void scanHlsPlaylist(input.toString()),
    errors: [PlaylistError],
    seeds: [seeds.HLS, seeds.HLS_MASTER],
    maxSteps: { fixed: 30_000_000, perByte: 200 },
  },
  'dash-manifest': {
    run(input) {
      const { durationSeconds = 1 } = scanDashManifest(input.toString()) ?? {};
      check(durationSeconds > 0 && durationSeconds < 1e7, 'Implausible duration');
    },
    seeds: [seeds.DASH],
    maxSteps: LINEAR,
  },
  'dash-timeline': {
    run(input) {
      const fragments = header(input)
        .split('\n')
        .map((url, index) => ({ url, seconds: index % 3 }));
      const timeline = dashTimeline(fragments, { isLive: true, baseUrl: URL_BASE });
      dashTimeline(fragments.slice(1), { isLive: true, baseUrl: URL_BASE, previous: timeline });
    },
    seeds: ['init\na?x=1\nhttps://b.example/#c'],
    maxSteps: LINEAR,
  },
  'init-segment': {
    run: (input) => void initTracks(input),
    seeds: [seeds.movie('vide'), seeds.fragmentedMovie('soun')],
    maxSteps: LINEAR,
  },
  'segment-index': {
    run: (input) => void (input.length >= 8 && parseSegmentIndex(input)),
    seeds: [seeds.SEGMENT_INDEX],
    maxSteps: LINEAR,
  },
  'fragment-times': {
    run(input) {
      const tracks = initTracks(seeds.fragmentedMovie('vide'));
      for (const { start, end } of fragmentTimes(input, tracks))
        check(end >= start, 'A fragment ends before its start');
      shiftFragment(input, () => 1);
    },
    // Callers treat a fragment that cannot be read as damaged.
    errors: [RangeError],
    seeds: [seeds.FRAGMENT],
    maxSteps: LINEAR,
  },
  'fragment-rewriter': {
    run(input) {
      const { moof } = rewriteFragment({
        moof: input.subarray(8),
        start: 0,
        sourceId: 1,
        id: 2,
        defaults: Buffer.alloc(16),
        fallbackTime: 0n,
      });
      moof(1);
    },
    errors: [UnsupportedMp4],
    seeds: [seeds.FRAGMENT],
    // A run without fields may declare a million samples.
    maxSteps: { fixed: 5_000_000, perByte: 500_000 },
  },
  'segment-filter': {
    run(input) {
      const whole = filterSegments(input, Math.max(1, input.length));
      check(whole.equals(filterSegments(input, 61)), 'The output depends on chunk boundaries');
    },
    errors: [UpstreamError],
    seeds: [seeds.FRAGMENT, seeds.SEGMENT_INDEX, seeds.FRAGMENTED_FILE],
    maxSteps: { fixed: 50_000, perByte: 200 },
  },
  'virtual-mp4': {
    run(input) {
      const audio = { moov: seeds.movie('soun').subarray(8), fileBytes: 1e6 };
      const { size, memoryBytes } = createLayout({ moov: input.subarray(8), fileBytes: 1e6 }, audio);
      check(Number.isSafeInteger(size) && size < 3e6, 'Larger than its sources');
      check(memoryBytes < 50e6, 'Too much memory');
    },
    errors: [UnsupportedMp4, Error],
    seeds: [seeds.movie('vide')],
    // Two million samples are checked at most, each of a size in its file.
    maxSteps: { fixed: 200_000_000, perByte: 1000 },
  },
  'mp4-clip': {
    run(input) {
      const source = { moov: input.subarray(8), fileBytes: 1e6 };
      const { video, audio } = parseFileTracks(source, ['vide', 'soun']);
      const trackOf = (header: typeof video) => header && sampledClipTrack(header, 0, source.fileBytes);
      const tracks = { video: trackOf(video), audio: trackOf(audio) };
      const { size, startSeconds, endSeconds } = layOutClip(tracks, { startSeconds: 1, endSeconds: 3 });
      // Tables have up to 24 bytes for each sample, and each sample at least one byte.
      check(Number.isSafeInteger(size) && size < 3e7, 'Larger than its source');
      check(startSeconds <= endSeconds, 'Ends before its start');
    },
    errors: [UnsupportedMp4, Error],
    seeds: [seeds.movie('vide'), seeds.movie('soun')],
    // A million samples of one byte, read three times.
    maxSteps: { fixed: 500_000_000, perByte: 1000 },
  },
  'mp4-clip-fragments': {
    run(input) {
      const { video } = parseFileTracks({ moov: seeds.fragmentedMovie('vide').subarray(8), fileBytes: 1e6 }, ['vide']);
      if (!video) return;
      const track = fragmentedClipTrack(video, 0, 1e6, [{ offset: 1000, bytes: input }]);
      const { size } = layOutClip({ video: track }, { startSeconds: 0, endSeconds: 1e6 });
      check(Number.isSafeInteger(size) && size < 3e7, 'Larger than its source');
    },
    errors: [UnsupportedMp4, Error],
    seeds: [seeds.FRAGMENT],
    maxSteps: { fixed: 500_000_000, perByte: 1000 },
  },
  'duration-patch': {
    run(input) {
      const patched = patchHeaderDuration(input, 10);
      check(!patched || patched.length >= input.length, 'Shorter than before');
    },
    seeds: [seeds.movie('vide'), seeds.FRAGMENTED_FILE],
    maxSteps: LINEAR,
  },
  'sample-entries': {
    run: (input) => void hasEncryptedSampleEntry(input),
    seeds: [seeds.movie('vide')],
    maxSteps: LINEAR,
  },
  'segment-probe': {
    run: (input) => void probeSegmentStart(input),
    seeds: [seeds.FRAGMENTED_FILE, seeds.MPEG_TS, seeds.ADTS],
    maxSteps: LINEAR,
  },
  'mp4-frames': { run: scanFrames(createMp4Check), seeds: [seeds.FRAGMENTED_FILE], maxSteps: LINEAR },
  'adts-frames': { run: scanFrames(createAdtsCheck), seeds: [seeds.ADTS], maxSteps: LINEAR },
  'mpegts-packets': { run: scanFrames(createMpegTsCheck), seeds: [seeds.MPEG_TS], maxSteps: LINEAR },
  sniff: { run: (input) => void sniff(input), seeds: [seeds.FRAGMENTED_FILE, 'ID3', 'fLaC'], maxSteps: LINEAR },
  id3: {
    run(input) {
      check(id3TagBytes(input) <= 2 ** 28 + 10, 'Larger than four bytes of seven bits');
      const tag = id3Tag({ title: input.toString(), artist: input.toString('latin1') });
      check(tag.length < 2048 && (tag.length === 0 || id3TagBytes(tag) === tag.length), 'Its own tag is misread');
    },
    seeds: [seeds.ADTS, 'title'],
    maxSteps: LINEAR,
  },
  'full-tags': {
    run(input) {
      const [text, latin1] = [input.toString(), input.toString('latin1')];
      const recording = {
        title: text,
        artist: latin1,
        album: text,
        date: latin1,
        link: text,
        trackNumber: input.length,
      };
      const tag = fullId3Tag(recording, input);
      check(tag.length === FULL_TAG_BYTES && id3TagBytes(tag) === tag.length, 'A tag of another size');
      check(mp4Tags(recording, input).length === MP4_TAGS_BYTES, 'Tags of another size');
    },
    seeds: ['title', '2026-11-22', 'https://media.example/a?b=c'],
    // Padding is written whatever the texts are.
    maxSteps: { fixed: 2_000_000, perByte: 200 },
  },
  subtitles: {
    run(input) {
      const cues = readSubtitles(input);
      let last = 0;
      for (const { startMs, endMs, text } of cues) {
        check(startMs >= last && endMs > startMs && endMs < 3.7e9, 'Times out of order');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be gone
        check(text.length <= 2000 && !/[\u0000-\u0009\u000b-\u001f]|\n\n/.test(text), 'Text that ends a cue');
        last = startMs;
      }
      const [vtt = '', srt = ''] = SUBTITLE_FORMATS.map((format) => writeSubtitles(cues, format));
      for (const file of [vtt, srt]) check(readSubtitles(Buffer.from(file)).length <= cues.length, 'A cue became two');
      check(!/<(?!\/?$)[a-z]/i.test(vtt), 'Markup is left');
    },
    errors: [InvalidSubtitles],
    seeds: seeds.SUBTITLES,
    maxSteps: { fixed: 1_000_000, perByte: 3000 },
  },
  'text-samples': {
    run(input) {
      const cues = Array.from({ length: Math.floor(input.length / 5) }, (_, index) => {
        const startMs = input.readUInt16LE(index * 5);
        return {
          startMs,
          endMs: startMs + 1 + input.readUInt16LE(index * 5 + 2),
          text: 'é'.repeat(input[index * 5 + 4] ?? 0),
        };
      }).toSorted((a, b) => a.startMs - b.startMs);
      let time = 0;
      for (const { startMs, durationMs, bytes } of textSamples(cues, 60_000)) {
        check(startMs === time && durationMs > 0, 'A gap between samples');
        check(bytes.readUInt16BE() === bytes.length - 2, 'A sample of another length');
        time += durationMs;
      }
      check(time <= 60_000, 'Longer than the media');
    },
    errors: [TextTooLarge],
    seeds: [Buffer.from([0, 0, 100, 0, 5, 50, 0, 100, 0, 9]), Buffer.alloc(50, 1)],
    // Up to 4 MB are written: eight cues at once for each change.
    maxSteps: { fixed: 20_000_000, perByte: 5000 },
  },
  'conversion-parameters': {
    run(input) {
      const query = new URLSearchParams(header(input));
      const read = (name: string) => {
        const values = query.getAll(name);
        return values.length > 1 ? values : values[0];
      };
      const parameters = { format: read('format'), bitrate: read('bitrate'), tags: read('tags') };
      const { format, bitrateKbps } = parseConversionParameters(parameters);
      check(bitrateKbps === undefined || format === 'mp3', 'A bit rate of another format');
      check((parseSubtitlesParameter(read('subtitles')) ?? '').length <= 35, 'A long language');
    },
    errors: [Problem],
    seeds: ['format=mp3&bitrate=320&tags=true', 'format=wav&tags=false', 'subtitles=pt-BR', 'bitrate=128&bitrate=128'],
    // Node's parser of queries looks for each of four parameters.
    maxSteps: { fixed: 20_000_000, perByte: 5000 },
  },
  'yt-dlp-info': {
    run(input) {
      let info: unknown;
      try {
        info = JSON.parse(input.toString());
      } catch {
        return;
      }
      if (!isInfo(info)) return;
      const origin = { url: 'https://media.example/', ...identify(info) };
      readEntries(info, origin.url);
      try {
        const resource = assembleResource(info, readTracks(info, NOW), { origin, egress: 'direct', now: NOW });
        toResourceInformation({ type: 'Media', resource }, origin.url);
      } catch (error) {
        // NotFound, NotDeliverable and UpstreamError are answers.
        if (error instanceof TypeError || error instanceof RangeError) throw error;
      }
    },
    seeds: [seeds.INFO],
    maxSteps: { fixed: 200_000, perByte: 2000 },
  },
  'cookies-of-yt-dlp': {
    run: (input) => check(parseCookies(header(input), 'cdn.example').length <= 100, 'Too many cookies'),
    seeds: ['a=1; Domain=.cdn.example; Path=/; Secure; b="x\\073\\""; c'],
    maxSteps: LINEAR,
  },
  'cookies-file': {
    run(input) {
      try {
        checkCookies('COOKIES_FILE', input);
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'SettingError') throw error;
      }
    },
    seeds: ['# Netscape HTTP Cookie File\n.a.example\tTRUE\t/\tTRUE\t0\tn\tv\n'],
    maxSteps: LINEAR,
  },
  'request-headers': {
    run(input) {
      const cookies = parseCookies(header(input), 'cdn.example');
      const headers = requestHeaders({ url: 'https://cdn.example/a', headers: {}, cookies });
      check(!/[\r\n]/.test(headers(new URL('https://x.cdn.example/b')).cookie ?? ''), 'A line break in a header');
    },
    seeds: ['a=1; Domain=.cdn.example; Path=/'],
    maxSteps: LINEAR,
  },
  range: {
    run(input) {
      const range = decideRange(header(input), 1000);
      if (typeof range === 'object') check(range.first <= range.last && range.last < 1000, 'Beyond the end');
      predictRange(header(input));
      const content = parseContentRange(header(input));
      if (content) check(content.first <= content.last && Number.isSafeInteger(content.last), 'Invalid Content-Range');
      parseUnsatisfiedRange(header(input));
    },
    seeds: ['bytes=0-99', 'bytes=-5', 'bytes 0-99/1000', 'bytes */5', 'bytes 0-1/*'],
    maxSteps: LINEAR,
  },
  link: {
    run(input) {
      const { link } = parseLinkParameter(header(input));
      const normalized = normalizeLink(link);
      check(normalizeLink(normalized) === normalized, 'Normalizing twice differs');
      check(!/[\r\n]/.test(normalized) && !new URL(normalized).username, 'A line break, or user information');
    },
    errors: [Problem],
    seeds: ['url=https%3A%2F%2Fu:p@a.example%2Fwatch%3Fv%3D1%23!/x', 'url=http://[::1]:80/'],
    maxSteps: { fixed: 5_000, perByte: 200 },
  },
  'quality-parameters': {
    run(input) {
      const { options: clip, quality } = parseQualityParameters(header(input));
      check(Number(clip.start ?? 0) < Number(clip.end ?? 1e6), 'A clip ends before its start');
      check(typeof quality === 'string' || quality.maxHeight < 1e6, 'Implausible height');
    },
    errors: [Problem],
    seeds: [
      'url=http%3A%2F%2Fa&quality=720p&codec=any&start=1.5&end=20',
      'quality=mp3&format=mp3&bitrate=320',
      'start=1&start=2',
    ],
    // Most of them in Node's parser of queries. A request has at most 64 KB.
    maxSteps: { fixed: 20_000_000, perByte: 2000 },
  },
  host: {
    run(input) {
      const url = URL.parse(`http://${header(input)}/`);
      if (!url) return;
      const { hostname } = url;
      const isAdmitted = guard.admitsHost({ hostname, port: 80 });
      const isPrivate = /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.|^\[(?:::|f[cde])/.test(hostname);
      check(!(isAdmitted && isLiteral(hostname) && isPrivate), 'A private address is admitted');
      guard.admitsAddress(header(input), { hostname, port: 80 });
    },
    seeds: ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:7f00:1]', 'localhost.', '[64:ff9b::a00:1]', 'a.example'],
    maxSteps: { fixed: 5_000, perByte: 200 },
  },
  client: {
    run: (input) => check(clientOf(header(input)).length <= Math.max(64, input.length), 'Longer than its input'),
    seeds: ['192.0.2.1:4711', '[2001:db8::1]:4711', '::ffff:192.0.2.1'],
    maxSteps: LINEAR,
  },
  accept: {
    run: (input) => void renderJson({}, header(input)),
    seeds: ['text/plain;q=0.5, text/json', '*/*'],
    maxSteps: { fixed: 5_000, perByte: 200 },
  },
  key: {
    run: (input) => void parseKey(header(input)),
    seeds: ['A'.repeat(33)],
    maxSteps: LINEAR,
  },
  'retry-after': {
    run: (input) => check((retryDelayMs(1, header(input), retryLimits, NOW) ?? 0) <= 20_000, 'Waits too long'),
    seeds: ['5', 'Wed, 21 Oct 2026 07:28:00 GMT'],
    maxSteps: LINEAR,
  },
  'file-name': {
    run(input) {
      const naming = { title: input.toString().slice(0, 500), author: header(input).slice(0, 500) };
      const name = fileName(naming, '.mp4');
      check(Buffer.byteLength(name) <= 255 && !/[\p{Cc}\p{Cs}/\\:*?"<>|]/u.test(name), 'Not a file name');
      check(!/^(?:con|prn|aux|nul|com\d|lpt\d)\s*(?:\.|$)/i.test(name), 'A device of Windows');
      check(/^[\x20-\x7e]+$/.test(contentDisposition(naming, '.mp4')), 'Not a header');
    },
    seeds: ['Title', 'NUL.txt', 'com\u00b9', '\u202egpj.exe', 'a\r\nb: c'],
    maxSteps: { fixed: 50_000, perByte: 200 },
  },
  'archive-parameters': {
    run(input) {
      const query = header(input);
      const { from, format } = parseArchiveParameters(Object.fromEntries(new URLSearchParams(query)));
      check(Number.isInteger(from) && from > 0 && ['zip', 'tar'].includes(format), 'Implausible archive');
      parseFeedParameters(query);
    },
    errors: [Problem],
    seeds: ['quality=720p&codec=any&format=tar&from=12', 'quality=mp3&bitrate=320&tags=true', 'format=m3u8'],
    // Node parses the query four times here; see quality-parameters.
    maxSteps: { fixed: 20_000_000, perByte: 8000 },
  },
  'archive-names': {
    run(input) {
      const [title = '', other = ''] = [input.toString().slice(0, 500), header(input).slice(0, 500)];
      const entry = { url: 'https://a.example/', title: other, author: null, coverUrl: null };
      const list = { id: '', url: 'https://a.example/list', title, author: null, entries: [entry], expiresAt: 0 };
      const path = createEntryNames(list).pathOf(0, { title: other, author: null }, '.mp4');
      check(/^[^./\\][^/\\]*\/01 - [^/\\]+\.mp4$/.test(path), 'A path that leaves its folder');
      check(Buffer.byteLength(path) <= 600, 'Too long');
      const lines = indexText(list, [{ index: 0, reason: other }]).split(/[\r\n\u2028\u2029]/);
      check(lines.length === 8, 'A text that adds lines to the index');
      for (const size of [0, input.length, 2 ** 40]) {
        const header = tarHeader({ path: title, size, modifiedAt: new Date(0) });
        check(header.length % 512 === 0, 'Not whole blocks');
      }
      check(localHeader({ path: title, size: 1, modifiedAt: new Date(0) }).length < 65_536, 'Too long');
    },
    seeds: ['Title', '../../etc/passwd', 'C:\\x', 'a\r\n9. Forged', '\u202egpj.exe', 'é'.repeat(200)],
    maxSteps: { fixed: 100_000, perByte: 500 },
  },
  feed: {
    run(input) {
      const text = input.toString().slice(0, 2000);
      const feedOf = (title: string) =>
        toFeed(
          { type: 'PlayList', title, author: title, coverUrl: null, items: [{ entry: feedEntry(title) }] },
          { link: 'https://a.example/', baseUrl: 'https://b.example', quality: 'mp3', codec: 'compatible' },
        );
      const rss = writeRss(feedOf(text));
      check(!/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(rss), 'A character that XML excludes');
      const tagsOf = (document: string) => document.match(/<[^<>]*>/g)?.map((tag) => tag.split(' ', 1)[0]);
      const isEmpty = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '') === '';
      check(isEmpty || `${tagsOf(rss)}` === `${tagsOf(writeRss(feedOf('x')))}`, 'A text that adds tags');
      check(!/&(?!(?:amp|lt|gt|quot|apos);)/.test(rss), 'An entity of the source');
      check(writeM3u8(feedOf(text)).split(/[\r\n\u2028\u2029]/).length === 5, 'A text that adds lines');
    },
    seeds: ['Title', '</title><x y="', ']]>&#0;&bogus;', 'a\u0000b\ufffe', '#EXTINF:1\nhttps://a.example/'],
    // URLs that are built and parsed again.
    maxSteps: { fixed: 500_000, perByte: 2000 },
  },
  'log-text': {
    run(input) {
      const text = describeError(new Error(input.toString()));
      check(text.length <= 4000, 'Too long');
    },
    seeds: ['at https://user:password@a.example/path?token=1 in x'],
    maxSteps: LINEAR,
  },
};
