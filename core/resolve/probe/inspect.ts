import { createDecipheriv } from 'node:crypto';
import pLimit from 'p-limit';
import { problems } from '../../api/index.ts';
import type { Egress } from '../../egress/index.ts';
import { EgressRefused } from '../../errors/index.ts';
import { requestHeaders } from '../../http/index.ts';
import { fileType } from '../../media/codecs/index.ts';
import { scanDashManifest } from '../../media/dash/index.ts';
import { isRounded, scanHlsPlaylist } from '../../media/hls/index.ts';
import type { Track } from '../../state/index.ts';
import { selectRenditions } from '../renditions/index.ts';
import { type Candidate, webUrl } from '../yt-dlp/index.ts';
import { isEncrypted } from './encryption.ts';
import { collect, openReader } from './guarded-reader.ts';
import { createPrivateHostCheck } from './private-host-check.ts';
import { type ProbeResult, probe, probeSegment } from './probe.ts';

export interface InspectOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly identity: string;
  readonly signal: AbortSignal;
  /** What was resolved. */
  readonly link: string;
}

/** Files and manifests looked at side by side for one item. */
const SIDE_BY_SIDE = 6;
/** The best of many: what is left is offered as its source describes it. */
const MOST_LOOKS = 40;
/** Milliseconds that one file or manifest may take, and all of them together. */
const PATIENCE = 5000;
const PATIENCE_IN_ALL = 9000;
const MANIFEST_BYTES = 4 * 1024 * 1024;
/** Enough of a segment to meet the parameters of its codecs. */
const SEGMENT_BYTES = 128 * 1024;
/** Of an AES-128 key, and of what it enciphers at a time. */
const KEY_BYTES = 16;
const BLOCK_BYTES = 16;

/** Stands among statuses for a file that is encrypted. */
const PROTECTED = 415;

/** Why a track is not offered. */
class Unusable extends Error {
  readonly status: number;
  constructor(status: number, options?: ErrorOptions) {
    super(`A format is not offered: ${status}`, options);
    this.status = status;
  }
}

/**
 * Looks at the bytes behind the tracks of which too little is said, and at the one that the conversion to MP3 reads,
 * for its exact duration. What turns out not to be media, or to be where the guard lets nobody go, is left out.
 * @throws Problem 404, 415 or 502 when nothing is left
 */
export async function inspect(candidates: readonly Candidate[], options: InspectOptions): Promise<Candidate[]> {
  const limit = pLimit(SIDE_BY_SIDE);
  const { look, admit } = createLook(options);
  const vague = new Set(candidates.filter(isVague).slice(0, MOST_LOOKS));
  const failures: unknown[] = [];

  const examined = await Promise.all(
    candidates.map((candidate) =>
      limit(async () => {
        try {
          const track = vague.has(candidate) ? await look(candidate.track) : await admit(candidate.track);
          return [{ ...candidate, track }];
        } catch (error) {
          options.signal.throwIfAborted();
          failures.push(error);
          return [];
        }
      }),
    ),
  );
  const usable = examined.flat();
  if (usable.length === 0 && failures.length > 0) throw toProblem(failures);
  return exactConversion(candidates, usable, look);
}

/** Direct files of which yt-dlp saw no more than a link, and playlists that no master describes. */
function isVague({ isBareLink, track }: Pick<Candidate, 'track'> & Partial<Candidate>): boolean {
  const { delivery, video, audio, sizeBytes, bitrate, durationSeconds } = track;
  const isNamed = (video?.codec ?? audio?.codec) !== undefined;
  if (delivery === 'direct') return isBareLink === true || !isNamed || (sizeBytes ?? durationSeconds) === undefined;
  return delivery === 'hls' && !isNamed && bitrate === undefined && video?.height === undefined;
}

/** The track of the conversion with its duration to the sample, where its container says it. */
async function exactConversion(
  asked: readonly Candidate[],
  usable: Candidate[],
  look: (track: Track) => Promise<Track>,
): Promise<Candidate[]> {
  const { renditions, conversionOf } = selectRenditions(usable);
  const formatId = renditions.find(({ id }) => id === conversionOf)?.formatIds[0];
  const place = usable.findIndex(({ track }) => track.formatId === formatId);
  const candidate = usable[place];
  const isSeen = !candidate || asked.some((one) => one.track.formatId === formatId && isVague(one));
  // Anything but a duration in doubt is not worth losing a format that the site itself describes.
  const exact = isSeen ? undefined : await look(candidate.track).catch(() => undefined);
  if (!candidate || !exact) return usable;
  // Its list only knows whole seconds, and those of its other variants are like it.
  if (candidate.track.delivery === 'hls' && exact.durationSeconds === undefined)
    return usable.map((one) => (one.track.delivery === 'hls' ? { ...one, track: untimed(one.track) } : one));
  if (!exact.durationSeconds) return usable;
  const track = { ...candidate.track, durationSeconds: exact.durationSeconds };
  return usable.with(place, { ...candidate, track });
}

