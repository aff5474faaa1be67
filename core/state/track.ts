import type { Delivery, Track } from './resource.ts';

/** What follows from a delivery. Other code asks this table instead of comparing deliveries. */
interface DeliveryCapabilities {
  /** As documents call it. */
  readonly name: string;
  /** Values of yt-dlp's `protocol`. */
  readonly protocols: readonly string[];
  /**
   * One file, read by byte offset and sent as it is, whose stated size is exact. Otherwise a list of segments of unknown
   * size, which FFmpeg remuxes to MP4.
   */
  readonly isFile: boolean;
  /** Resolving lists the segments: loading the list again means resolving again. Otherwise the list is fetched. */
  readonly isListedByResolving: boolean;
  /** Its manifest may name no codecs, so that only segments tell them. */
  readonly mayOmitCodecs: boolean;
  /** Its list may state durations in whole seconds. */
  readonly mayRoundDurations: boolean;
  /** The bitrate of a video includes the audio that belongs to it (RFC 8216 §4.3.4.2). */
  readonly bitrateIncludesAudio: boolean;
}

/** The table. A new kind of source starts with an entry here; its name never changes once published. */
export const deliveries: Readonly<Record<Delivery, DeliveryCapabilities>> = {
  direct: {
    name: 'one file',
    protocols: ['http', 'https'],
    isFile: true,
    isListedByResolving: false,
    mayOmitCodecs: false,
    mayRoundDurations: false,
    bitrateIncludesAudio: false,
  },
  hls: {
    name: 'HLS',
    protocols: ['m3u8', 'm3u8_native'],
    isFile: false,
    isListedByResolving: false,
    mayOmitCodecs: true,
    mayRoundDurations: true,
    bitrateIncludesAudio: true,
  },
  dash: {
    name: 'DASH',
    protocols: ['http_dash_segments'],
    isFile: false,
    isListedByResolving: true,
    mayOmitCodecs: false,
    mayRoundDurations: false,
    bitrateIncludesAudio: false,
  },
};

/** The capabilities of a track. */
export const capabilitiesOf = ({ delivery }: Pick<Track, 'delivery'>): DeliveryCapabilities => deliveries[delivery];

/** @returns undefined for a protocol that is not supported */
export const findDelivery = (protocol: string): Delivery | undefined =>
  (Object.keys(deliveries) as Delivery[]).find((delivery) => deliveries[delivery].protocols.includes(protocol));
