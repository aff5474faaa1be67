import { InvalidSegments, keptParts, mergeSpans, parseSegments } from '@reelay/seekable-media/parts/skipping';
import { requestHeaders } from '@reelay/source/request-headers';
import { UpstreamError } from '../../../core/errors/index.ts';
import { parseCookies } from '../../../core/resolve/yt-dlp/requests.ts';
import { createAddressGuard, isLiteral } from '../../../packages/guarded-fetch/src/address-guard.ts';
import { initialRetryState, planNextAttempt } from '../../../packages/source/src/attempts.ts';
import { check, type FuzzTargets, header, LINEAR } from './target.ts';

const guard = createAddressGuard(['media.lan:80']);
const retryLimits = { maxAttempts: 5, initialBackoffMs: 1, maxBackoffMs: 100, maxRetryAfterMs: 20_000, maxRefusals: 2 };
const NOW = 1_790_000_000;

/** HTTP between the service and sources. */
export const upstream: FuzzTargets = {
  'request-headers': {
    run(input) {
      const cookies = parseCookies(header(input), 'cdn.example');
      const headers = requestHeaders({ url: 'https://cdn.example/a', headers: {}, cookies });
      check(!/[\r\n]/.test(headers(new URL('https://x.cdn.example/b')).cookie ?? ''), 'A line break in a header');
    },
    maxSteps: LINEAR,
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
    maxSteps: { fixed: 5_000, perByte: 200 },
  },
  segments: {
    run(input) {
      const merged = mergeSpans(parseSegments(Buffer.from(input), 'wanted'));
      const kept = keptParts({ startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY, skipped: merged });
      const times = kept.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
      check(merged.length <= 200, 'Too many segments');
      check(
        times.every((time, index) => time > (times[index - 1] ?? -1)),
        'Parts overlap',
      );
    },
    errors: [InvalidSegments],
    maxSteps: LINEAR,
  },
  'retry-after': {
    run(input) {
      const overload = { kind: 'retry', error: new UpstreamError(), retryAfter: header(input) } as const;
      const step = planNextAttempt(initialRetryState, overload, { limits: retryLimits, now: NOW });
      check(step.kind === 'wait' && step.delayMs <= 20_000, 'Waits too long');
    },
    maxSteps: LINEAR,
  },
};