function createLook({ egress, identity, signal, link }: InspectOptions) {
  const inAll = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_IN_ALL)]);
  const patience = () => AbortSignal.any([inAll, AbortSignal.timeout(PATIENCE)]);
  const admits = createPrivateHostCheck({ egress, identity, signal: inAll, link });

  /** @throws EgressRefused */
  const admitAll = async (urls: readonly string[]) => {
    for (const url of urls) if (!(await admits(url))) throw new EgressRefused('An address inside');
  };
  const admit = async (track: Track): Promise<Track> => {
    await admitAll([track.url, track.fragments?.[0]?.url].filter((url) => url !== undefined));
    return track;
  };

  const lookAtFile = async (track: Track): Promise<Track> => {
    const signal = patience();
    const reader = await openReader(track, { egress, identity, signal });
    // An empty file cannot satisfy the range it was asked for.
    if (reader.status !== 200 && reader.status !== 206) throw new Unusable(reader.status === 416 ? 404 : reader.status);
    const facts = await probe(reader, signal);
    if (isEncrypted(reader.blocks)) throw new Unusable(PROTECTED);
    if (!facts) throw new Unusable(404);
    return withFacts(track, facts, reader.size);
  };

  const lookAtManifest = async (track: Track): Promise<Track> => {
    const answer = await egress.request(track.url, { headersFor: requestHeaders(track), identity, signal: patience() });
    const text = (await collect(answer, MANIFEST_BYTES)).toString();
    if (answer.status !== 200) throw new Unusable(answer.status);
    const facts = track.delivery === 'hls' ? scanHlsPlaylist(text) : scanDashManifest(text);
    if (!facts) throw new Unusable(404);
    const place = (written: string | undefined) => webUrl(written, answer.url);
    const [segment, initialization, key] = [place(facts.segment), place(facts.initialization), place(facts.key)];
    await admitAll([segment, initialization, key].filter((url) => url !== undefined));
    const first = initialization ?? segment;
    const cipher = key && facts.iv ? { key, iv: facts.iv } : undefined;
    const isReadable = !key || (cipher !== undefined && !initialization);
    const traits =
      first && isVague({ track }) && isReadable ? await lookAtSegment({ ...track, url: first }, cipher) : undefined;
    const isUntimed = track.delivery === 'hls' && isRounded(text);
    const durationSeconds = isUntimed ? undefined : (facts.durationSeconds ?? track.durationSeconds);
    return {
      ...(isUntimed ? untimed(track) : track),
      // The sound may begin behind what was read of a segment; an initialization section names all there is.
      ...(traits && { ...traits, audio: traits.audio ?? (initialization ? null : {}) }),
      ...(durationSeconds !== undefined && { durationSeconds }),
      ...(traits && track.description && { description: describe(track.description, traits) }),
    };
  };

  const fetchBytes = async (track: Track, most: number): Promise<Buffer> => {
    const answer = await egress.request(track.url, { headersFor: requestHeaders(track), identity, signal: patience() });
    const bytes = await collect(answer, most);
    if (answer.status !== 200) throw new Unusable(answer.status);
    return bytes;
  };

  const lookAtSegment = async (track: Track, cipher: { readonly key: string; readonly iv: Buffer } | undefined) => {
    try {
      const bytes = await fetchBytes(track, SEGMENT_BYTES);
      if (!cipher) return await probeSegment(bytes, inAll);
      const key = await fetchBytes({ ...track, url: cipher.key }, KEY_BYTES);
      return await probeSegment(decipherHead(bytes, key, cipher.iv), inAll);
    } catch {
      // The stream will say what is wrong with it; here it only stays unknown.
      return undefined;
    }
  };

  return { admit, look: (track: Track) => (track.delivery === 'direct' ? lookAtFile(track) : lookAtManifest(track)) };
}

/** The beginning of a segment in the clear (RFC 8216 §4.3.2.4: AES-128, CBC), as far as whole blocks of it have come. */
function decipherHead(bytes: Buffer, key: Buffer, iv: Buffer): Buffer {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  return decipher.update(bytes.subarray(0, bytes.length - (bytes.length % BLOCK_BYTES)));
}

const untimed = ({ durationSeconds: _, ...track }: Track): Track => track;

/** What the bytes say wins over what the link looked like, but a name for the same type of file stays. */
function withFacts(track: Track, facts: ProbeResult, size: number | undefined): Track {
  const isSameType =
    fileType(track.container, facts.video !== null).mimeType ===
    fileType(facts.container, facts.video !== null).mimeType;
  return {
    ...track,
    ...facts,
    container: isSameType ? track.container : facts.container,
    video: facts.video && (track.video || facts.video.codec) ? { ...track.video, ...facts.video } : null,
    audio: facts.audio && { ...track.audio, ...facts.audio },
    ...(size !== undefined && { sizeBytes: size, sizeIsExact: true }),
    ...(track.description && { description: describe(track.description, facts) }),
  };
}

/** yt-dlp's text, in its own manner, with what it did not know. */
const describe = (description: string, { video }: Pick<Track, 'video'>): string =>
  description.replace(
    / - unknown$/,
    video?.height ? ` - ${video.width}x${video.height}` : video ? '$&' : ' - audio only',
  );

/** Why nothing is left: protected or refused by the source, else out of order, else nothing there. */
function toProblem(failures: readonly unknown[]) {
  const statuses = failures.map(statusOf);
  const cause = failures[0];
  if (statuses.includes(PROTECTED)) return problems.notDeliverable('The media is DRM protected.', cause);
  if (statuses.some((status) => [401, 403, 451].includes(status)))
    return problems.notDeliverable('The source refused to hand out this media.', cause);
  return statuses.every((status) => [404, 410].includes(status))
    ? problems.notFound(cause)
    : problems.fetchFailed(cause);
}

const statusOf = (failure: unknown): number =>
  failure instanceof Unusable ? failure.status : failure instanceof EgressRefused ? 404 : 502;
