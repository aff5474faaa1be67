import { deliveries } from '../../../../core/state/index.ts';

/** How the service treats what yt-dlp says: `refused` leaves the format out. */
type Handling = 'used' | 'ignored' | 'refused';

/** Handling, and what follows from it or why. */
type Row = readonly [handling: Handling, note: string];
type Rows = Readonly<Record<string, Row>>;

const SIZE_NOTE = 'Size and bitrate of renditions.';
const RTMP: Row = ['ignored', 'Only for RTMP, which is refused.'];
const PICTURES: Row = ['ignored', 'Only for sheets of pictures, which are not offered.'];
const NICONICO: Row = ['ignored', 'Only for `niconico_live`, which is refused.'];
const DERIVED = 'Follows from other fields.';

/** Every field of a format, by the names that yt-dlp documents; a dot separates a field of a field. */
export const FORMAT_FIELDS: Rows = {
  url: [
    'used',
    'The file, the HLS media playlist or the DASH manifest; other schemes than http and https are refused.',
  ],
  request_data: ['refused', 'Media is requested by GET alone: a POST cannot be repeated or read by ranges safely.'],
  manifest_url: ['used', 'Groups the formats of one manifest.'],
  manifest_stream_number: ['ignored', 'For internal use of yt-dlp.'],
  ext: ['used', 'The container, unless the bytes say otherwise.'],
  format: ['used', 'The description of renditions.'],
  format_id: ['used', 'Identifies the format across resolves.'],
  format_note: ['used', 'Tells DRC, original audio, audio descriptions and watermarks.'],
  width: ['used', 'Label and order of renditions.'],
  height: ['used', 'Label and order of renditions.'],
  aspect_ratio: ['ignored', DERIVED],
  resolution: ['used', 'Tells audio without a codec.'],
  dynamic_range: ['used', 'Label and order of renditions.'],
  tbr: ['used', SIZE_NOTE],
  abr: ['used', SIZE_NOTE],
  acodec: ['used', 'Which streams and containers a format fits.'],
  asr: ['used', 'The sample rate of conversions.'],
  audio_channels: ['ignored', 'Renditions do not state it, and it decides no order.'],
  vbr: ['used', SIZE_NOTE],
  fps: ['used', 'Label and order of renditions.'],
  vcodec: ['used', 'Which streams and containers a format fits.'],
  container: ['ignored', 'Muxing reads the container from the bytes, and `ext` names it.'],
  filesize: ['used', SIZE_NOTE],
  filesize_approx: ['used', SIZE_NOTE],
  player_url: RTMP,
  protocol: ['used', 'How the media is read: see the protocols below.'],
  fragment_base_url: ['used', 'The base of the paths of DASH fragments.'],
  fragments: ['used', 'The segments of DASH.'],
  'fragments.url': ['used', 'The segment.'],
  'fragments.path': ['used', 'The segment, relative to `fragment_base_url`.'],
  'fragments.duration': ['used', 'The times of segments.'],
  'fragments.filesize': ['refused', 'Such fragments are complete files, which do not make one file when joined.'],
  hls_media_playlist_data: [
    'ignored',
    'The playlist at `url` is read instead, with the advertisements that an extractor has removed from its copy.',
  ],
  is_from_start: [
    'ignored',
    'Live media is sent from the live edge: yt-dlp lists such formats only with `--live-from-start`.',
  ],
  preference: ['used', 'Order of renditions; -10 or less is last.'],
  language: ['used', 'The audio of pairs.'],
  language_preference: ['used', 'The audio of pairs.'],
  quality: ['used', 'Order of renditions.'],
  source_preference: ['used', 'Order of renditions.'],
  http_headers: ['used', 'Sent with each request of the format, but for those of the connection.'],
  stretched_ratio: ['ignored', 'Streams are copied: players read the ratio from the file.'],
  no_resume: ['ignored', 'Resuming is tried, and each response is checked against the bytes before.'],
  has_drm: ['used', '`true` is refused; `maybe` is last.'],
  extra_param_to_segment_url: ['used', 'Replaces parameters of segment and key URLs.'],
  extra_param_to_key_url: ['used', 'Replaces parameters of key URLs.'],
  hls_aes: ['used', 'Decryption of HLS; a key or vector that is not one of AES-128 is refused.'],
  'hls_aes.uri': ['used', 'Where the key is requested, whatever the playlist says.'],
  'hls_aes.key': ['used', 'The key; none is requested then.'],
  'hls_aes.iv': ['used', 'The initialization vector, whatever the playlist says.'],
  impersonate: ['used', 'Such a format is last: media requests do not imitate the TLS of browsers.'],
  available_at: ['used', 'Streams and probes wait until then, up to 20 s.'],
  downloader_options: ['used', '`http_chunk_size` alone.'],
  'downloader_options.http_chunk_size': ['used', 'Bytes of a range request, at most.'],
  'downloader_options.ffmpeg_args': ['ignored', 'FFmpeg reads no URLs here.'],
  'downloader_options.ffmpeg_args_out': ['ignored', 'FFmpeg has the arguments of the service alone.'],
  'downloader_options.ws': NICONICO,
  'downloader_options.ws_url': NICONICO,
  'downloader_options.max_quality': NICONICO,
  is_dash_periods: ['ignored', 'The plugin joins periods, or refuses them.'],
  cookies: ['used', 'Sent to the hosts and paths that each belongs to.'],
  rows: PICTURES,
  columns: PICTURES,
  page_url: RTMP,
  app: RTMP,
  play_path: RTMP,
  tc_url: RTMP,
  flash_version: RTMP,
  rtmp_live: RTMP,
  rtmp_conn: RTMP,
  rtmp_protocol: RTMP,
  rtmp_real_time: RTMP,
};

