import { indexBox, UnsupportedMp4 } from '../isobmff/index.ts';
import {
  hasRoom,
  OPUS_SAMPLE_RATE,
  oggHeaderPages,
  oggPageHeader,
  opusHead,
  packetSegments,
  preSkipOf,
} from '../ogg.ts';
import type { ClipTimes } from '../parts/skipping.ts';
import { LayoutBuilder } from '../virtual-mp4/index.ts';
import { type ClipLayout, type ClipTrack, findAudioWindows, samplesOf } from './clip-window.ts';

/** Packets of a page: those of a second, of 20 ms each. */
const MAX_PACKETS = 50;
/** Bytes of a packet of 120 ms, the longest there is (RFC 6716 §3.2). */
const MAX_PACKET_BYTES = 48 * 1275;
/** Bytes of an audio sample entry before its child boxes (ISO/IEC 14496-12 §12.2.3). */
const AUDIO_ENTRY_BYTES = 28;

interface Page {
  readonly sourceOffset: number;
  bytes: number;
  packets: number;
  readonly segments: number[];
  /** Samples from the first one that is decoded to the end of the page. */
  endSamples: number;
}

/**
 * The layout of Opus packets of an MP4 file as Ogg (RFC 7845), sample by sample what the file or a part of it presents.
 * @param comments an `OpusTags` packet
 * @throws UnsupportedMp4 when nothing is heard between start and end, or it is not Opus; Error when the file is truncated
 */
export function layOutOpus(audio: ClipTrack, times: ClipTimes, comments: Buffer): ClipLayout {
  if (times.skipped) throw new UnsupportedMp4('Ogg has no edit list');
  const [window] = findAudioWindows(audio, [times]);
  if (!window) throw new UnsupportedMp4('Nothing is heard between start and end');
  const { header } = audio;
  const toSamples = (units: number) => Math.round((units * OPUS_SAMPLE_RATE) / header.timescale);
  const configuration = findConfiguration(header.sampleDescriptions);
  // An edit list hides what players drop. Without one, the configuration alone tells.
  const primed = header.edits.length > 0 ? 0 : preSkipOf(requireHead(configuration));
  const head = requireHead(configuration, primed + toSamples(window.startTime - window.decodeTime));

  const presented = preSkipOf(head) + Math.round(window.durationSeconds * OPUS_SAMPLE_RATE);
  const headerPages = oggHeaderPages(head, comments);
  const layout = new LayoutBuilder();
  layout.addOwn(Buffer.concat(headerPages));
  layout.beginMedia();
  let page: Page | undefined;
  let sequence = headerPages.length;
  let writtenSamples = 0;
  const write = ({ sourceOffset, bytes, segments, endSamples }: Page, isLast: boolean) => {
    // Players drop what the last page has beyond its position (RFC 7845 §4.4), which is not before that of another page.
    writtenSamples = isLast ? Math.max(Math.min(endSamples, presented), writtenSamples) : endSamples;
    const pageHeader = oggPageHeader({ sequence, granule: writtenSamples, segments, isLast });
    layout.addPage(audio.source, sourceOffset, { header: pageHeader, bytes });
    sequence += 1;
  };
  for (const { offset, size, decodeTime, duration, description } of samplesOf([window])) {
    if (description !== 1 || size > MAX_PACKET_BYTES) throw new UnsupportedMp4('Packets that Ogg cannot hold');
    const end = page && page.sourceOffset + page.bytes;
    if (end !== undefined && offset < end) throw new UnsupportedMp4('Samples out of order');
    const segments = packetSegments(size);
    const isFull = !page || offset !== end || page.packets === MAX_PACKETS || !hasRoom(page.segments, segments);
    if (page && isFull) write(page, false);
    if (!page || isFull) page = { sourceOffset: offset, bytes: 0, packets: 0, segments: [], endSamples: 0 };
    page.bytes += size;
    page.packets += 1;
    page.segments.push(...segments);
    page.endSamples = toSamples(decodeTime + duration - window.decodeTime);
  }
  if (page) write(page, true);

  const { startSeconds } = times;
  return { ...layout.build(window.durationSeconds), startSeconds, endSeconds: startSeconds + window.durationSeconds };
}

/** The content of `dOps` of the first sample description. */
function findConfiguration(stsd: Buffer): Buffer {
  const [entry] = indexBox(stsd)?.childrenAfter(8) ?? [];
  const dOps = entry?.type === 'Opus' && entry.childrenAfter(AUDIO_ENTRY_BYTES).find(({ type }) => type === 'dOps');
  if (!dOps) throw new UnsupportedMp4('Opus without its configuration');
  return stsd.subarray(dOps.content, dOps.end);
}

function requireHead(configuration: Buffer, preSkip?: number): Buffer {
  const head = (preSkip ?? 0) <= 0xffff && opusHead(configuration, preSkip);
  if (!head) throw new UnsupportedMp4('Opus with a configuration that Ogg cannot hold');
  return head;
}
