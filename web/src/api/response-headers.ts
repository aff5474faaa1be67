import { membersOf, numberOf } from '../../../clients/reelay-client/src/index.ts';
import type { ToolProgress } from './failure.ts';

/**
 * Reads a header such as `yt-dlp="2026.11.20", sites=1251, named=("YouTube" "Vimeo")`.
 * @returns the number of sites that the instance reads, 0 where it does not say, and the names of some
 */
export function sitesOf(headers: Headers) {
  const members = membersOf(headers, 'x-tools');
  const names = (members.get('named') ?? '').split('"').filter((_, index) => index % 2 === 1);
  return { names, count: Number(members.get('sites') ?? 0) };
}

/** Reads links to try from a header such as `<https://a.example/b>; rel="example"; title="Music"` (RFC 8288). */
export const samplesOf = (headers: Headers) =>
  [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="example"; title="([^"]+)"/g)].map(
    ([, url = '', title]) => ({ url, title }),
  );

/** Reads a header such as `step=fetch, tool="yt-dlp", received=12000000, total=34000000`; undefined without one. */
export function progressOf(headers: Headers): ToolProgress | undefined {
  const members = membersOf(headers, 'x-maintenance');
  const [step, tool] = [members.get('step'), members.get('tool')];
  return step && tool
    ? {
        step: step as ToolProgress['step'],
        tool: JSON.parse(tool),
        receivedBytes: numberOf(members.get('received')),
        totalBytes: numberOf(members.get('total')),
      }
    : undefined;
}
