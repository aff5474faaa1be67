import { fullId3Tag, id3Tag } from '@reelay/seekable-media/id3';
import { keptParts } from '@reelay/seekable-media/skipping';
import {
  MP3_BITRATE_KBPS,
  MP3_BITRATES_KBPS,
  MP3_FRAME_BYTES,
  MP3_SAMPLE_RATE,
  MP3_SAMPLES_PER_FRAME,
  type Mp3BitrateKbps,
  mp3FrameBytes,
  mp3Frames,
  recordingText,
  tagText,
} from '../../../core/conversions/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import type { EncodedFormat, SelectedSound } from './encoded-format.ts';
import { clipLayout, type FrameEncoding, type Layout } from './frames/index.ts';
import { infoFrame, MP3_DELAY_SAMPLES } from './info-frame.ts';

/**
 * Frames of a segment: 144 s. Longer ones cost less (starting an encoder and seeking in the source is as much work
 * as encoding about 10 s), shorter ones take less decoding up to a seek position in their middle.
 */
export const SEGMENT_FRAMES = 6000;
/** 12 s, 290 kB at 192 kbit/s. */
const UNIT_FRAMES = 500;
/** The longest state of LAME is its loudness adaptation, about 100 frames. */
const LAME_WARM_UP_FRAMES = 200;
const LAME_LOOK_AHEAD_FRAMES = 3;
/** Beyond the safe integers offsets are not exact any more, at the highest bit rate either. */
const MAX_FRAMES = Number.MAX_SAFE_INTEGER / Math.max(...MP3_BITRATES_KBPS.map(mp3FrameBytes));

/** MP3 of constant bit rate without a bit reservoir: frames of one size. */
export const mp3Encoding = (bitrateKbps: Mp3BitrateKbps = MP3_BITRATE_KBPS): FrameEncoding => ({
  sampleRate: MP3_SAMPLE_RATE,
  frameSamples: MP3_SAMPLES_PER_FRAME,
  frameBytes: mp3FrameBytes(bitrateKbps),
  delaySamples: MP3_DELAY_SAMPLES,
  segmentFrames: SEGMENT_FRAMES,
  unitFrames: UNIT_FRAMES,
  warmUpFrames: LAME_WARM_UP_FRAMES,
  lookAheadFrames: LAME_LOOK_AHEAD_FRAMES,
  outputArgs: [
    ...['-c:a', 'libmp3lame', '-b:a', `${bitrateKbps}k`, '-reservoir', '0'],
    ...['-write_xing', '0', '-id3v2_version', '0', '-flush_packets', '0', '-f', 'mp3'],
  ],
});

export const mp3: EncodedFormat = {
  layOut(resource, track, selected) {
    const frames = promisedFrames(resource, track);
    if (frames === undefined) return undefined;
    const layout = clipLayout({ tagBytes: 0, encoding: mp3Encoding(selected.bitrateKbps), frames }, selected.clip);
    const tag = Buffer.concat([tagOf(resource, selected), gaplessFrame(layout, resource, selected)]);
    return { layout: { ...layout, tagBytes: tag.length }, tag };
  },
  sequence: (resource, selected) => ({
    encoding: mp3Encoding(selected.bitrateKbps),
    tag: tagOf(resource, selected),
  }),
};

/** The frame that has players begin and end the sound at the very sample. */
function gaplessFrame(
  { frames, parts }: Layout,
  { durationSeconds = Number.POSITIVE_INFINITY }: Resource,
  { clip, bitrateKbps = MP3_BITRATE_KBPS }: SelectedSound,
): Buffer {
  const kept = clip ? keptParts(clip) : [];
  const samplesOf = (seconds: number, firstFrame = 0) =>
    Math.round(seconds * MP3_SAMPLE_RATE) - firstFrame * MP3_SAMPLES_PER_FRAME;
  const endSeconds = Math.min(kept.at(-1)?.endSeconds ?? durationSeconds, durationSeconds);
  const { firstFrame, frames: lastFrames } = parts?.at(-1) ?? { firstFrame: 0, frames };
  const endSample = samplesOf(endSeconds, firstFrame + lastFrames - frames) + MP3_DELAY_SAMPLES;
  return infoFrame({
    frames,
    bitrateKbps,
    skippedSamples: samplesOf(kept[0]?.startSeconds ?? 0, parts?.[0]?.firstFrame),
    endSample: Math.min(endSample, frames * MP3_SAMPLES_PER_FRAME),
  });
}

function tagOf(resource: Resource, { hasTags, listPlace, clip, cover }: SelectedSound): Buffer {
  if (hasTags) return fullId3Tag(recordingText(resource, listPlace, clip), cover);
  const text = tagText(resource);
  return id3Tag({ ...text, title: listPlace?.chapterTitle ?? text.title });
}

/**
 * As many frames of sound as the size promised at resolve holds, which includes the short tag and the frame of the length;
 * else by the duration. Undefined when that is unknown.
 */
export function promisedFrames(resource: Resource, track: Track): number | undefined {
  const { mp3, renditions, isLive, durationSeconds } = resource;
  const carrier = renditions.find(({ id }) => id === mp3?.renditionId);
  const frames =
    mp3?.sizeBytes !== undefined && carrier?.formatIds[0] === track.formatId
      ? (mp3.sizeBytes - id3Tag(tagText(resource)).length) / MP3_FRAME_BYTES - 1
      : isLive || !durationSeconds
        ? undefined
        : mp3Frames(durationSeconds);
  return frames !== undefined && Number.isInteger(frames) && frames <= MAX_FRAMES ? frames : undefined;
}
