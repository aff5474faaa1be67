/** Generated from the schemas of the API by `npm run dev -- docs`. */

export interface AppInfo {
  version: string;
  isHealthy: boolean;
  environment: string;
  maintenance: string | null;
}

export interface ArchiveProgress {
  state: 'building' | 'done' | 'failed';
  total: number;
  completed: number;
  current: string | null;
  skipped: number;
  /** Titles of the first 20 entries that are missing */
  missingEntries?: string[];
}

export interface AudioVersion {
  key: string;
  label: string;
  description: string | null;
  fileExtension: string;
  mimeType: string;
  fileSizeBytes: number | null;
  bitrate: number | null;
  language: string | null;
  isOriginal: boolean;
  isDubbed: boolean;
  isDescriptive: boolean;
  isDrc: boolean;
}

export interface Chapter {
  title: string | null;
  startSeconds: number;
  endSeconds: number | null;
}

export interface MediaDetails {
  type: MediaType;
  title: string | null;
  author: string | null;
  coverUrl: string | null;
  durationSeconds: number | null;
  isLive: boolean;
  availableInSeconds: number | null;
  description: string | null;
  uploadDate: string | null;
  tags: string[];
  chapters: Chapter[];
  thumbnails: Thumbnail[];
  audio: AudioVersion[];
  subtitles: SubtitleInformation[];
  /** A key for SkipSegments; null where the instance can know none of the item */
  segmentsKey: string | null;
  unavailable: UnavailableEntry[];
}

export interface MediaInformation {
  requestedUrl: string | null;
  video?: StreamReference;
  audio?: StreamReference;
  coverUrl: string | null;
  title: string | null;
  author: string | null;
}

export interface MediaRendition {
  key: string;
  label: string;
  description: string | null;
  fileExtension: string;
  mimeType: string;
  urlType: UrlType;
  fileSizeBytes: number | null;
  height: number | null;
  bitrate: number | null;
  convertTo: string | null;
}

export type MediaType = 'Media' | 'PlayList' | 'Unknown';

export interface Playback {
  requestedUrl: string;
  title: string;
  author: string;
  coverUrl: string | null;
  durationSeconds: number | null;
  video: PlaybackTrack[];
  audio: PlaybackTrack[];
  muxed: PlaybackTrack[];
  subtitles: PlaybackSubtitle[];
}

export interface PlaybackSubtitle {
  key: string;
  /** Relative to the origin of the instance: WebVTT */
  path: string;
  language: string;
  name: string;
  automatic: boolean;
}

export interface PlaybackTrack {
  key: string;
  /** Relative to the origin of the instance, with length and ranges */
  path: string;
  label: string;
  description: string | null;
  /** With codecs where they are known, as canPlayType takes it */
  contentType: string;
  mimeType: string;
  codec: string | null;
  width: number | null;
  height: number | null;
  fps: number | null;
  /** kbit/s */
  bitrate: number | null;
  fileSizeBytes: number | null;
}

export interface ProblemDetails {
  /** The class of the problem: /problems/bad-url, /problems/bad-parameter, /problems/unauthorized, /problems/link-refused, /problems/cross-site, /problems/unknown-host, /problems/private-address, /problems/not-found, /problems/no-media, /problems/not-started, /problems/ended, /problems/gone, /problems/method-not-allowed, /problems/login, /problems/age, /problems/private, /problems/members, /problems/payment, /problems/drm, /problems/region, /problems/bot-check, /problems/refused, /problems/unsupported, /problems/unsupported-rendition, /problems/too-large, /problems/range-not-satisfiable, /problems/unknown-instance, /problems/too-many, /problems/headers-too-large, /problems/disconnected, /problems/internal, /problems/rate-limited, /problems/site-error, /problems/site-timeout, /problems/site-changed, /problems/service-failed, /problems/maintenance, /problems/starting, /problems/delayed, /problems/busy */
  type: string;
  title: string;
  status: number;
  detail?: string;
  instance?: string;
}

export interface RequestCount {
  schemaVersion: number;
  label: string;
  message: string;
  color: string;
}

export interface ResourceInformation {
  type: MediaType;
  title: string | null;
  author: string | null;
  coverUrl: string | null;
  mediaItems: MediaInformation[];
}

export interface SkipSegment {
  category: 'sponsor' | 'selfpromo' | 'interaction' | 'intro' | 'outro' | 'preview' | 'hook' | 'filler' | 'music_offtopic';
  startSeconds: number;
  endSeconds: number;
}

export interface SkipSegments {
  segments: SkipSegment[];
}

export interface StreamReference {
  bestQualityDescription: string | null;
  bestQualityKey: string | null;
  bestQualityFileExtension: string | null;
  bestQualityMimeType: string | null;
  mediumQualityDescription: string | null;
  mediumQualityKey: string | null;
  mediumQualityFileExtension: string | null;
  mediumQualityMimeType: string | null;
  worstQualityDescription: string | null;
  worstQualityKey: string | null;
  worstQualityFileExtension: string | null;
  worstQualityMimeType: string | null;
  urlType?: UrlType;
  renditions: MediaRendition[];
}

export interface SubtitleInformation {
  key: string;
  language: string;
  name: string | null;
  isAutomatic: boolean;
}

export interface Thumbnail {
  url: string;
  width: number | null;
  height: number | null;
}

export interface UnavailableEntry {
  /** Place in the list, from 1 */
  number: number;
  url: string;
  title: string | null;
  /** The name in the type of the problem that its link has */
  reason: string;
}

