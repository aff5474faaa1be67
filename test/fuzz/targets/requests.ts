import { isDeepStrictEqual } from 'node:util';
import { decideRange, predictRange } from '@reelay/seekable-media/http';
import { parseContentRange, parseUnsatisfiedRange } from '@reelay/source/request-headers';
import { Problem } from '../../../core/api/problem.ts';
import { readSelection, writeSelection } from '../../../core/api/query.ts';
import { clientOf, renderJson } from '../../../core/http/index.ts';
import { normalizeLink } from '../../../core/resolve/yt-dlp/requests.ts';
import { parseKey } from '../../../core/state/keys.ts';
import { parseLinkParameter } from '../../../lambdas/api/resolve-request.ts';
import { check, type FuzzTargets, header, LINEAR } from './target.ts';

/** Requests of clients. */
export const requests: FuzzTargets = {
  'conversion-parameters': {
    run(input) {
      const selection = readSelection('Media', new URLSearchParams(header(input)));
      const { fileName: _, ...written } = selection;
      const { format, bitrateKbps, subtitles = '' } = selection;
      check(bitrateKbps === undefined || format === 'mp3', 'A bit rate of another format');
      check(subtitles.length <= 35, 'A long language');
      const again = readSelection('Media', writeSelection('Media', selection));
      check(isDeepStrictEqual(again, written), 'Differs when it is written and parsed again');
    },
    errors: [Problem],
    seeds: [
      'format=mp3&bitrate=320&tags=true',
      'format=wav&tags=false',
      'subtitles=pt-BR',
      'skip=intro,sponsor',
      'mark=hook',
      'bitrate=128&bitrate=128',
    ],
    // Node's parser of queries looks for each of four parameters.
    maxSteps: { fixed: 20_000_000, perByte: 5000 },
  },
  'quality-parameters': {
    run(input) {
      const { clip, quality = 'best' } = readSelection('Get', new URLSearchParams(header(input)));
      check(!clip || clip.startSeconds < clip.endSeconds, 'A clip ends before its start');
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
  'archive-parameters': {
    run(input) {
      const query = new URLSearchParams(header(input));
      const { from = 1 } = readSelection('Archive', query);
      check(Number.isInteger(from) && from > 0, 'Implausible archive');
      readSelection('Feed', query);
    },
    errors: [Problem],
    seeds: ['quality=720p&codec=any&format=zip&from=12', 'quality=mp3&bitrate=320&tags=true', 'format=m3u8'],
    // Node parses the query four times here; see quality-parameters.
    maxSteps: { fixed: 20_000_000, perByte: 8000 },
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
};
