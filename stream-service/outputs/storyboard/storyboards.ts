import { createCache, createSingleFlight } from '../../../core/concurrency/index.ts';
import { UnsupportedRendition, UpstreamError } from '../../../core/errors/index.ts';
import type { Log } from '../../../core/log/index.ts';
import { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import { keyframeTrack, partOf, type Resource, type State, siteStoryboard } from '../../../core/state/index.ts';
import { FfmpegFailed, type FfmpegInputServer, type RequireFfmpeg } from '../../ffmpeg/index.ts';
import type { Admission } from '../../sessions/index.ts';
import { NoSuchFile } from '../layout/index.ts';
import { type Picture, readPicture, recognizePicture } from '../picture/index.ts';
import { type Opening, toReadError } from '../representation.ts';
import { drawSheet, readKeyframes } from './keyframe-sheet.ts';
import { type Storyboard, withTimes } from './storyboard-file.ts';

/** Pictures of resources for seeking: those of the site, else those that are made of keyframes, once for all hosts. */
export interface Storyboards {
  /**
   * @returns undefined for HEAD where it has to be made first
   * @throws UnsupportedRendition where none can be made; StateUnavailable, InMaintenance, CapacityExceeded, and what reading throws
   */
  find(resource: Resource, opening: Opening): Promise<Storyboard | undefined>;
  /** One of its sheets. @throws NotFound for another number, UpstreamError when it is no picture, and as `find` */
  sheet(resource: Resource, sheet: number, opening: Opening): Promise<Picture | undefined>;
}

export interface StoryboardsDependencies {
  readonly state: Pick<State, 'getAttachment' | 'putAttachment'>;
  readonly inputServer: FfmpegInputServer;
  readonly requireFfmpeg: RequireFfmpeg;
  readonly admission: Pick<Admission, 'acquireFfmpeg'>;
  readonly log: Log;
  /** Until it has to be made. @default 20000 */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
/** At most 350 KB each. */
const CACHE_OPTIONS = { maxEntries: 16, maxAgeMs: 60 * 60 * 1000 };
/** What every browser shows, of the formats that sites have. */
const SHEET_TYPES = ['image/jpeg', 'image/png', 'image/webp'];
const NONE = Buffer.alloc(0);
const NO_STORYBOARD = 'No pictures can be made of this item: it has no MP4 file with keyframes that can be read.';

export function createStoryboards(dependencies: StoryboardsDependencies): Storyboards {
  const { state, requireFfmpeg, admission, inputServer, log, timeoutMs = TIMEOUT_MS } = dependencies;
  const cache = createCache<string, Buffer>(CACHE_OPTIONS);
  const flights = createSingleFlight<Buffer>();

  const make = async (resource: Resource, { session, openSource }: Opening, shared: AbortSignal): Promise<Buffer> => {
    const { client } = session;
    const track = keyframeTrack(resource);
    if (!track) return NONE;
    const { path } = await requireFfmpeg();
    const signal = AbortSignal.any([shared, AbortSignal.timeout(timeoutMs)]);
    const release = admission.acquireFfmpeg(client);
    try {
      const keyframes = await readKeyframes({ resource, track, openSource }, { client, signal });
      const duration = resource.durationSeconds ?? 0;
      const { storyboard, jpeg } = await drawSheet(keyframes, duration, { path, inputServer, signal });
      return pack(storyboard, jpeg);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UnsupportedMp4 || error instanceof FfmpegFailed)) throw toReadError(error);
      log.info('No pictures for seeking', { resource: resource.id, error });
      return NONE;
    } finally {
      release();
    }
  };

  /** What was made. @throws UnsupportedRendition when nothing was */
  const made = async (resource: Resource, opening: Opening): Promise<Made | undefined> => {
    const { id } = resource;
    const load = async () => cache.get(id) ?? (await state.getAttachment(id, 'storyboard'));
    const create = (shared: AbortSignal) => make(resource, opening, shared);
    const loadOrMake = async (shared: AbortSignal) =>
      (await load()) ?? (await state.putAttachment(id, 'storyboard', await create(shared)));
    const bytes = await (opening.isForHead ? load() : flights(id, loadOrMake, opening.session.signal));
    if (!bytes) return undefined;
    cache.set(id, bytes);
    if (bytes.length === 0) throw new UnsupportedRendition(NO_STORYBOARD);
    return unpack(bytes);
  };

  return {
    async find(resource, opening) {
      const site = siteStoryboard(resource);
      return site ? withTimes(site.storyboard) : (await made(resource, opening))?.storyboard;
    },
    async sheet(resource, number, opening) {
      const site = siteStoryboard(resource);
      const track = site && partOf(site.track, number);
      if (site ? !track : number > 0) throw new NoSuchFile('No such sheet');
      if (!track) return (await made(resource, opening))?.picture;
      const picture = recognizePicture(await readPicture(resource, track, opening.session, opening.openSource));
      if (!SHEET_TYPES.includes(picture.mimeType)) throw new UpstreamError('The sheet is not a picture');
      return picture;
    },
  };
}

interface Made {
  readonly storyboard: Storyboard;
  readonly picture: Picture;
}

/** The length of the places, the places, and the JPEG. */
function pack(storyboard: Storyboard, jpeg: Buffer): Buffer {
  const places = Buffer.from(JSON.stringify(storyboard));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(places.length);
  return Buffer.concat([length, places, jpeg]);
}

function unpack(bytes: Buffer): Made {
  const end = 4 + bytes.readUInt32BE();
  return {
    storyboard: JSON.parse(bytes.toString('utf8', 4, end)) as Storyboard,
    picture: recognizePicture(bytes.subarray(end)),
  };
}
