import { deliveries } from '../../../../core/state/index.ts';

/** How the service treats what yt-dlp says: `refused` leaves the format out. What is not used has its reason. */
type Handling = 'used' | 'ignored' | 'refused';
type Rows = Readonly<Record<string, Handling>>;

const used = (...names: readonly string[]): Rows => Object.fromEntries(names.map((name) => [name, 'used']));
const unused =
  (handling: 'ignored' | 'refused') =>
  (_reason: string, ...names: readonly string[]): Rows =>
    Object.fromEntries(names.map((name) => [name, handling]));
const [ignored, refused] = [unused('ignored'), unused('refused')];

/** Every field of a format, by the names that yt-dlp documents; a dot separates a field of a field. */
export const FORMAT_FIELDS: Rows = Object.assign(
  used('url', 'manifest_url', 'protocol', 'fragment_base_url', 'fragments', 'http_headers', 'cookies', 'impersonate'),
  used('fragments.url', 'fragments.path', 'fragments.duration', 'available_at'),
  used('hls_aes', 'hls_aes.uri', 'hls_aes.key', 'hls_aes.iv'),
  used('extra_param_to_segment_url', 'extra_param_to_key_url'),
  used('downloader_options', 'downloader_options.http_chunk_size'),
  used('ext', 'format', 'format_id', 'format_note', 'width', 'height', 'resolution', 'dynamic_range', 'fps'),
  used('tbr', 'abr', 'vbr', 'asr', 'acodec', 'vcodec', 'filesize', 'filesize_approx', 'has_drm'),
  used('preference', 'language', 'language_preference', 'quality', 'source_preference'),
  refused('Media is requested by GET alone: a POST cannot be repeated or read by ranges safely.', 'request_data'),
  refused('Such fragments are complete files, which do not make one file when joined.', 'fragments.filesize'),
  ignored('For internal use of yt-dlp.', 'manifest_stream_number'),
  ignored('Follows from other fields.', 'aspect_ratio'),
  ignored('Renditions do not state it, and it decides no order.', 'audio_channels'),
  ignored('Muxing reads the container from the bytes, and `ext` names it.', 'container'),
  ignored(
    'The playlist at `url` is read instead, with the advertisements that an extractor has removed from its copy.',
    'hls_media_playlist_data',
  ),
  ignored('Live media is sent from the live edge: `--live-from-start` alone lists such formats.', 'is_from_start'),
  ignored('Streams are copied: players read the ratio from the file.', 'stretched_ratio'),
  ignored('Resuming is tried, and each response is checked against the bytes before.', 'no_resume'),
  ignored(
    'FFmpeg reads no URLs here, and has the arguments of the service alone.',
    'downloader_options.ffmpeg_args',
    'downloader_options.ffmpeg_args_out',
  ),
  ignored(
    'Only for `niconico_live`, which is refused.',
    'downloader_options.ws',
    'downloader_options.ws_url',
    'downloader_options.max_quality',
  ),
  ignored('The plugin joins periods, or refuses them.', 'is_dash_periods'),
  ignored('Only for sheets of pictures, which are not offered.', 'rows', 'columns'),
  ignored('Only for RTMP, which is refused.', 'player_url', 'page_url', 'app', 'play_path', 'tc_url', 'flash_version'),
  ignored('Only for RTMP, which is refused.', 'rtmp_live', 'rtmp_conn', 'rtmp_protocol', 'rtmp_real_time'),
);

/** Fields of an item that cut its media. */
export const SECTION_FIELDS: Rows = ignored(
  'The whole video is offered; `start` and `end` of a stream cut it.',
  'section_start',
  'section_end',
);

/** Every field of a subtitle file. */
export const SUBTITLE_FIELDS: Rows = Object.assign(
  used('ext', 'url', 'name', 'http_headers', 'impersonate'),
  ignored('Text in place of a file: it would have to be stored with each item.', 'data'),
);

/** Every protocol, by yt-dlp's `protocol`. */
export const PROTOCOLS: Rows = Object.assign(
  used(...Object.values(deliveries).flatMap(({ protocols }) => protocols)),
  refused('Its requests would not pass the egress guard.', 'rtmp', 'rtmpe', 'rtmp_ffmpeg'),
  refused('Flash HDS, which sites have given up.', 'f4m'),
  refused('Segments from the start of a live stream, made by a running yt-dlp.', 'http_dash_segments_generator'),
  refused('Smooth Streaming: its fragments have no initialization section.', 'ism'),
  refused('Sheets of pictures: no media.', 'mhtml'),
  refused(
    'A live protocol of one site, over WebSocket or its own exchange.',
    'niconico_live',
    'fc2_live',
    'websocket_frag',
  ),
  refused('Chat: no media.', 'youtube_live_chat', 'youtube_live_chat_replay'),
  refused('HLS that requires requests to the site while it is read.', 'bunnycdn', 'soopvod'),
);
