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
    maxSteps: LINEAR,
  },
  client: {
    run: (input) => check(clientOf(header(input)).length <= Math.max(64, input.length), 'Longer than its input'),
    maxSteps: LINEAR,
  },
  accept: {
    run: (input) => void renderJson({}, header(input)),
    maxSteps: { fixed: 5_000, perByte: 200 },
  },
  key: {
    run: (input) => void parseKey(header(input)),
    maxSteps: LINEAR,
  },
};
