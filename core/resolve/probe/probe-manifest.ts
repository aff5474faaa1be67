import { createDecipheriv } from 'node:crypto';
import { scanDashManifest } from '@reelay/seekable-media/dash';
import { PlaylistError } from '@reelay/seekable-media/hls';
import type { ManifestFacts } from '@reelay/seekable-media/timeline';
import { initializationVector, keyUrl, knownKey, segmentUrl } from '@reelay/source/track';
import { NotDeliverable, NotFound } from '../../errors/index.ts';
import { type ParsingOptions, parse, SCAN_HLS_PLAYLIST } from '../../parsing/index.ts';
import type { Delivery, Track } from '../../state/index.ts';
import { isPermanent, webUrl } from '../yt-dlp/index.ts';
import { describeTraits, isUndescribedPlaylist, type Probed, readSegmentTraits, withoutDuration } from './read-file.ts';
import { fetchHead, type Probe, requireAllowed } from './request-track.ts';

/** As much as streaming reads of a playlist. */
const MAX_PLAYLIST_BYTES = 8 * 1024 * 1024;
/** Enough to contain the root element of a DASH manifest. */
const MANIFEST_HEAD_BYTES = 256 * 1024;
/** Enough of a segment to contain the parameters of its codecs. */
const SEGMENT_HEAD_BYTES = 128 * 1024;
const AES_KEY_BYTES = 16;
const AES_BLOCK_BYTES = 16;

interface ManifestKind {
  /** Bytes of it to read, at most. */
  readonly maxBytes: number;
  /** @returns undefined when the bytes are no manifest of this kind. @throws NotDeliverable */
  readonly scan: (bytes: Buffer, options: ParsingOptions) => Promise<ManifestFacts | undefined>;
}

/** How the manifest of each kind of source is read; undefined for files, which have none. */
export const manifestKinds: Readonly<Record<Delivery, ManifestKind | undefined>> = {
  direct: undefined,
  hls: { maxBytes: MAX_PLAYLIST_BYTES + 1, scan: scanPlaylist },
  dash: { maxBytes: MANIFEST_HEAD_BYTES, scan: async (bytes) => scanDashManifest(bytes.toString()) },
};

type SegmentTraits = Pick<Track, 'video' | 'audio'> | undefined;
const UNKNOWN_TRAITS: Probed<SegmentTraits> = { result: undefined };

/** An AES-128 key, or its URL, and the initialization vector of the first segment. */
interface SegmentCipher {
  readonly key: string | Buffer;
  readonly iv: Buffer;
}

/**
 * Completes the description of a track from its HLS playlist or DASH manifest, and where that does not describe it, from its
 * first segment.
 */
export async function probeManifest(
  track: Track,
  { maxBytes, scan }: ManifestKind,
  probe: Probe,
): Promise<Probed<Track>> {
  const { bytes, url } = await fetchHead(track, maxBytes, probe);
  if (bytes.length > MAX_PLAYLIST_BYTES)
    throw new NotDeliverable('The playlist is too large.', { reason: 'too-large' });
  const facts = await scan(bytes, probe.parsing);
  if (!facts) throw new NotFound('The file is not a manifest', { reason: 'no-media' });
  const [initialization, segment] = [facts.initialization, facts.segment].map((uri) => {
    const written = webUrl(uri, url);
    return written && segmentUrl(track, written);
  });
  const statedKey = webUrl(facts.key, url);
  const key = statedKey && (knownKey(track) ?? keyUrl(track, statedKey));
  await requireAllowed([segment, initialization, typeof key === 'string' ? key : undefined], probe);

  const first = initialization ?? segment;
  const cipher = key && facts.iv ? { key, iv: initializationVector(track, facts.iv) } : undefined;
  const isReadable = !key || (cipher !== undefined && !initialization);
  const { result: traits, failure } =
    first && isReadable && isUndescribedPlaylist(track)
      ? await probeFirstSegment({ ...track, url: first }, cipher, probe)
      : UNKNOWN_TRAITS;
  const { isRounded } = facts;
  const durationSeconds = isRounded ? undefined : (facts.durationSeconds ?? track.durationSeconds);
  const result = {
    ...(isRounded ? withoutDuration(track) : track),
    ...(traits && {
      video: traits.video && { ...track.video, ...traits.video },
      // Audio may start after the part of a segment that was read; an initialization section lists all tracks.
      audio: traits.audio ?? (initialization ? null : {}),
    }),
    ...(durationSeconds !== undefined && { durationSeconds }),
    ...(traits && track.description && { description: describeTraits(track.description, traits) }),
  };
  return { result, failure };
}

async function probeFirstSegment(
  track: Track,
  cipher: SegmentCipher | undefined,
  probe: Probe,
): Promise<Probed<SegmentTraits>> {
  const readKey = async (key: string | Buffer) =>
    typeof key === 'string' ? (await fetchHead({ ...track, url: key }, AES_KEY_BYTES, probe)).bytes : key;
  try {
    const { bytes } = await fetchHead(track, SEGMENT_HEAD_BYTES, probe);
    const key = cipher && (await readKey(cipher.key));
    if (key && key.length < AES_KEY_BYTES) return UNKNOWN_TRAITS;
    const plain = cipher && key ? decryptHead(bytes, key, cipher.iv) : bytes;
    return { result: await readSegmentTraits(plain, probe.parsing) };
  } catch (error) {
    // The traits stay unknown; a stream will report the failure.
    return { result: undefined, failure: isPermanent(error) ? undefined : error };
  }
}

/** @throws NotDeliverable for a playlist that is malformed or exceeds a limit: a stream of it would fail */
async function scanPlaylist(bytes: Buffer, options: ParsingOptions): Promise<ManifestFacts | undefined> {
  try {
    return await parse(SCAN_HLS_PLAYLIST, bytes, options);
  } catch (cause) {
    if (cause instanceof PlaylistError) throw new NotDeliverable(`${cause.message}.`, { cause });
    throw cause;
  }
}

/** Decrypts the start of a segment (AES-128-CBC, RFC 8216 §4.3.2.4), up to the last complete block. */
function decryptHead(bytes: Buffer, key: Buffer, iv: Buffer): Buffer {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  return decipher.update(bytes.subarray(0, bytes.length - (bytes.length % AES_BLOCK_BYTES)));
}