export type UrlType = 'Combined' | 'Media';

/** What `/api/Get` selects and how it is sent: `{ quality: '1080p' }`, `{ quality: 'mp3', bitrate: '320' }`. */
export type Selection = {
  /** best (default), worst, a maximum height such as 1080p, audio, or mp3 */
  quality?: string;
  /** any selects the best of all codecs instead of the best that plays everywhere */
  codec?: string;
  /** The best that is sent with at most so many bytes, such as 10000000: exact sizes as they are, estimates with 5 % more, those of parts with 25 %. MP3 has the highest bit rate up to bitrate that fits. What has no known size does not fit; 404 names the smallest */
  maxBytes?: string;
  /** mp3, m4a, opus, wav converts the audio of the selection; zip redirects to an archive of all entries of a list */
  format?: string;
  /** kbit/s of MP3: 128, 192, 256, 320; 192 by default */
  bitrate?: '128' | '192' | '256' | '320';
  /** true adds title, artist, album, track number, date, link, cover and chapters to MP3, copies of the audio, pairs and clips. The file has its own length and ETag */
  tags?: 'true' | 'false';
  /** Language of subtitles to embed in MP4 with video as a text track, as GetDetails lists it */
  subtitles?: string;
  /** Language of the audio (en finds en-US), original, or all: a video with every language as a track of its own. As it is by default */
  audio?: string;
  /** Seconds, such as 12.5: only the part from there on, as a file of its own, of a conversion or of MP4 files that can be sought in. Of a live stream: seconds before now, such as -300, or a time of day, such as 2026-11-23T20:00:00Z */
  start?: string;
  /** Seconds: only the part up to there. May be later than the end. Of a live stream: as start */
  end?: string;
  /** Number of a chapter, from 1, as GetDetails lists them: only that part, as with start and end, and named by its title */
  chapter?: string;
  /** Segments of a video of YouTube to leave out, by the reports of viewers: sponsor, selfpromo, interaction, intro, outro, preview, hook, filler, music_offtopic, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL */
  skip?: string;
  /** Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true */
  mark?: string;
  /** Entries of a list to leave out at its beginning: 200 gives those from number 201 on. 404 beyond the end of the list, and for a single item */
  offset?: string;
  /** Of an archive: Number of the first entry, from 1: continues an interrupted archive that has no length */
  from?: string;
  /** Of an archive: Numbers of entries of a list, from 1, such as 1-3,7; all by default */
  entries?: string;
  /** chapters: an archive of one item, with a file for each of its chapters, numbered and with tags unless tags=false. 415 for an item without chapters */
  split?: 'chapters';
};

/** How `/api/Stream/Media` sends a rendition. */
export type StreamParameters = {
  /** mp3, m4a, opus, wav converts the audio */
  format?: string;
  /** kbit/s of MP3: 128, 192, 256, 320; 192 by default */
  bitrate?: '128' | '192' | '256' | '320';
  /** true adds title, artist, album, track number, date, link, cover and chapters to MP3, copies of the audio, pairs and clips. The file has its own length and ETag */
  tags?: 'true' | 'false';
  /** Language of subtitles to embed in MP4 with video as a text track, as GetDetails lists it */
  subtitles?: string;
  /** Language of the audio (en finds en-US), original, or all: a video with every language as a track of its own. As it is by default */
  audio?: string;
  /** Seconds, such as 12.5: only the part from there on, as a file of its own, of a conversion or of MP4 files that can be sought in. Of a live stream: seconds before now, such as -300, or a time of day, such as 2026-11-23T20:00:00Z */
  start?: string;
  /** Seconds: only the part up to there. May be later than the end. Of a live stream: as start */
  end?: string;
  /** Number of a chapter, from 1, as GetDetails lists them: only that part, as with start and end, and named by its title */
  chapter?: string;
  /** Media sequence numbers of live HLS or DASH, such as 100-149: that part of what its source holds, as a file of its own */
  segments?: string;
  /** Segments of a video of YouTube to leave out, by the reports of viewers: sponsor, selfpromo, interaction, intro, outro, preview, hook, filler, music_offtopic, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL */
  skip?: string;
  /** Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true */
  mark?: string;
  /** Name of the file in Content-Disposition, without extension. Characters that file systems reserve are removed; what is in brackets at the end of a long name stays */
  name?: string;
};

/** The name in the `type` of problem details: `/problems/NAME` of an instance describes it. */
export type ProblemName =
  | 'bad-url'
  | 'bad-parameter'
  | 'unauthorized'
  | 'link-refused'
  | 'cross-site'
  | 'unknown-host'
  | 'private-address'
  | 'not-found'
  | 'no-media'
  | 'not-started'
  | 'ended'
  | 'gone'
  | 'method-not-allowed'
  | 'login'
  | 'age'
  | 'private'
  | 'members'
  | 'payment'
  | 'drm'
  | 'region'
  | 'bot-check'
  | 'refused'
  | 'unsupported'
  | 'unsupported-rendition'
  | 'too-large'
  | 'range-not-satisfiable'
  | 'unknown-instance'
  | 'too-many'
  | 'headers-too-large'
  | 'disconnected'
  | 'internal'
  | 'rate-limited'
  | 'site-error'
  | 'site-timeout'
  | 'site-changed'
  | 'service-failed'
  | 'maintenance'
  | 'starting'
  | 'delayed'
  | 'busy';
