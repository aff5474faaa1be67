import type { ToolProgress } from './failure.ts';

/** What a resolve response says about a playlist in its `X-Playlist` header. */
export interface PlaylistCounts {
  /** Entries at the source, if it says. */
  readonly total?: number | undefined;
  /** The list ends at the server's limit. */
  readonly isCut: boolean;
  /** One-based places of entries that are gone, private or protected, ascending; `mediaItems` omits them. */
  readonly unavailable: readonly number[];
}

/** Reads a header such as `listed=197, total=500, cut, unavailable=(3 17)`; undefined without one. */
export function playlistCountsOf(headers: Headers): PlaylistCounts | undefined {
  const members = membersOf(headers, 'x-playlist');
  const unavailable = members.get('unavailable')?.match(/\d+/g) ?? [];
  return members.size > 0
    ? { total: numberOf(members.get('total')), isCut: members.has('cut'), unavailable: unavailable.map(Number) }
    : undefined;
}

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

/** The members of a dictionary (RFC 9651) whose strings have no commas. */
function membersOf(headers: Headers, name: string): ReadonlyMap<string, string | undefined> {
  const members = headers.get(name)?.split(/, */) ?? [];
  return new Map(members.map((member) => member.split('=') as [string, string | undefined]));
}

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
