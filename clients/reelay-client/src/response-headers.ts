/** What the `X-Playlist` header of a response says about a list. */
export interface PlaylistCounts {
  /** Entries at the source, if it says. */
  readonly total?: number | undefined;
  /** Entries of the list before those of the response. */
  readonly offset: number;
  /** The list goes on beyond what the instance lists at once. */
  readonly isCut: boolean;
  /** The offset of what follows. */
  readonly next?: number | undefined;
  /** One-based places in the list of entries that are gone, private or protected, ascending; `mediaItems` omits them. */
  readonly unavailable: readonly number[];
}

/** Reads a header such as `listed=197, total=500, cut, next=200, unavailable=(3 17)`; undefined without one. */
export function playlistCountsOf(headers: Headers): PlaylistCounts | undefined {
  const members = membersOf(headers, 'x-playlist');
  const unavailable = members.get('unavailable')?.match(/\d+/g) ?? [];
  return members.size > 0
    ? {
        total: numberOf(members.get('total')),
        offset: numberOf(members.get('offset')) ?? 0,
        isCut: members.has('cut'),
        next: numberOf(members.get('next')),
        unavailable: unavailable.map(Number),
      }
    : undefined;
}

/** The members of a dictionary (RFC 9651) whose strings have no commas. */
export function membersOf(headers: Headers, name: string): ReadonlyMap<string, string | undefined> {
  const members = headers.get(name)?.split(/, */) ?? [];
  return new Map(members.map((member) => member.split('=') as [string, string | undefined]));
}

export const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
