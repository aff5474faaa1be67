import type { ResourceInformation } from './contract.ts';

/** What a resolve response says about a playlist in its `X-Playlist` header. */
export interface PlaylistCounts {
  /** Entries at the source, if it says. */
  readonly total?: number;
  /** The list ends at the server's limit. */
  readonly isCut: boolean;
  /** One-based places of entries that are gone, private or protected, ascending; `mediaItems` omits them. */
  readonly unavailable: readonly number[];
}

export interface ResolvedLink extends ResourceInformation {
  readonly counts?: PlaylistCounts;
}

/** More places are ignored: the limit of a service is 1000 entries. */
const MAX_UNAVAILABLE = 1000;

/** Reads a dictionary (RFC 9651) such as `listed=197, total=500, cut, unavailable=(3 17)`; undefined without one. */
export function parsePlaylistCounts(header: string | null): PlaylistCounts | undefined {
  if (header === null) return undefined;
  const members = new Map(header.split(',').map((member) => splitOnce(member.trim())));
  const total = wholeNumber(members.get('total'));
  const places = (members.get('unavailable') ?? '').replace(/^\(|\)$/g, '').split(/\s+/);
  const unavailable = places.flatMap((place) => wholeNumber(place) ?? []).slice(0, MAX_UNAVAILABLE);
  return { total, isCut: members.has('cut'), unavailable: [...new Set(unavailable)].sort((a, b) => a - b) };
}

const splitOnce = (member: string): [name: string, value: string] => {
  const [name = '', value = ''] = member.split('=', 2);
  return [name, value];
};

const wholeNumber = (text = ''): number | undefined => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined);
