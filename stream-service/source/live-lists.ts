import { createCache } from '@reelay/concurrency';
import {
  durationOf,
  type MediaSection,
  RelativeSection,
  type Segment,
  type Timeline,
  windowSegments,
  withTimes,
} from '@reelay/seekable-media/timeline';
import { type ListKind, type ListRequest, openList } from '@reelay/source';
import type { Name } from '@reelay/source/names';
import { InvalidParameter, NotFound, UrlExpired } from '../../core/errors/index.ts';
import type { TrackWindow } from '../../core/state/index.ts';

/** Segments that a live list contains, plus those it contained recently. */
type LiveList = Pick<Timeline, 'segments' | 'reloadSeconds'>;

/** The live lists that this process reads parts of. */
interface LiveLists {
  get(id: Name): LiveList | undefined;
  /** Adds what a list now has. */
  add(id: Name, loaded: Timeline): LiveList;
}

/** Segments of all lists together, of some hundred bytes each. */
const MAX_SEGMENTS = 200_000;
const MAX_LISTS = 200;
/** Nothing was read of it for so long. */
const MAX_AGE_MS = 30 * 60 * 1000;
const IDLE = { afterMs: 5 * 60 * 1000, maxWeight: 20_000 };

export function createLiveLists(): LiveLists {
  const lists = createCache<Name, LiveList>({
    maxEntries: MAX_LISTS,
    maxAgeMs: MAX_AGE_MS,
    maxWeight: MAX_SEGMENTS,
    idle: IDLE,
    weightOf: ({ segments }) => segments.length,
  });
  return {
    get: (id) => lists.get(id),
    add(id, loaded) {
      const segments = withTimes(loaded.segments);
      const known = lists.get(id);
      const list = (known && joinLists(known, segments)) ?? segments;
      return lists.set(id, { segments: list, reloadSeconds: loaded.reloadSeconds });
    },
  };
}

/**
 * A source keeps a segment for the duration of its list after it has left the list (RFC 8216 §6.2.2): as many are kept
 * here, so that a download can be resumed.
 * @returns undefined when it is another list
 */
function joinLists(known: LiveList, segments: readonly Segment[]): readonly Segment[] | undefined {
  const first = segments[0]?.sequence ?? 0;
  const before = known.segments.filter(({ sequence }) => sequence < first);
  const last = segments.at(-1)?.sequence ?? first;
  const later = known.segments.filter(({ sequence }) => sequence > last);
  const isContinued =
    segments.length > 0 &&
    (known.segments.at(-1)?.sequence ?? -1) >= first - 1 &&
    (known.segments[0]?.sequence ?? 0) <= last + 1 &&
    // An edge of a delivery network may lag behind another one; a list that has restarted is another one.
    later.length <= segments.length &&
    isSameSegment(known.segments, segments);
  if (!isContinued) return undefined;
  const from = Math.max(0, before.length - segments.length);
  // Times that follow from others differ by rounding; those in a file must not.
  const timed = segments.map((segment) => {
    const startsAtMs = known.segments[segment.sequence - (known.segments[0]?.sequence ?? 0)]?.startsAtMs;
    return startsAtMs === undefined ? segment : { ...segment, startsAtMs };
  });
  return [...before.slice(from).map(detach), ...timed, ...later];
}

/** A segment that does not keep the text of its list in memory, of which its URL is a part. */
function detach(segment: Segment): Segment {
  const { content, init } = segment;
  const copy = ({ url, range, cipher }: MediaSection) => ({ url: Buffer.from(url).toString(), range, cipher });
  if (!(content instanceof RelativeSection)) return segment;
  return { ...segment, content: copy(content), init: init && copy(init) };
}

/** Compares the newest segment that both have: a new signature does not make it another one. */
function isSameSegment(known: readonly Segment[], segments: readonly Segment[]): boolean {
  const sequence = Math.min(known.at(-1)?.sequence ?? 0, segments.at(-1)?.sequence ?? 0);
  const [before, after] = [known, segments].map((list) => list[sequence - (list[0]?.sequence ?? 0)]);
  return !before || !after || pathOf(before.content.url) === pathOf(after.content.url);
}

const pathOf = (url: string): string | undefined => URL.parse(url)?.pathname;

/** A part of a live list. */
interface LiveWindow extends TrackWindow {
  /** Names the list. */
  readonly list: Name;
}

/**
 * Reads a window from remembered segments; reloads the list when their URLs have expired. Loading throws NotFound when the source no longer
 * has its segments.
 */
export function windowKind(lists: LiveLists, { list: id, ...window }: LiveWindow, kind: ListKind): ListKind {
  const { load, isRenewed } = numbered(kind);
  let isFirst = true;
  return {
    isRenewed,
    async load(options, track, signal) {
      let list = isFirst ? lists.get(id) : undefined;
      let segments = list && windowSegments(list.segments, window);
      if (!list || !segments) {
        // What was loaded before is the window alone: a later list has its own numbers, not those that would follow.
        list = lists.add(id, await load({ ...options, previous: undefined }, track, signal));
        segments = windowSegments(list.segments, window);
        // The segments from resolving are too old: resolve again.
        if (!segments && track === options.track && isRenewed) throw new UrlExpired(true);
      }
      if (!segments) throw new NotFound('The source no longer holds these segments', { reason: 'gone' });
      isFirst = false;
      return { segments: partOf(segments, window), isComplete: true, reloadSeconds: list.reloadSeconds };
    },
  };
}

/** A kind of list whose loading throws InvalidParameter when the segments have no numbers of their own. */
const numbered = ({ load, ...kind }: ListKind): ListKind => ({
  ...kind,
  async load(...options) {
    const loaded = await load(...options);
    if (loaded.isUnnumbered)
      throw new InvalidParameter('The segments of this live stream are not numbered, so it cannot be rewound.');
    return loaded;
  },
});

/** Without the initialization sections, or these alone. */
function partOf(segments: readonly Segment[], { part }: Pick<TrackWindow, 'part'>): readonly Segment[] {
  if (!part) return segments;
  return segments.map(({ init, content, ...segment }) =>
    part === 'init' && init ? { ...segment, content: init, seconds: 0 } : { ...segment, content },
  );
}

/** What is known of a window before it is read. */
export interface WindowFacts {
  readonly durationSeconds: number;
  /** Epoch milliseconds, where the list states it. */
  readonly recordedAtMs: number | undefined;
}

/** Reads nothing but the list. @throws NotFound when its segments are no longer held, and what reading the list throws */
export async function inspectWindow(request: ListRequest): Promise<WindowFacts> {
  const { segments } = (await openList(request)).timeline;
  return { durationSeconds: durationOf(segments), recordedAtMs: segments[0]?.startsAtMs };
}

/** Loads what a live list holds now. @throws NotFound when it holds nothing */
export async function listLive(request: ListRequest, lists: LiveLists, id: Name): Promise<Timeline> {
  const { timeline } = await openList({ ...request, kind: numbered(request.kind) }, { isLatest: true });
  if (timeline.segments.length === 0) throw new NotFound('The source holds no segments');
  lists.add(id, timeline);
  return { ...timeline, segments: withTimes(timeline.segments) };
}