const SECTION: Row = ['ignored', 'The whole video is offered; `start` and `end` of a stream cut it.'];

/** Fields of an item that cut its media. */
export const SECTION_FIELDS: Rows = {
  section_start: SECTION,
  section_end: SECTION,
};

/** Every field of a subtitle file. */
export const SUBTITLE_FIELDS: Rows = {
  ext: ['used', 'Formats that the service cannot convert are refused.'],
  url: ['used', 'The file.'],
  data: ['ignored', 'Text in place of a file: it would have to be stored with each item.'],
  name: ['used', 'As the source names it.'],
  http_headers: ['used', 'Sent with the request.'],
  impersonate: ['used', 'Where the site refuses the file, yt-dlp reads it as a browser, if its build can imitate one.'],
};

const RTMP_PROTOCOL: Row = ['refused', 'Its requests would not pass the egress guard.'];
const LIVE: Row = ['refused', 'A live protocol of one site, over WebSocket or its own exchange.'];

/** Protocols that yt-dlp downloads and this service does not. */
const OTHER_PROTOCOLS: Rows = {
  rtmp: RTMP_PROTOCOL,
  rtmpe: RTMP_PROTOCOL,
  rtmp_ffmpeg: RTMP_PROTOCOL,
  f4m: ['refused', 'Flash HDS, which sites have given up.'],
  http_dash_segments_generator: ['refused', 'Segments from the start of a live stream, made by a running yt-dlp.'],
  ism: ['refused', 'Smooth Streaming: its fragments have no initialization section.'],
  mhtml: ['refused', 'Sheets of pictures: no media.'],
  niconico_live: LIVE,
  fc2_live: LIVE,
  websocket_frag: LIVE,
  youtube_live_chat: ['refused', 'Chat: no media.'],
  youtube_live_chat_replay: ['refused', 'Chat: no media.'],
  bunnycdn: ['refused', 'HLS that requires pings to the site while it is read.'],
  soopvod: ['refused', 'HLS that requires requests for new cookies while it is read.'],
};

/** Every protocol, by yt-dlp's `protocol`. */
export const PROTOCOLS: Rows = {
  ...Object.fromEntries(
    Object.values(deliveries).flatMap(({ protocols, name }) =>
      protocols.map((protocol): [string, Row] => [protocol, ['used', `As ${name}.`]]),
    ),
  ),
  ...OTHER_PROTOCOLS,
};
